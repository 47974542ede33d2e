// Grouped latent attention (arXiv 2505.21487). A token leaves n_latents latents in the cache, side by side in one row,
// each normed by itself, and one rotated key [d_rope]. The heads are in n_latents equal runs; head h reads latent h /
// (n_heads / n_latents) and the rotated key. Queries are [nope | rope] for each head, scaled by 1 / sqrt(d_nope +
// d_rope).
//
// expanded: a latent gives keys and values of its own heads only, for every cached token at every step. absorbed:
// W_k_up of a head is applied to its query and W_v_up behind the softmax; attention runs on the head's latent.
#include "kernel/oracle/latent.hpp"
#include "kernel/oracle/variants.hpp"

namespace mha::oracle {
namespace {

std::int64_t latent_width(const Layout& layout) {
  return layout.d_kv_latent / layout.n_latents;
}

std::int64_t latent_of(const Layout& layout, std::int64_t head) {
  return head / (layout.n_heads / layout.n_latents);
}

// Each latent has its own scale; they lie one behind the other.
void norm_latents(Rows& latents, const Layout& layout, const NormScale& scales, Counts& counts) {
  const std::int64_t width = latent_width(layout);
  for (std::int64_t latent = 0; latent < layout.n_latents; ++latent) {
    const auto first = scales.value.begin() + latent * width;
    const NormScale own{scales.name, std::vector<double>(first, first + width)};
    Rows part = columns(latents, latent * width, width);
    rms_norm(part, own, counts);
    for (std::int64_t t = 0; t < latents.n; ++t)
      for (std::int64_t i = 0; i < width; ++i) {
        *latents.at(t, latent * width + i).value = *part.at(t, i).value;
        *latents.at(t, latent * width + i).error = *part.at(t, i).error;
      }
  }
}

void cache_latents(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) {
  const std::int64_t n_past = cache.n_tokens();
  Rows latents = project(x, weights.matrix("kv_down"), counts);
  norm_latents(latents, layout, weights.norm("kv_latent_norm"), counts);
  cache.append("latent", latents);
  if (layout.d_rope > 0) cache_rope_key(project(x, weights.matrix("k_rope"), counts), layout.d_rope, cache, n_past);
}

}  // namespace

Weights draw_gla(const Layout& layout, std::int64_t d_model, std::uint64_t seed) {
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
  matrices.push_back({"kv_down", d_model, layout.d_kv_latent, false});
  if (layout.d_rope > 0) matrices.push_back({"k_rope", d_model, layout.d_rope, false});
  // The columns of one head take that head's latent.
  matrices.push_back({"k_up", latent_width(layout), layout.n_heads * layout.d_nope, layout.bias.k});
  matrices.push_back({"v_up", latent_width(layout), layout.n_heads * layout.d_value, layout.bias.v});
  matrices.push_back({"o", layout.n_heads * layout.d_value, d_model, layout.bias.o});
  return draw(matrices, norms, seed);
}

Rows gla_expanded(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) {
  const std::int64_t n_past = cache.n_tokens();
  const std::int64_t d_head = layout.d_nope + layout.d_rope;
  const Rows queries = project_latent_queries(weights, layout, x, n_past, counts);
  cache_latents(weights, layout, x, cache, counts);
  // Latents side by side times blocks of columns side by side: block j is what latent j expands to.
  const Rows keys = project_heads(cache.entry("latent"), weights.matrix("k_up"), layout.n_latents, counts);
  const Rows values = project_heads(cache.entry("latent"), weights.matrix("v_up"), layout.n_latents, counts);
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

Rows gla_absorbed(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) {
  const std::int64_t n_past = cache.n_tokens();
  const std::int64_t d_head = layout.d_nope + layout.d_rope, width = latent_width(layout);
  const Rows queries = project_latent_queries(weights, layout, x, n_past, counts);
  cache_latents(weights, layout, x, cache, counts);
  const Matrix& k_up = weights.matrix("k_up");
  const Rows absorbed = project_heads_transposed(queries, d_head, k_up, layout.n_heads, "q_absorb", counts);
  const Rows offsets = bias_products(queries, d_head, k_up, layout.n_heads, counts);
  Rows mixed(x.n, layout.n_heads * width);
  for (std::int64_t head = 0; head < layout.n_heads; ++head) {
    const Slice latents = cache.entry("latent").slice(0, latent_of(layout, head) * width);
    for (std::int64_t t = 0; t < x.n; ++t) {
      Scores scores(n_past + t + 1);
      add_scores(absorbed.slice(t, head * width), latents, width, scores, counts);
      add_rope_scores(queries.slice(t, head * d_head + layout.d_nope), layout, cache, scores, counts);
      add_constant(offsets.slice(t, head), scores);
      softmax(scores, latent_scale(layout), counts);
      add_values(scores, latents, width, mixed.at(t, head * width), counts);
    }
  }
  const Rows heads = project_heads(mixed, weights.matrix("v_up"), layout.n_heads, counts);
  return project(heads, weights.matrix("o"), counts);
}

}  // namespace mha::oracle
