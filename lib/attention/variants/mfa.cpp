// multi-matrix factorization attention: many wide query heads out of one normed query latent, and one key and value
// head (arXiv 2412.19255; Step-3, arXiv 2507.19427). To a kernel it is multi-query attention.
//
// Seen in vllm-project/vllm, model_executor/models/step3_text.py: qkv_proj [hidden x (share_q_dim + 2 * head_dim)], an
// RMS norm over share_q_dim, wq [share_q_dim x n_heads * head_dim], one KV head, rotary over the whole head. The same
// in SongtaoLiu0823/MLRA, model/mfa.py. Step-3: 64 heads of 256, share_q_dim 2048, d_model 7168, 61 layers. As for MQA,
// the rotary embedding is left to the model around it.
#include "attention/variants.hpp"
#include "attention/variants/grouped.hpp"

namespace mha {
namespace {

std::optional<LayoutProblem> check(const Layout& l, std::int64_t /*d_model*/) {
  Layout plain = l;
  plain.d_q_latent = 0;
  if (auto problem = grouped::check(plain)) return problem;
  if (l.n_kv_heads != 1)
    return LayoutProblem{"mfa-kv-heads", "MFA has n_kv_heads = 1", "use --variants gqa for more KV heads"};
  if (l.d_q_latent < 1)
    return LayoutProblem{"mfa-query-latent", "MFA projects queries through a latent of at least 1",
                         "Step-3: d_q_latent 2048; use --variants mqa for whole queries"};
  return std::nullopt;
}

bool allowed(std::int64_t /*n_heads*/, std::int64_t n_kv_heads) {
  return n_kv_heads == 1;
}

void enumerate(const AxisValues& axes, std::vector<Layout>& out) {
  std::vector<Layout> layouts;
  grouped::enumerate(axes, kMfa, allowed, layouts);
  for (Layout& layout : layouts)
    for (const std::int64_t d_q_latent : axes.d_q_latent) {
      layout.d_q_latent = d_q_latent;
      if (!check(layout, axes.d_model)) out.push_back(layout);
    }
}

AttentionPlan lower_mfa(const Layout& l, std::int64_t d_model) {
  AttentionPlan plan;
  const std::int64_t q = l.n_heads * l.d_head, o = l.n_heads * l.d_value;
  plan.matrices.push_back({"q_down", d_model, l.d_q_latent, false, Sharding::replicated, "d_model", "d_q_latent"});
  plan.matrices.push_back({"q_up", l.d_q_latent, q, l.bias.q, Sharding::split_heads, "d_q_latent", "n_heads * d_head"});
  plan.matrices.push_back({"k", d_model, l.d_head, l.bias.k, Sharding::split_kv_heads, "d_model", "d_head"});
  plan.matrices.push_back({"v", d_model, l.d_value, l.bias.v, Sharding::split_kv_heads, "d_model", "d_value"});
  plan.matrices.push_back({"o", o, d_model, l.bias.o, Sharding::split_heads, "n_heads * d_value", "d_model"});
  plan.norms.push_back({"q_latent_norm", l.d_q_latent, "d_q_latent"});
  if (l.qk_norm) {
    plan.norms.push_back({"q_norm", l.d_head, "d_head"});
    plan.norms.push_back({"k_norm", l.d_head, "d_head"});
  }
  plan.cache.push_back({"k", KvPart::key, 1, l.d_head, Sharding::split_kv_heads, "d_head"});
  plan.cache.push_back({"v", KvPart::value, 1, l.d_value, Sharding::split_kv_heads, "d_value"});
  ComputePath direct;
  direct.name = "direct";
  direct.terms.push_back({"q_down", MacPer::new_token, d_model * l.d_q_latent, "d_model * d_q_latent"});
  direct.terms.push_back({"q_up", MacPer::new_token, l.d_q_latent * q, "d_q_latent * n_heads * d_head"});
  direct.terms.push_back({"k", MacPer::new_token, d_model * l.d_head, "d_model * d_head"});
  direct.terms.push_back({"v", MacPer::new_token, d_model * l.d_value, "d_model * d_value"});
  direct.terms.push_back({"scores", MacPer::pair, q, "n_heads * d_head"});
  direct.terms.push_back({"values", MacPer::pair, o, "n_heads * d_value"});
  direct.terms.push_back({"o", MacPer::new_token, o * d_model, "n_heads * d_value * d_model"});
  plan.paths.push_back(direct);
  plan.attention_width = q;
  plan.kv_width = l.d_head;
  return plan;
}

// "mfa:64/256 q2048"; "mfa:64/256-128 q2048" when d_value differs.
std::string notation_mfa(const Layout& l) {
  std::string text = "mfa:" + std::to_string(l.n_heads) + "/" + std::to_string(l.d_head);
  if (l.d_value != l.d_head) text += "-" + std::to_string(l.d_value);
  return text + " q" + std::to_string(l.d_q_latent);
}

}  // namespace

const Variant kMfa{"mfa",
                   "multi-matrix factorization attention",
                   "query heads from one query latent, and one key and value head",
                   false,
                   check,
                   enumerate,
                   lower_mfa,
                   notation_mfa,
                   false,
                   false,
                   {"d_q_latent"}};

}  // namespace mha
