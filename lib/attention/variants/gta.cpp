// grouped tied attention: a group of query heads shares one cached state, whose whole is its value and whose first half
// is the first half of its key; the other half of the key is one rotary key that all groups share (Zadouri, Strauss and
// Dao, arXiv 2505.21487).
//
// Seen in Dao-AILab/grouped-latent-attention, modeling_llama_GTA.py: kv_proj [d_model x n_kv_heads * d_head] and
// W_rope_k [d_model x rope_dim], which its comment calls d // 2; queries are [without position | rotary], the scale is
// that of d_head. SongtaoLiu0823/MLRA, model/gta.py, fixes rope_dim = d_head / 2, and so does this file. A bias of v is
// that of the tied projection, a bias of k that of the rotary key. There is no QK-norm: it would norm the values as
// well.
#include "attention/variants.hpp"
#include "attention/variants/grouped.hpp"

namespace mha {
namespace {

std::optional<LayoutProblem> check(const Layout& l, std::int64_t /*d_model*/) {
  Layout plain = l;
  plain.d_nope = plain.d_rope = 0;
  if (auto problem = grouped::check(plain)) return problem;
  if (l.d_value != l.d_head)
    return LayoutProblem{"gta-value-width", "in GTA the tied state is the value, so d_value = d_head",
                         "leave d_value out"};
  if (l.d_head % 4 != 0)
    return LayoutProblem{"gta-rope-even",
                         "d_head " + std::to_string(l.d_head) +
                             " has no even half: half of it is rotary, and rotary embedding turns pairs",
                         "use a multiple of 4, such as 128"};
  if (l.d_rope != l.d_head / 2 || l.d_nope != l.d_head / 2)
    return LayoutProblem{"gta-halves", "GTA has d_nope = d_rope = d_head / 2", "leave d_nope and d_rope out"};
  if (l.qk_norm)
    return LayoutProblem{"gta-qk-norm", "a tied state cannot be normed as a key and not as a value",
                         "leave qk_norm out"};
  return std::nullopt;
}

bool allowed(std::int64_t /*n_heads*/, std::int64_t /*n_kv_heads*/) {
  return true;
}

void enumerate(const AxisValues& axes, std::vector<Layout>& out) {
  std::vector<Layout> layouts;
  grouped::enumerate(axes, kGta, allowed, layouts);
  for (Layout& layout : layouts) {
    layout.d_nope = layout.d_rope = layout.d_head / 2;
    layout.qk_norm = false;
    if (!check(layout, axes.d_model)) out.push_back(layout);
  }
}

AttentionPlan lower_gta(const Layout& l, std::int64_t d_model) {
  AttentionPlan plan;
  const std::int64_t q = l.n_heads * l.d_head, kv = l.n_kv_heads * l.d_head;
  plan.matrices.push_back({"q", d_model, q, l.bias.q, Sharding::split_heads, "d_model", "n_heads * d_head"});
  plan.matrices.push_back({"kv", d_model, kv, l.bias.v, Sharding::split_kv_heads, "d_model", "n_kv_heads * d_head"});
  plan.matrices.push_back({"k_rope", d_model, l.d_rope, l.bias.k, Sharding::replicated, "d_model", "d_rope"});
  plan.matrices.push_back({"o", q, d_model, l.bias.o, Sharding::split_heads, "n_heads * d_head", "d_model"});
  // No value entry: the tied state is both, and the K format stores it.
  plan.cache.push_back({"kv", KvPart::key, l.n_kv_heads, l.d_head, Sharding::split_kv_heads, "n_kv_heads * d_head"});
  plan.cache.push_back({"rope_key", KvPart::key, 1, l.d_rope, Sharding::replicated, "d_rope"});
  ComputePath direct;
  direct.name = "direct";
  direct.terms.push_back({"q", MacPer::new_token, d_model * q, "d_model * n_heads * d_head"});
  direct.terms.push_back({"kv", MacPer::new_token, d_model * kv, "d_model * n_kv_heads * d_head"});
  direct.terms.push_back({"k_rope", MacPer::new_token, d_model * l.d_rope, "d_model * d_rope"});
  direct.terms.push_back({"scores", MacPer::pair, q, "n_heads * (d_nope + d_rope)"});
  direct.terms.push_back({"values", MacPer::pair, q, "n_heads * d_head"});
  direct.terms.push_back({"o", MacPer::new_token, q * d_model, "n_heads * d_head * d_model"});
  plan.paths.push_back(direct);
  plan.attention_width = q;
  plan.kv_width = kv;
  return plan;
}

std::string notation_gta(const Layout& layout) {
  return "gta:" + grouped::notation(layout);
}

}  // namespace

const Variant kGta{"gta",
                   "grouped tied attention",
                   "a group's one cached state is its value and half of its key",
                   false,
                   check,
                   enumerate,
                   lower_gta,
                   notation_gta,
                   false,
                   true,
                   {}};

}  // namespace mha
