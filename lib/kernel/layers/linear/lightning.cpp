// Lightning attention: S = decay S + k v^T with a fixed decay a head, y = q^T S; an RMSNorm over all heads together and
// a sigmoid gate follow. After MiniMax-01 (arXiv 2501.08313), modeling_minimax_text_01.py
// (MiniMaxText01LightningAttention).
#include <cmath>

#include "kernel/layers/linear/kinds.hpp"

namespace mha::layers::linear {

void draw_lightning(const LinearMixer& m, std::int64_t d_model, Weights& weights) {
  const std::int64_t key = m.n_key_heads * m.d_key, value = m.n_heads * m.d_value;
  weights.matrix("qkv", d_model, 2 * key + value, m.bias);
  weights.matrix("gate", d_model, value, m.bias);
  weights.vector("norm", value, 1);
  weights.matrix("o", value, d_model, m.bias);
}

void start_lightning(const LinearMixer& m, MixerState& state) {
  start_state(m.n_heads * m.d_key * m.d_value, state);
}

Vectors lightning(const LinearMixer& m, Weights& weights, const Vectors& x, MixerState& state, Count& count) {
  const std::int64_t key = m.n_key_heads * m.d_key;
  std::int64_t& updates = count.of(Product::state);
  Vectors qkv = project(x, weights, "qkv", count.of(Product::weights));
  apply(silu, qkv);
  Vectors y(x.n, m.n_heads * m.d_value);
  for (std::int64_t t = 0; t < x.n; ++t)
    for (std::int64_t h = 0; h < m.n_heads; ++h) {
      const std::int64_t key_head = h / (m.n_heads / m.n_key_heads);
      const double decay = std::exp(-std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(m.n_heads)));
      const double* q = qkv.at(t, key_head * m.d_key);
      const double* k = qkv.at(t, key + key_head * m.d_key);
      for (std::int64_t i = 0; i < m.d_key; ++i) {
        double* s = state.state("state").data() + (h * m.d_key + i) * m.d_value;
        for (std::int64_t j = 0; j < m.d_value; ++j) s[j] *= decay;
        add_scaled(k[i], qkv.at(t, 2 * key + h * m.d_value), m.d_value, s, updates);
        add_scaled(q[i], s, m.d_value, y.at(t, h * m.d_value), updates);
      }
    }
  rms_norm(y, weights.find("norm"));
  Vectors gate = project(x, weights, "gate", count.of(Product::weights));
  apply(sigmoid, gate);
  multiply(gate, y);
  return project(y, weights, "o", count.of(Product::weights));
}

}  // namespace mha::layers::linear
