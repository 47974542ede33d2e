// What MLA and GLA share: queries with or without a latent of their own, the expanded and the absorbed computation on
// latents, of which MLA has one for all heads and GLA several, each for a group of heads.
#pragma once

#include "mha/attention.hpp"

namespace mha::latent {

// Number of latents and heads that read each: MLA 1 and all of them.
[[nodiscard]] inline std::int64_t n_latents(const Layout& layout) {
  return layout.n_latents > 0 ? layout.n_latents : 1;
}

// Widths that both need; `name` is "MLA" or "GLA".
[[nodiscard]] std::optional<LayoutProblem> check(const Layout& layout, const std::string& name);

// Adds the matrices, norms and terms of queries, the expansions k_up and v_up, the output, and the two paths. What
// compresses keys and values, and the cache, is the variant's: `down` holds its terms.
void lower_heads(const Layout& layout, std::int64_t d_model, const StaticVector<WeightMatrix, 8>& down_matrices,
                 AttentionPlan& plan);

// " dN" when d_nope is not 128, " vN" when d_value differs from it, " qN" for a query latent: no two layouts share a
// name.
[[nodiscard]] std::string notation_tail(const Layout& layout);

// Every combination of the axes that passes the variant's check. `n_latents` is {0} for MLA.
void enumerate(const AxisValues& axes, const Variant& variant, const std::vector<std::int64_t>& n_latents,
               std::vector<Layout>& out);

}  // namespace mha::latent
