// The functions that the table of linear oracles refers to, and the two things they share: the causal convolution
// before a recurrence, and empty states.
#pragma once

#include "kernel/layers/arithmetic.hpp"

namespace mha::layers::linear {

void draw_gated_delta_net(const LinearMixer& mixer, std::int64_t d_model, Weights& weights);
void start_gated_delta_net(const LinearMixer& mixer, MixerState& state);
Vectors gated_delta_net(const LinearMixer& mixer, Weights& weights, const Vectors& x, MixerState& state, Count& count);

void draw_kimi_delta(const LinearMixer& mixer, std::int64_t d_model, Weights& weights);
void start_kimi_delta(const LinearMixer& mixer, MixerState& state);
Vectors kimi_delta(const LinearMixer& mixer, Weights& weights, const Vectors& x, MixerState& state, Count& count);

void draw_lightning(const LinearMixer& mixer, std::int64_t d_model, Weights& weights);
void start_lightning(const LinearMixer& mixer, MixerState& state);
Vectors lightning(const LinearMixer& mixer, Weights& weights, const Vectors& x, MixerState& state, Count& count);

void draw_mamba1(const LinearMixer& mixer, std::int64_t d_model, Weights& weights);
void start_mamba1(const LinearMixer& mixer, MixerState& state);
Vectors mamba1(const LinearMixer& mixer, Weights& weights, const Vectors& x, MixerState& state, Count& count);

void draw_mamba2(const LinearMixer& mixer, std::int64_t d_model, Weights& weights);
void start_mamba2(const LinearMixer& mixer, MixerState& state);
Vectors mamba2(const LinearMixer& mixer, Weights& weights, const Vectors& x, MixerState& state, Count& count);

void draw_rg_lru(const LinearMixer& mixer, std::int64_t d_model, Weights& weights);
void start_rg_lru(const LinearMixer& mixer, MixerState& state);
Vectors rg_lru(const LinearMixer& mixer, Weights& weights, const Vectors& x, MixerState& state, Count& count);

void draw_short_conv(const LinearMixer& mixer, std::int64_t d_model, Weights& weights);
void start_short_conv(const LinearMixer& mixer, MixerState& state);
Vectors short_conv(const LinearMixer& mixer, Weights& weights, const Vectors& x, MixerState& state, Count& count);

void draw_convolution(const LinearMixer& mixer, std::int64_t channels, Weights& weights);
void start_convolution(const LinearMixer& mixer, std::int64_t channels, MixerState& state);
void start_state(std::int64_t elements, MixerState& state);

// Each channel on its own: a sum over d_conv taps of its last inputs, of which d_conv - 1 stay for the next step.
[[nodiscard]] Vectors convolve(const LinearMixer& mixer, Weights& weights, const Vectors& x, MixerState& state,
                               Count& count);

// The delta rule of one head on its state S [d_key x d_value]: S = S + k (strength (v - k^T S)), y = q^T S.
struct DeltaHead {
  const double* q = nullptr;
  const double* k = nullptr;
  const double* v = nullptr;
  double strength = 0;
  double* state = nullptr;
};
void delta_rule(const LinearMixer& mixer, const DeltaHead& head, double* y, std::int64_t& multiply_adds);

}  // namespace mha::layers::linear
