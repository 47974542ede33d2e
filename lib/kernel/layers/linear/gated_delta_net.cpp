// Gated DeltaNet: the delta rule on a state that a gate of each value head lets decay. Queries and keys have length 1;
// a key head serves n_heads / n_key_heads value heads. After Yang, Kautz and Hatamizadeh 2024 (arXiv 2412.06464), with
// the projections of huggingface/transformers, models/qwen3_next (Qwen3NextGatedDeltaNet).
#include <cmath>

#include "kernel/layers/linear/kinds.hpp"

namespace mha::layers::linear {
namespace {

std::int64_t key_width(const LinearMixer& m) {
  return m.n_key_heads * m.d_key;
}

std::int64_t value_width(const LinearMixer& m) {
  return m.n_heads * m.d_value;
}

}  // namespace

void draw_gated_delta_net(const LinearMixer& m, std::int64_t d_model, Weights& weights) {
  weights.matrix("qkv", d_model, 2 * key_width(m) + value_width(m), m.bias);
  weights.matrix("z", d_model, value_width(m), m.bias);
  weights.matrix("ba", d_model, 2 * m.n_heads, m.bias);  // write strengths, then decays
  draw_convolution(m, 2 * key_width(m) + value_width(m), weights);
  weights.vector("a_log", m.n_heads);
  weights.vector("dt_bias", m.n_heads);
  weights.vector("norm", m.d_value, 1);
  weights.matrix("o", value_width(m), d_model, m.bias);
}

void start_gated_delta_net(const LinearMixer& m, MixerState& state) {
  start_convolution(m, 2 * key_width(m) + value_width(m), state);
  start_state(m.n_heads * m.d_key * m.d_value, state);
}

Vectors gated_delta_net(const LinearMixer& m, Weights& weights, const Vectors& x, MixerState& state, Count& count) {
  std::int64_t& products = count.of(Product::weights);
  Vectors qkv = convolve(m, weights, project(x, weights, "qkv", products), state, count);
  apply(silu, qkv);
  Vectors z = project(x, weights, "z", products);
  const Vectors ba = project(x, weights, "ba", products);
  for (std::int64_t t = 0; t < x.n; ++t)
    for (std::int64_t head = 0; head < 2 * m.n_key_heads; ++head) unit_length(qkv.at(t, head * m.d_key), m.d_key);

  Vectors y(x.n, value_width(m));
  for (std::int64_t t = 0; t < x.n; ++t)
    for (std::int64_t h = 0; h < m.n_heads; ++h) {
      const std::int64_t key_head = h / (m.n_heads / m.n_key_heads), elements = m.d_key * m.d_value;
      double* s = state.state("state").data() + h * elements;
      const double step = softplus(*ba.at(t, m.n_heads + h) + weights["dt_bias"].use(h));
      const double decay = std::exp(-std::exp(weights["a_log"].use(h)) * step);
      for (std::int64_t i = 0; i < elements; ++i) s[i] *= decay;
      const DeltaHead one{qkv.at(t, key_head * m.d_key), qkv.at(t, key_width(m) + key_head * m.d_key),
                          qkv.at(t, 2 * key_width(m) + h * m.d_value), sigmoid(*ba.at(t, h)), s};
      delta_rule(m, one, y.at(t, h * m.d_value), count.of(Product::state));
    }
  normalise(y, m.d_value, false, weights.find("norm"), nullptr);
  apply(silu, z);
  multiply(z, y);
  return project(y, weights, "o", products);
}

}  // namespace mha::layers::linear
