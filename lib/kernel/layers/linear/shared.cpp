// The causal convolution, empty states, and the delta rule.
#include <algorithm>

#include "kernel/layers/linear/kinds.hpp"

namespace mha::layers::linear {

void draw_convolution(const LinearMixer& m, std::int64_t channels, Weights& weights) {
  weights.matrix("conv", m.d_conv, channels, m.conv_bias);
}

void start_convolution(const LinearMixer& m, std::int64_t channels, MixerState& state) {
  const auto elements = static_cast<std::size_t>((m.d_conv - 1) * channels);
  state.fixed["conv"] = {CacheRole::conv_state, std::vector<double>(elements)};
}

void start_state(std::int64_t elements, MixerState& state) {
  state.fixed["state"] = {CacheRole::state, std::vector<double>(static_cast<std::size_t>(elements))};
}

Vectors convolve(const LinearMixer& m, Weights& weights, const Vectors& x, MixerState& state, Count& count) {
  Weight& taps = weights["conv"];
  Weight* bias = weights.find("conv.bias");
  std::vector<double>& past = state.state("conv");  // oldest input first
  Vectors y(x.n, x.width);
  for (std::int64_t t = 0; t < x.n; ++t) {
    std::vector<double> inputs = past;
    inputs.insert(inputs.end(), x.at(t), x.at(t) + x.width);
    for (std::int64_t tap = 0; tap < m.d_conv; ++tap)
      for (std::int64_t c = 0; c < x.width; ++c) {
        *y.at(t, c) += taps.use(tap, c) * inputs[static_cast<std::size_t>(tap * x.width + c)];
        count.of(Product::weights) += 1;
      }
    for (std::int64_t c = 0; bias != nullptr && c < x.width; ++c) *y.at(t, c) += bias->use(c);
    past.assign(inputs.begin() + x.width, inputs.end());
  }
  return y;
}

void delta_rule(const LinearMixer& m, const DeltaHead& head, double* y, std::int64_t& multiply_adds) {
  std::vector<double> known(static_cast<std::size_t>(m.d_value));
  for (std::int64_t i = 0; i < m.d_key; ++i)
    add_scaled(head.k[i], head.state + i * m.d_value, m.d_value, known.data(), multiply_adds);
  for (std::int64_t j = 0; j < m.d_value; ++j) {
    double& value = known[static_cast<std::size_t>(j)];
    value = head.strength * (head.v[j] - value);
  }
  for (std::int64_t i = 0; i < m.d_key; ++i)
    add_scaled(head.k[i], known.data(), m.d_value, head.state + i * m.d_value, multiply_adds);
  for (std::int64_t i = 0; i < m.d_key; ++i)
    add_scaled(head.q[i], head.state + i * m.d_value, m.d_value, y, multiply_adds);
}

}  // namespace mha::layers::linear
