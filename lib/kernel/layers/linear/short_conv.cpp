// Gated short convolution: B, C and x from one projection, y = C conv(B x). Nothing but the convolution's last inputs
// stays. After huggingface/transformers, models/lfm2 (Lfm2ShortConv).
#include "kernel/layers/linear/kinds.hpp"

namespace mha::layers::linear {

void draw_short_conv(const LinearMixer& m, std::int64_t d_model, Weights& weights) {
  const std::int64_t inner = m.n_heads * m.d_value;
  weights.matrix("in", d_model, 3 * inner, m.bias);  // B, C, x
  draw_convolution(m, inner, weights);
  weights.matrix("out", inner, d_model, m.bias);
}

void start_short_conv(const LinearMixer& m, MixerState& state) {
  start_convolution(m, m.n_heads * m.d_value, state);
}

Vectors short_conv(const LinearMixer& m, Weights& weights, const Vectors& x, MixerState& state, Count& count) {
  const std::int64_t inner = m.n_heads * m.d_value;
  const Vectors in = project(x, weights, "in", count.of(Product::weights));
  Vectors bx = columns(in, 0, inner);
  multiply(columns(in, 2 * inner, inner), bx);
  Vectors y = convolve(m, weights, bx, state, count);
  multiply(columns(in, inner, inner), y);
  return project(y, weights, "out", count.of(Product::weights));
}

}  // namespace mha::layers::linear
