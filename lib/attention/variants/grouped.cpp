#include "attention/variants/grouped.hpp"

#include "attention/divisors.hpp"

namespace mha::grouped {

std::optional<LayoutProblem> check(const Layout& layout) {
  if (layout.n_heads < 1 || layout.n_kv_heads < 1 || layout.d_head < 1 || layout.d_value < 1)
    return LayoutProblem{"layout-incomplete", "n_heads, n_kv_heads, d_head and d_value must be at least 1", ""};
  if (layout.n_heads % layout.n_kv_heads != 0)
    return LayoutProblem{
        "kv-heads-divide",
        "n_kv_heads " + std::to_string(layout.n_kv_heads) + " does not divide n_heads " +
            std::to_string(layout.n_heads),
        "a KV head serves n_heads / n_kv_heads query heads, so n_kv_heads is one of " + divisor_list(layout.n_heads)};
  if (layout.d_kv_latent != 0 || layout.d_q_latent != 0 || layout.d_nope != 0 || layout.d_rope != 0)
    return LayoutProblem{"latent-without-mla", "latent widths belong to MLA only", "drop them, or use --variants mla"};
  if (layout.n_latents != 0 || layout.rank_kv != 0 || layout.rank_q != 0)
    return LayoutProblem{"field-without-variant", "latents are counted in GLA only, and ranks belong to TPA only",
                         "drop them, or use --variants gla or --variants tpa"};
  return std::nullopt;
}

AttentionPlan lower(const Layout& l, std::int64_t d_model) {
  AttentionPlan plan;
  const std::int64_t q = l.n_heads * l.d_head, k = l.n_kv_heads * l.d_head, v = l.n_kv_heads * l.d_value;
  const std::int64_t o = l.n_heads * l.d_value;
  plan.matrices.push_back({"q", d_model, q, l.bias.q, Sharding::split_heads, "d_model", "n_heads * d_head"});
  plan.matrices.push_back({"k", d_model, k, l.bias.k, Sharding::split_kv_heads, "d_model", "n_kv_heads * d_head"});
  plan.matrices.push_back({"v", d_model, v, l.bias.v, Sharding::split_kv_heads, "d_model", "n_kv_heads * d_value"});
  plan.matrices.push_back({"o", o, d_model, l.bias.o, Sharding::split_heads, "n_heads * d_value", "d_model"});
  if (l.qk_norm) {
    plan.norms.push_back({"q_norm", l.d_head, "d_head"});
    plan.norms.push_back({"k_norm", l.d_head, "d_head"});
  }
  plan.cache.push_back({"k", KvPart::key, l.n_kv_heads, l.d_head, Sharding::split_kv_heads, "n_kv_heads * d_head"});
  plan.cache.push_back({"v", KvPart::value, l.n_kv_heads, l.d_value, Sharding::split_kv_heads, "n_kv_heads * d_value"});
  ComputePath direct;
  direct.name = "direct";
  direct.terms.push_back({"q", MacPer::new_token, d_model * q, "d_model * n_heads * d_head"});
  direct.terms.push_back({"k", MacPer::new_token, d_model * k, "d_model * n_kv_heads * d_head"});
  direct.terms.push_back({"v", MacPer::new_token, d_model * v, "d_model * n_kv_heads * d_value"});
  // Scores and values run over query heads: sharing a KV head saves memory and bandwidth, not arithmetic.
  direct.terms.push_back({"scores", MacPer::pair, q, "n_heads * d_head"});
  direct.terms.push_back({"values", MacPer::pair, o, "n_heads * d_value"});
  direct.terms.push_back({"o", MacPer::new_token, o * d_model, "n_heads * d_value * d_model"});
  plan.paths.push_back(direct);
  plan.attention_width = q;
  plan.kv_width = k;
  return plan;
}

std::string notation(const Layout& layout) {
  std::string text =
      std::to_string(layout.n_heads) + "/" + std::to_string(layout.n_kv_heads) + "/" + std::to_string(layout.d_head);
  if (layout.d_value != layout.d_head) text += "-" + std::to_string(layout.d_value);
  return text;
}

void enumerate(const AxisValues& axes, const Variant& variant, bool (*allowed)(std::int64_t, std::int64_t),
               std::vector<Layout>& out) {
  for (const std::int64_t n_heads : axes.n_heads) {
    const std::vector<std::int64_t> kv_heads = axes.n_kv_heads.empty() ? divisors(n_heads) : axes.n_kv_heads;
    for (const std::int64_t d_head : axes.d_head) {
      if (axes.coupled && n_heads * d_head != axes.d_model) continue;
      const std::vector<std::int64_t> d_values =
          axes.d_value.empty() ? std::vector<std::int64_t>{d_head} : axes.d_value;
      for (const std::int64_t n_kv_heads : kv_heads) {
        if (n_heads % n_kv_heads != 0 || !allowed(n_heads, n_kv_heads)) continue;
        for (const std::int64_t d_value : d_values) {
          Layout layout;
          layout.variant = &variant;
          layout.n_heads = n_heads;
          layout.n_kv_heads = n_kv_heads;
          layout.d_head = d_head;
          layout.d_value = d_value;
          layout.bias = axes.bias;
          layout.qk_norm = axes.qk_norm;
          out.push_back(layout);
        }
      }
    }
  }
}

}  // namespace mha::grouped
