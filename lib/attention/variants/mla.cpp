// multi-head latent attention: keys and values of all heads are expanded from one cached latent (DeepSeek-V2, section 2.1).
//
// Per token: latent c = norm(x W_kv_down)[d_kv_latent] and one rotary key [d_rope], shared by all heads, are cached.
// Expanded path: k = c W_k_up, v = c W_v_up for every cached token, then plain attention with d_head = d_nope + d_rope.
// Absorbed path: W_k_up moves into the query and W_v_up behind the softmax, so that attention runs on the latent itself:
// no work per cached token, but wider products per (query, key) pair. The results are equal.
#include "attention/variants.hpp"
#include "attention/variants/latent.hpp"

namespace mha {
namespace {

std::optional<LayoutProblem> check(const Layout& l, std::int64_t /*d_model*/) {
  if (l.n_kv_heads != l.n_heads)
    return LayoutProblem{"mla-kv-heads", "n_kv_heads has no meaning for MLA: one latent serves all heads",
                         "leave n_kv_heads out, or set it equal to n_heads"};
  if (l.n_latents != 0)
    return LayoutProblem{"mla-latents", "MLA has one latent for all heads, so its n_latents is 0",
                         "leave n_latents out, or use --variants gla"};
  return latent::check(l, "MLA");
}

AttentionPlan lower_mla(const Layout& l, std::int64_t d_model) {
  AttentionPlan plan;
  // One latent for all heads and no value entry: the latent is both key and value.
  plan.cache.push_back({"latent", KvPart::key, 1, l.d_kv_latent, Sharding::replicated, "d_kv_latent"});
  if (l.d_rope > 0) plan.cache.push_back({"rope_key", KvPart::key, 1, l.d_rope, Sharding::replicated, "d_rope"});
  StaticVector<WeightMatrix, 8> down;
  down.push_back(
      {"kv_down", d_model, l.d_kv_latent + l.d_rope, false, Sharding::replicated, "d_model", "d_kv_latent + d_rope"});
  latent::lower_heads(l, d_model, down, plan);
  return plan;
}

// "mla:128/512+64 q1536", "mla:64/512+64 d192 v256".
std::string notation_mla(const Layout& l) {
  return "mla:" + std::to_string(l.n_heads) + "/" + std::to_string(l.d_kv_latent) + "+" + std::to_string(l.d_rope) +
         latent::notation_tail(l);
}

void enumerate(const AxisValues& axes, std::vector<Layout>& out) {
  latent::enumerate(axes, kMla, {0}, out);
}

}  // namespace

const Variant kMla{"mla",
                   "multi-head latent attention",
                   "keys and values of all heads come from one cached latent",
                   true,
                   check,
                   enumerate,
                   lower_mla,
                   notation_mla,
                   true,
                   false,
                   {"d_kv_latent", "d_q_latent", "d_nope", "d_rope"}};

}  // namespace mha
