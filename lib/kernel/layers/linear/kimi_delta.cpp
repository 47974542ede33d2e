// Kimi Delta Attention: the delta rule with a decay for each key channel of each value head, from a low-rank pair; a
// sigmoid gate on the normed result, from another pair or (Kimi-K3) one matrix. After Kimi Linear (arXiv 2510.26692)
// and fla-org/flash-linear-attention, fla/layers/kda.py: decay width num_v_heads * head_k_dim, A_log and beta a value
// head.
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

void draw_kimi_delta(const LinearMixer& m, std::int64_t d_model, Weights& weights) {
  weights.matrix("q", d_model, key_width(m), m.bias);
  weights.matrix("k", d_model, key_width(m), m.bias);
  weights.matrix("v", d_model, value_width(m), m.bias);
  draw_convolution(m, 2 * key_width(m) + value_width(m), weights);
  weights.matrix("f_down", d_model, m.d_latent);
  weights.matrix("f_up", m.d_latent, m.n_heads * m.d_key);
  weights.vector("a_log", m.n_heads);
  weights.vector("dt_bias", m.n_heads * m.d_key);
  weights.matrix("beta", d_model, m.n_heads);
  if (m.full_gate) {
    weights.matrix("gate", d_model, value_width(m), m.bias);
  } else {
    weights.matrix("gate_down", d_model, m.d_latent);
    weights.matrix("gate_up", m.d_latent, value_width(m), m.bias);
  }
  weights.vector("norm", m.d_value, 1);
  weights.matrix("o", value_width(m), d_model, m.bias);
}

void start_kimi_delta(const LinearMixer& m, MixerState& state) {
  start_convolution(m, 2 * key_width(m) + value_width(m), state);
  start_state(m.n_heads * m.d_key * m.d_value, state);
}

namespace {

Vectors side_by_side(const Vectors& q, const Vectors& k, const Vectors& v) {
  Vectors out(q.n, q.width + k.width + v.width);
  for (std::int64_t t = 0; t < q.n; ++t) {
    double* to = out.at(t);
    for (const Vectors* part : {&q, &k, &v})
      for (std::int64_t i = 0; i < part->width; ++i) *to++ = *part->at(t, i);
  }
  return out;
}

// exp(-exp(a_log) softplus(f + dt_bias)), one a key channel and value head.
Vectors decays(const LinearMixer& m, Weights& weights, const Vectors& x, std::int64_t& products) {
  Vectors f = project(project(x, weights, "f_down", products), weights, "f_up", products);
  Weight &dt_bias = weights["dt_bias"], &a_log = weights["a_log"];
  for (std::int64_t t = 0; t < f.n; ++t)
    for (std::int64_t i = 0; i < f.width; ++i) {
      const double step = softplus(*f.at(t, i) + dt_bias.use(i));
      *f.at(t, i) = std::exp(-std::exp(a_log.use(i / m.d_key)) * step);
    }
  return f;
}

Vectors output_gate(const LinearMixer& m, Weights& weights, const Vectors& x, std::int64_t& products) {
  Vectors gate = m.full_gate ? project(x, weights, "gate", products)
                             : project(project(x, weights, "gate_down", products), weights, "gate_up", products);
  apply(sigmoid, gate);
  return gate;
}

}  // namespace

Vectors kimi_delta(const LinearMixer& m, Weights& weights, const Vectors& x, MixerState& state, Count& count) {
  std::int64_t& products = count.of(Product::weights);
  const Vectors q = project(x, weights, "q", products), k = project(x, weights, "k", products);
  const Vectors v = project(x, weights, "v", products);
  Vectors qkv = convolve(m, weights, side_by_side(q, k, v), state, count);
  apply(silu, qkv);
  for (std::int64_t t = 0; t < x.n; ++t)
    for (std::int64_t head = 0; head < 2 * m.n_key_heads; ++head) unit_length(qkv.at(t, head * m.d_key), m.d_key);
  const Vectors decay = decays(m, weights, x, products), beta = project(x, weights, "beta", products);

  Vectors y(x.n, value_width(m));
  for (std::int64_t t = 0; t < x.n; ++t)
    for (std::int64_t h = 0; h < m.n_heads; ++h) {
      const std::int64_t key_head = h / (m.n_heads / m.n_key_heads);
      double* s = state.state("state").data() + h * m.d_key * m.d_value;
      for (std::int64_t i = 0; i < m.d_key * m.d_value; ++i) s[i] *= *decay.at(t, h * m.d_key + i / m.d_value);
      const DeltaHead one{qkv.at(t, key_head * m.d_key), qkv.at(t, key_width(m) + key_head * m.d_key),
                          qkv.at(t, 2 * key_width(m) + h * m.d_value), sigmoid(*beta.at(t, h)), s};
      delta_rule(m, one, y.at(t, h * m.d_value), count.of(Product::state));
    }
  normalise(y, m.d_value, false, weights.find("norm"), nullptr);
  multiply(output_gate(m, weights, x, products), y);
  return project(y, weights, "o", products);
}

}  // namespace mha::layers::linear
