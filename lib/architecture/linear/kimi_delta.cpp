// Kimi Delta Attention (Kimi Linear, Kimi-K3): the delta rule with a decay for each key channel of each value head. q,
// k and v have a convolution each; the decay and the output gate come from low-rank pairs of width d_latent. State as
// gated delta net: three products. Shapes after fla-org/flash-linear-attention, fla/layers/kda.py.
#include "architecture/linear/kinds.hpp"

namespace mha {
namespace {

using namespace linear;

void lower(const LinearMixer& m, std::int64_t d_model, LayerPlan& plan) {
  const std::size_t first = plan.tensors.size();
  const std::int64_t key = m.n_key_heads * m.d_key, value = m.n_heads * m.d_value;
  project(plan, "qk", d_model, 2 * key, m.bias, "d_model * 2 * n_key_heads * d_key");
  project(plan, "v", d_model, value, m.bias, "d_model * n_heads * d_value");
  convolve(plan, m, 2 * key + value, "2 * n_key_heads * d_key + n_heads * d_value");
  project(plan, "decay_down", d_model, m.d_latent, false, "d_model * d_latent");
  project(plan, "decay_up", m.d_latent, m.n_heads * m.d_key, false, "d_latent * n_heads * d_key");
  weigh(plan, "a_log", m.n_heads, "n_heads");
  weigh(plan, "dt_bias", m.n_heads * m.d_key, "n_heads * d_key");
  project(plan, "beta", d_model, m.n_heads, false, "d_model * n_heads");
  if (m.full_gate) {
    project(plan, "gate", d_model, value, m.bias, "d_model * n_heads * d_value");
  } else {
    project(plan, "gate_down", d_model, m.d_latent, false, "d_model * d_latent");
    project(plan, "gate_up", m.d_latent, value, m.bias, "d_latent * n_heads * d_value");
  }
  weigh(plan, "norm", m.d_value, "d_value");
  project(plan, "o", value, d_model, m.bias, "n_heads * d_value * d_model");
  keep_state(plan, m, m.n_heads, m.d_key * m.d_value, "n_heads * d_key * d_value");
  finish(plan, first, "kimi delta attention",
         {parts::per_token("state", i128{3} * m.n_heads * m.d_key * m.d_value, "3 * n_heads * d_key * d_value")});
}

}  // namespace

const LinearKind kKimiDelta{"kimi-delta",
                            "Kimi delta attention",
                            "delta rule with a decay for each key channel; Kimi Linear",
                            "fla-org/flash-linear-attention, fla/layers/kda.py",
                            {"n_heads", "n_key_heads", "d_key", "d_value", "d_conv", "d_latent"},
                            lower};

}  // namespace mha
