#include "kernel/oracle/latent.hpp"

#include <cmath>

namespace mha::oracle {

double latent_scale(const Layout& layout) {
  return 1.0 / std::sqrt(static_cast<double>(layout.d_nope + layout.d_rope));
}

Rows project_latent_queries(const Weights& weights, const Layout& layout, const Rows& x, std::int64_t n_past,
                            Counts& counts) {
  Rows q;
  if (layout.d_q_latent > 0) {
    Rows latent = project(x, weights.matrix("q_down"), counts);
    rms_norm(latent, weights.norm("q_latent_norm"), counts);
    q = project(latent, weights.matrix("q_up"), counts);
  } else {
    q = project(x, weights.matrix("q"), counts);
  }
  const std::int64_t d_head = layout.d_nope + layout.d_rope;
  for (std::int64_t t = 0; t < q.n; ++t)
    for (std::int64_t head = 0; head < layout.n_heads; ++head)
      rotate(q.at(t, head * d_head + layout.d_nope), layout.d_rope, n_past + t);
  return q;
}

void cache_rope_key(Rows key, std::int64_t d_rope, Cache& cache, std::int64_t n_past) {
  if (d_rope == 0) return;
  for (std::int64_t t = 0; t < key.n; ++t) rotate(key.at(t), d_rope, n_past + t);
  cache.append("rope_key", key);
}

void add_rope_scores(Slice query, const Layout& layout, const Cache& cache, Scores& scores, Counts& counts) {
  if (layout.d_rope > 0) add_scores(query, cache.entry("rope_key").slice(0), layout.d_rope, scores, counts);
}

}  // namespace mha::oracle
