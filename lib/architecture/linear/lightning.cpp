// Lightning attention (MiniMax-Text-01): softmax-free attention with a fixed decay a head, so the past is a state
// S [d_key x d_value] a head: S = decay S + k^T v, y = q S: two products a token. An output gate and an RMSNorm follow.
#include "architecture/linear/kinds.hpp"

namespace mha {
namespace {

using namespace linear;

void lower(const LinearMixer& m, std::int64_t d_model, LayerPlan& plan) {
  const std::size_t first = plan.tensors.size();
  const std::int64_t key = m.n_key_heads * m.d_key, value = m.n_heads * m.d_value;
  project(plan, "qkv", d_model, 2 * key + value, m.bias, "d_model * (2 * n_key_heads * d_key + n_heads * d_value)");
  project(plan, "gate", d_model, value, m.bias, "d_model * n_heads * d_value");
  weigh(plan, "norm", value, "n_heads * d_value");
  project(plan, "o", value, d_model, m.bias, "n_heads * d_value * d_model");
  keep_state(plan, m, m.n_heads, m.d_key * m.d_value, "n_heads * d_key * d_value");
  finish(plan, first, "lightning attention",
         {parts::per_token("state", i128{2} * m.n_heads * m.d_key * m.d_value, "2 * n_heads * d_key * d_value")});
}

}  // namespace

const LinearKind kLightning{"lightning",
                            "lightning attention",
                            "linear attention with a fixed decay a head; MiniMax-Text-01",
                            "MiniMaxAI/MiniMax-Text-01, modeling_minimax_text_01.py",
                            {"n_heads", "n_key_heads", "d_key", "d_value"},
                            lower};

}  // namespace mha
