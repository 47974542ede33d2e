// Mamba (Jamba, Falcon-Mamba): d_inner = n_heads * d_value channels, each with a diagonal state of d_key elements:
// h = exp(dt A) h + dt B x, y = C h: two multiply-adds a state element. dt, B and C come from x_proj; dt through a low rank
// d_latent. With inner_norm (Jamba) dt, B and C are normed.
#include "architecture/linear/kinds.hpp"

namespace mha {
namespace {

using namespace linear;

void lower(const LinearMixer& m, std::int64_t d_model, LayerPlan& plan) {
  const std::size_t first = plan.tensors.size();
  const std::int64_t inner = m.n_heads * m.d_value;
  project(plan, "in", d_model, 2 * inner, m.bias, "d_model * 2 * n_heads * d_value");
  convolve(plan, m, inner, "n_heads * d_value");
  project(plan, "x", inner, m.d_latent + 2 * m.d_key, false, "n_heads * d_value * (d_latent + 2 * d_key)");
  project(plan, "dt", m.d_latent, inner, true, "d_latent * n_heads * d_value");
  weigh(plan, "a_log", inner * m.d_key, "n_heads * d_value * d_key");
  weigh(plan, "d", inner, "n_heads * d_value");
  if (m.inner_norm) weigh(plan, "dt_b_c_norms", m.d_latent + 2 * m.d_key, "d_latent + 2 * d_key");
  project(plan, "out", inner, d_model, m.bias, "n_heads * d_value * d_model");
  keep_state(plan, m, inner, m.d_key, "n_heads * d_value * d_key");
  finish(plan, first, "mamba", {parts::per_token("state", i128{2} * inner * m.d_key, "2 * n_heads * d_value * d_key")});
}

}  // namespace

const LinearKind kMamba1{"mamba1",
                         "Mamba",
                         "selective state space, a diagonal state a channel; Jamba",
                         "Gu and Dao 2023, state-spaces/mamba",
                         {"n_heads", "d_key", "d_value", "d_conv", "d_latent"},
                         lower};

}  // namespace mha
