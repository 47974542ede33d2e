// Multi-head latent attention (DeepSeek-V2, section 2.1). A token leaves one normed latent c [d_kv_latent] and one
// rotated key [d_rope] in the cache, both shared by all heads. Queries are [nope | rope] for each head, scaled by
// 1 / sqrt(d_nope + d_rope).
//
// expanded: k_nope = c W_k_up and v = c W_v_up for every cached token, at every step, then plain attention.
// absorbed: q . (c W_k_up) = (W_k_up q) . c, so W_k_up is applied to the query and attention runs on the latents;
//           sum p (c W_v_up) = (sum p c) W_v_up, so W_v_up is applied once behind it. A bias of k_up adds the same
//           q . b to all scores of a query and a bias of v_up passes through, because probabilities sum to 1.
#include "kernel/oracle/latent.hpp"
#include "kernel/oracle/variants.hpp"

namespace mha::oracle {
namespace {

void cache_latents(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) {
  const std::int64_t n_past = cache.n_tokens();
  const Rows down = project(x, weights.matrix("kv_down"), counts);
  Rows latent = columns(down, 0, layout.d_kv_latent);
  rms_norm(latent, weights.norm("kv_latent_norm"), counts);
  cache.append("latent", latent);
  cache_rope_key(columns(down, layout.d_kv_latent, layout.d_rope), layout.d_rope, cache, n_past);
}

}  // namespace

Weights draw_mla(const Layout& layout, std::int64_t d_model, std::uint64_t seed) {
  const std::int64_t q = layout.n_heads * (layout.d_nope + layout.d_rope);
  std::vector<MatrixShape> matrices;
  std::vector<NormShape> norms{{"kv_latent_norm", layout.d_kv_latent}};
  if (layout.d_q_latent > 0) {
    matrices.push_back({"q_down", d_model, layout.d_q_latent, false});
    matrices.push_back({"q_up", layout.d_q_latent, q, layout.bias.q});
    norms.push_back({"q_latent_norm", layout.d_q_latent});
  } else {
    matrices.push_back({"q", d_model, q, layout.bias.q});
  }
  matrices.push_back({"kv_down", d_model, layout.d_kv_latent + layout.d_rope, false});
  matrices.push_back({"k_up", layout.d_kv_latent, layout.n_heads * layout.d_nope, layout.bias.k});
  matrices.push_back({"v_up", layout.d_kv_latent, layout.n_heads * layout.d_value, layout.bias.v});
  matrices.push_back({"o", layout.n_heads * layout.d_value, d_model, layout.bias.o});
  return draw(matrices, norms, seed);
}

Rows mla_expanded(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) {
  const std::int64_t n_past = cache.n_tokens();
  const std::int64_t d_head = layout.d_nope + layout.d_rope;
  const Rows queries = project_latent_queries(weights, layout, x, n_past, counts);
  cache_latents(weights, layout, x, cache, counts);
  const Rows keys = project(cache.entry("latent"), weights.matrix("k_up"), counts);
  const Rows values = project(cache.entry("latent"), weights.matrix("v_up"), counts);
  Rows heads(x.n, layout.n_heads * layout.d_value);
  for (std::int64_t head = 0; head < layout.n_heads; ++head)
    for (std::int64_t t = 0; t < x.n; ++t) {
      Scores scores(n_past + t + 1);
      add_scores(queries.slice(t, head * d_head), keys.slice(0, head * layout.d_nope), layout.d_nope, scores, counts);
      add_rope_scores(queries.slice(t, head * d_head + layout.d_nope), layout, cache, scores, counts);
      softmax(scores, latent_scale(layout), counts);
      add_values(scores, values.slice(0, head * layout.d_value), layout.d_value, heads.at(t, head * layout.d_value),
                 counts);
    }
  return project(heads, weights.matrix("o"), counts);
}

Rows mla_absorbed(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) {
  const std::int64_t n_past = cache.n_tokens();
  const std::int64_t d_head = layout.d_nope + layout.d_rope;
  const Rows queries = project_latent_queries(weights, layout, x, n_past, counts);
  cache_latents(weights, layout, x, cache, counts);
  const Matrix& k_up = weights.matrix("k_up");
  const Slice latents = cache.entry("latent").slice(0);
  const Rows absorbed = project_heads_transposed(queries, d_head, k_up, layout.n_heads, "q_absorb", counts);
  const Rows offsets = bias_products(queries, d_head, k_up, layout.n_heads, counts);
  Rows mixed(x.n, layout.n_heads * layout.d_kv_latent);
  for (std::int64_t head = 0; head < layout.n_heads; ++head)
    for (std::int64_t t = 0; t < x.n; ++t) {
      Scores scores(n_past + t + 1);
      add_scores(absorbed.slice(t, head * layout.d_kv_latent), latents, layout.d_kv_latent, scores, counts);
      add_rope_scores(queries.slice(t, head * d_head + layout.d_nope), layout, cache, scores, counts);
      add_constant(offsets.slice(t, head), scores);
      softmax(scores, latent_scale(layout), counts);
      add_values(scores, latents, layout.d_kv_latent, mixed.at(t, head * layout.d_kv_latent), counts);
    }
  const Rows heads = project_heads(mixed, weights.matrix("v_up"), layout.n_heads, counts);
  return project(heads, weights.matrix("o"), counts);
}

}  // namespace mha::oracle
