// Mamba-2 (Nemotron-H, Granite 4, Bamba, Falcon-H1): n_heads of d_value channels share one decay each; B and C of d_key elements
// in n_key_heads groups. State [d_value x d_key] a head: h = decay h + dt x B^T, y = h C: two products a token, and D x.
#include "architecture/linear/kinds.hpp"

namespace mha {
namespace {

using namespace linear;

void lower(const LinearMixer& m, std::int64_t d_model, LayerPlan& plan) {
  const std::size_t first = plan.tensors.size();
  const std::int64_t inner = m.n_heads * m.d_value, groups = 2 * m.n_key_heads * m.d_key;
  project(plan, "in", d_model, 2 * inner + groups + m.n_heads, m.bias,
          "d_model * (2 * n_heads * d_value + 2 * n_key_heads * d_key + n_heads)");
  convolve(plan, m, inner + groups, "n_heads * d_value + 2 * n_key_heads * d_key");
  weigh(plan, "a_log", m.n_heads, "n_heads");
  weigh(plan, "d", m.n_heads, "n_heads");
  weigh(plan, "dt_bias", m.n_heads, "n_heads");
  if (m.inner_norm) weigh(plan, "norm", inner, "n_heads * d_value");
  project(plan, "out", inner, d_model, m.bias, "n_heads * d_value * d_model");
  keep_state(plan, m, m.n_heads, m.d_value * m.d_key, "n_heads * d_value * d_key");
  finish(plan, first, "mamba-2",
         {parts::per_token("state", i128{2} * inner * m.d_key, "2 * n_heads * d_value * d_key")});
}

}  // namespace

const LinearKind kMamba2{"mamba2",
                         "Mamba-2",
                         "state space dual, a matrix state a head; Nemotron-H, Granite 4",
                         "Dao and Gu 2024, state-spaces/mamba",
                         {"n_heads", "n_key_heads", "d_key", "d_value", "d_conv"},
                         lower};

}  // namespace mha
