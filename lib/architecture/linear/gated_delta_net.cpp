// Gated DeltaNet (Qwen3-Next, Qwen3.5): queries and keys in n_key_heads, values in n_heads, a gate z of the values' width, and
// two scalars a value head (write strength b, decay a). State S [d_key x d_value] a value head:
//   S = decay S;  S += k (b (v - k^T S));  y = q^T S:  three products with S a token.
// Shapes after huggingface/transformers, models/qwen3_next/modeling_qwen3_next.py (Qwen3NextGatedDeltaNet).
#include "architecture/linear/kinds.hpp"

namespace mha {
namespace {

using namespace linear;

void lower(const LinearMixer& m, std::int64_t d_model, LayerPlan& plan) {
  const std::size_t first = plan.tensors.size();
  const std::int64_t key = m.n_key_heads * m.d_key, value = m.n_heads * m.d_value;
  project(plan, "qkv", d_model, 2 * key + value, m.bias, "d_model * (2 * n_key_heads * d_key + n_heads * d_value)");
  project(plan, "z", d_model, value, m.bias, "d_model * n_heads * d_value");
  project(plan, "ba", d_model, 2 * m.n_heads, m.bias, "d_model * 2 * n_heads");
  convolve(plan, m, 2 * key + value, "2 * n_key_heads * d_key + n_heads * d_value");
  weigh(plan, "a_log", m.n_heads, "n_heads");
  weigh(plan, "dt_bias", m.n_heads, "n_heads");
  weigh(plan, "norm", m.d_value, "d_value");
  project(plan, "o", value, d_model, m.bias, "n_heads * d_value * d_model");
  keep_state(plan, m, m.n_heads, m.d_key * m.d_value, "n_heads * d_key * d_value");
  finish(plan, first, "gated delta net",
         {parts::per_token("state", i128{3} * m.n_heads * m.d_key * m.d_value, "3 * n_heads * d_key * d_value")});
}

}  // namespace

const LinearKind kGatedDeltaNet{"gated-delta-net",
                                "gated delta net",
                                "delta rule with a gate; Qwen3-Next and Qwen3.5",
                                "huggingface/transformers, models/qwen3_next/modeling_qwen3_next.py",
                                {"n_heads", "n_key_heads", "d_key", "d_value", "d_conv"},
                                lower};

}  // namespace mha
