// Mamba: d_inner channels, each with a diagonal state of d_key elements: h = exp(dt A) h + dt B x, y = C h + D x. After
// Gu and Dao 2023 (arXiv 2312.00752); the norms of dt, B and C after huggingface/transformers, models/jamba
// (JambaMambaMixer).
#include <cmath>

#include "kernel/layers/linear/kinds.hpp"

namespace mha::layers::linear {
namespace {

std::int64_t inner(const LinearMixer& m) {
  return m.n_heads * m.d_value;
}

}  // namespace

void draw_mamba1(const LinearMixer& m, std::int64_t d_model, Weights& weights) {
  weights.matrix("in", d_model, 2 * inner(m), m.bias);  // x, then z
  draw_convolution(m, inner(m), weights);
  weights.matrix("x", inner(m), m.d_latent + 2 * m.d_key);  // dt, B, C
  weights.matrix("dt", m.d_latent, inner(m), true);
  weights.vector("a_log", inner(m) * m.d_key);
  weights.vector("d", inner(m));
  if (m.inner_norm) {
    weights.vector("dt_norm", m.d_latent, 1);
    weights.vector("b_norm", m.d_key, 1);
    weights.vector("c_norm", m.d_key, 1);
  }
  weights.matrix("out", inner(m), d_model, m.bias);
}

void start_mamba1(const LinearMixer& m, MixerState& state) {
  start_convolution(m, inner(m), state);
  start_state(inner(m) * m.d_key, state);
}

Vectors mamba1(const LinearMixer& m, Weights& weights, const Vectors& x, MixerState& state, Count& count) {
  std::int64_t& products = count.of(Product::weights);
  const Vectors in = project(x, weights, "in", products);
  Vectors u = convolve(m, weights, columns(in, 0, inner(m)), state, count);
  apply(silu, u);
  const Vectors dtbc = project(u, weights, "x", products);
  Vectors dt = columns(dtbc, 0, m.d_latent), b = columns(dtbc, m.d_latent, m.d_key);
  Vectors c = columns(dtbc, m.d_latent + m.d_key, m.d_key);
  if (m.inner_norm) {
    rms_norm(dt, weights.find("dt_norm"));
    rms_norm(b, weights.find("b_norm"));
    rms_norm(c, weights.find("c_norm"));
  }
  dt = project(dt, weights, "dt", products);
  apply(softplus, dt);

  Weight &a_log = weights["a_log"], &d = weights["d"];
  Vectors y(x.n, inner(m));
  for (std::int64_t t = 0; t < x.n; ++t)
    for (std::int64_t i = 0; i < inner(m); ++i) {
      double* h = state.state("state").data() + i * m.d_key;
      const double step = *dt.at(t, i);
      for (std::int64_t j = 0; j < m.d_key; ++j) h[j] *= std::exp(-std::exp(a_log.use(i * m.d_key + j)) * step);
      add_scaled(step * *u.at(t, i), b.at(t), m.d_key, h, count.of(Product::state));
      *y.at(t, i) = dot(h, c.at(t), m.d_key, count.of(Product::state)) + d.use(i) * *u.at(t, i);
    }
  Vectors z = columns(in, inner(m), inner(m));
  apply(silu, z);
  multiply(z, y);
  return project(y, weights, "out", products);
}

}  // namespace mha::layers::linear
