// Mamba-2: heads of d_value channels with one decay each and a state [d_value x d_key]; B and C come in n_key_heads
// groups: h = decay h + (dt x) B^T, y = h C + D x, then a norm gated by z. After Dao and Gu 2024 (arXiv 2405.21060),
// with the projections of huggingface/transformers, models/nemotron_h and models/granitemoehybrid.
#include <cmath>

#include "kernel/layers/linear/kinds.hpp"

namespace mha::layers::linear {
namespace {

std::int64_t inner(const LinearMixer& m) {
  return m.n_heads * m.d_value;
}

std::int64_t groups(const LinearMixer& m) {
  return m.n_key_heads * m.d_key;
}

}  // namespace

void draw_mamba2(const LinearMixer& m, std::int64_t d_model, Weights& weights) {
  weights.matrix("in", d_model, 2 * inner(m) + 2 * groups(m) + m.n_heads, m.bias);  // z, x, B, C, dt
  draw_convolution(m, inner(m) + 2 * groups(m), weights);
  weights.vector("a_log", m.n_heads);
  weights.vector("d", m.n_heads);
  weights.vector("dt_bias", m.n_heads);
  if (m.inner_norm) weights.vector("norm", inner(m), 1);
  weights.matrix("out", inner(m), d_model, m.bias);
}

void start_mamba2(const LinearMixer& m, MixerState& state) {
  start_convolution(m, inner(m) + 2 * groups(m), state);
  start_state(inner(m) * m.d_key, state);
}

Vectors mamba2(const LinearMixer& m, Weights& weights, const Vectors& x, MixerState& state, Count& count) {
  const std::int64_t xbc_width = inner(m) + 2 * groups(m);
  const Vectors in = project(x, weights, "in", count.of(Product::weights));
  Vectors xbc = convolve(m, weights, columns(in, inner(m), xbc_width), state, count);
  apply(silu, xbc);
  Vectors y(x.n, inner(m));
  for (std::int64_t t = 0; t < x.n; ++t)
    for (std::int64_t h = 0; h < m.n_heads; ++h) {
      const std::int64_t group = h / (m.n_heads / m.n_key_heads);
      const double* b = xbc.at(t, inner(m) + group * m.d_key);
      const double* c = xbc.at(t, inner(m) + groups(m) + group * m.d_key);
      const double dt = softplus(*in.at(t, inner(m) + xbc_width + h) + weights["dt_bias"].use(h));
      const double decay = std::exp(-std::exp(weights["a_log"].use(h)) * dt);
      for (std::int64_t i = h * m.d_value; i < (h + 1) * m.d_value; ++i) {
        double* s = state.state("state").data() + i * m.d_key;
        for (std::int64_t j = 0; j < m.d_key; ++j) s[j] *= decay;
        add_scaled(dt * *xbc.at(t, i), b, m.d_key, s, count.of(Product::state));
        *y.at(t, i) = dot(s, c, m.d_key, count.of(Product::state)) + weights["d"].use(h) * *xbc.at(t, i);
      }
    }
  Vectors z = columns(in, 0, inner(m));
  apply(silu, z);
  multiply(z, y);
  if (m.inner_norm) rms_norm(y, weights.find("norm"));
  return project(y, weights, "out", count.of(Product::weights));
}

}  // namespace mha::layers::linear
