// What the oracles of MLA and GLA share: queries of [nope | rope] heads and the one rotary key that all heads read.
#pragma once

#include "kernel/oracle/arithmetic.hpp"

namespace mha::oracle {

// 1 / sqrt(d_nope + d_rope).
[[nodiscard]] double latent_scale(const Layout& layout);

// Queries of the new tokens, from x or from a normed query latent, rotary parts rotated.
[[nodiscard]] Rows project_latent_queries(const Weights& weights, const Layout& layout, const Rows& x,
                                          std::int64_t n_past, Counts& counts);

// Rotates the new tokens' shared keys [d_rope] and caches them; nothing where there is no rotary part.
void cache_rope_key(Rows key, std::int64_t d_rope, Cache& cache, std::int64_t n_past);

// Scores += rotary part of the query . rotary keys.
void add_rope_scores(Slice query, const Layout& layout, const Cache& cache, Scores& scores, Counts& counts);

}  // namespace mha::oracle
