// multi-head latent attention: keys and values of all heads are expanded from one cached latent (DeepSeek-V2, section 2.1).
//
// Per token: latent c = norm(x W_kv_down)[d_kv_latent] and one rotary key [d_rope], shared by all heads, are cached.
// Expanded path: k = c W_k_up, v = c W_v_up for every cached token, then plain attention with d_head = d_nope + d_rope.
// Absorbed path: W_k_up moves into the query and W_v_up behind the softmax, so that attention runs on the latent itself:
// no work per cached token, but wider products per (query, key) pair. The results are equal.
#include "attention/variants.hpp"

namespace mha {
namespace {

std::optional<LayoutProblem> check(const Layout& l, std::int64_t /*d_model*/) {
  if (l.n_heads < 1 || l.d_nope < 1 || l.d_rope < 0 || l.d_value < 1 || l.d_kv_latent < 1 || l.d_q_latent < 0)
    return LayoutProblem{"layout-incomplete", "MLA needs n_heads, d_kv_latent, d_nope and d_value of at least 1",
                         "DeepSeek-V3: 128 heads, d_kv_latent 512, d_nope 128, d_rope 64, d_value 128"};
  if (l.n_kv_heads != l.n_heads)
    return LayoutProblem{"mla-kv-heads", "n_kv_heads has no meaning for MLA: one latent serves all heads",
                         "leave n_kv_heads out, or set it equal to n_heads"};
  if (l.d_head != l.d_nope + l.d_rope)
    return LayoutProblem{"mla-head-width", "MLA has d_head = d_nope + d_rope", "leave d_head out"};
  if (l.d_rope % 2 != 0)
    return LayoutProblem{"rope-even", "d_rope " + std::to_string(l.d_rope) + " is odd: rotary embedding turns pairs",
                         "use an even d_rope, such as 64"};
  return std::nullopt;
}

AttentionPlan lower_mla(const Layout& l, std::int64_t d_model) {
  AttentionPlan plan;
  const std::int64_t h = l.n_heads, q = h * l.d_head, o = h * l.d_value;
  const std::int64_t k_up = l.d_kv_latent * h * l.d_nope, v_up = l.d_kv_latent * h * l.d_value;
  const std::int64_t down = l.d_kv_latent + l.d_rope;

  StaticVector<MacTerm, 12> shared;  // what both paths do for a new token before attention
  if (l.d_q_latent > 0) {
    plan.matrices.push_back({"q_down", d_model, l.d_q_latent, false, Sharding::replicated, "d_model", "d_q_latent"});
    plan.matrices.push_back(
        {"q_up", l.d_q_latent, q, l.bias.q, Sharding::split_heads, "d_q_latent", "n_heads * (d_nope + d_rope)"});
    plan.norms.push_back({"q_latent_norm", l.d_q_latent, "d_q_latent"});
    shared.push_back({"q_down", MacPer::new_token, d_model * l.d_q_latent, "d_model * d_q_latent"});
    shared.push_back({"q_up", MacPer::new_token, l.d_q_latent * q, "d_q_latent * n_heads * (d_nope + d_rope)"});
  } else {
    plan.matrices.push_back(
        {"q", d_model, q, l.bias.q, Sharding::split_heads, "d_model", "n_heads * (d_nope + d_rope)"});
    shared.push_back({"q", MacPer::new_token, d_model * q, "d_model * n_heads * (d_nope + d_rope)"});
  }
  plan.matrices.push_back({"kv_down", d_model, down, false, Sharding::replicated, "d_model", "d_kv_latent + d_rope"});
  plan.matrices.push_back(
      {"k_up", l.d_kv_latent, h * l.d_nope, l.bias.k, Sharding::split_heads, "d_kv_latent", "n_heads * d_nope"});
  plan.matrices.push_back(
      {"v_up", l.d_kv_latent, o, l.bias.v, Sharding::split_heads, "d_kv_latent", "n_heads * d_value"});
  plan.matrices.push_back({"o", o, d_model, l.bias.o, Sharding::split_heads, "n_heads * d_value", "d_model"});
  plan.norms.push_back({"kv_latent_norm", l.d_kv_latent, "d_kv_latent"});
  shared.push_back({"kv_down", MacPer::new_token, d_model * down, "d_model * (d_kv_latent + d_rope)"});

  // One latent for all heads and no value entry: the latent is both key and value.
  plan.cache.push_back({"latent", KvPart::key, 1, l.d_kv_latent, Sharding::replicated, "d_kv_latent"});
  if (l.d_rope > 0) plan.cache.push_back({"rope_key", KvPart::key, 1, l.d_rope, Sharding::replicated, "d_rope"});

  ComputePath expanded;
  expanded.name = "expanded";
  expanded.terms = shared;
  expanded.terms.push_back({"k_up", MacPer::context_token, k_up, "d_kv_latent * n_heads * d_nope"});
  expanded.terms.push_back({"v_up", MacPer::context_token, v_up, "d_kv_latent * n_heads * d_value"});
  expanded.terms.push_back({"scores", MacPer::pair, q, "n_heads * (d_nope + d_rope)"});
  expanded.terms.push_back({"values", MacPer::pair, o, "n_heads * d_value"});
  expanded.terms.push_back({"o", MacPer::new_token, o * d_model, "n_heads * d_value * d_model"});
  expanded.scratch_per_context_token = h * (l.d_nope + l.d_value);
  plan.paths.push_back(expanded);

  ComputePath absorbed;
  absorbed.name = "absorbed";
  absorbed.terms = shared;
  absorbed.terms.push_back({"q_absorb", MacPer::new_token, k_up, "n_heads * d_nope * d_kv_latent"});
  absorbed.terms.push_back({"scores", MacPer::pair, h * down, "n_heads * (d_kv_latent + d_rope)"});
  absorbed.terms.push_back({"values", MacPer::pair, h * l.d_kv_latent, "n_heads * d_kv_latent"});
  absorbed.terms.push_back({"v_up", MacPer::new_token, v_up, "n_heads * d_kv_latent * d_value"});
  absorbed.terms.push_back({"o", MacPer::new_token, o * d_model, "n_heads * d_value * d_model"});
  plan.paths.push_back(absorbed);

  plan.attention_width = h * l.d_nope;
  plan.kv_width = l.d_kv_latent;
  return plan;
}

// "mla:128/512+64"; widths other than the usual d_nope = d_value = 128 and a query latent follow, so that two layouts never
// share a name: "mla:128/512+64 q1536", "mla:64/512+64 d192 v256".
constexpr std::int64_t kUsualNope = 128;

std::string notation_mla(const Layout& l) {
  std::string text =
      "mla:" + std::to_string(l.n_heads) + "/" + std::to_string(l.d_kv_latent) + "+" + std::to_string(l.d_rope);
  if (l.d_nope != kUsualNope) text += " d" + std::to_string(l.d_nope);
  if (l.d_value != l.d_nope) text += " v" + std::to_string(l.d_value);
  if (l.d_q_latent > 0) text += " q" + std::to_string(l.d_q_latent);
  return text;
}

void enumerate(const AxisValues& axes, std::vector<Layout>& out) {
  for (const std::int64_t n_heads : axes.n_heads) {
    if (!axes.n_kv_heads.empty() && axes.n_kv_heads != std::vector<std::int64_t>{n_heads}) continue;
    for (const std::int64_t d_nope : axes.d_nope) {
      if (axes.coupled && n_heads * d_nope != axes.d_model) continue;
      const std::vector<std::int64_t> d_values =
          axes.d_value.empty() ? std::vector<std::int64_t>{d_nope} : axes.d_value;
      for (const std::int64_t d_value : d_values)
        for (const std::int64_t d_rope : axes.d_rope)
          for (const std::int64_t d_kv_latent : axes.d_kv_latent)
            for (const std::int64_t d_q_latent : axes.d_q_latent) {
              Layout layout;
              layout.variant = &kMla;
              layout.n_heads = layout.n_kv_heads = n_heads;
              layout.d_head = d_nope + d_rope;
              layout.d_value = d_value;
              layout.d_kv_latent = d_kv_latent;
              layout.d_q_latent = d_q_latent;
              layout.d_nope = d_nope;
              layout.d_rope = d_rope;
              layout.bias = axes.bias;
              if (!check(layout, axes.d_model)) out.push_back(layout);
            }
    }
  }
}

}  // namespace

const Variant kMla{"mla",
                   "multi-head latent attention",
                   "keys and values of all heads come from one cached latent",
                   true,
                   check,
                   enumerate,
                   lower_mla,
                   notation_mla};

}  // namespace mha
