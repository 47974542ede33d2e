// Multi-matrix factorization attention (arXiv 2412.19255): queries x -> W_q_down -> RMS norm -> W_q_up, one head for
// each n_heads-th of the result, and one key and one value head that all of them read.
#include "kernel/oracle/grouped.hpp"
#include "kernel/oracle/variants.hpp"

namespace mha::oracle {

Weights draw_mfa(const Layout& layout, std::int64_t d_model, std::uint64_t seed) {
  std::vector<NormShape> norms{{"q_latent_norm", layout.d_q_latent}};
  if (layout.qk_norm) {
    norms.push_back({"q_norm", layout.d_head});
    norms.push_back({"k_norm", layout.d_head});
  }
  return draw({{"q_down", d_model, layout.d_q_latent, false},
               {"q_up", layout.d_q_latent, layout.n_heads * layout.d_head, layout.bias.q},
               {"k", d_model, layout.d_head, layout.bias.k},
               {"v", d_model, layout.d_value, layout.bias.v},
               {"o", layout.n_heads * layout.d_value, d_model, layout.bias.o}},
              norms, seed);
}

Rows mfa_forward(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) {
  const std::int64_t n_past = cache.n_tokens();
  Rows latent = project(x, weights.matrix("q_down"), counts);
  rms_norm(latent, weights.norm("q_latent_norm"), counts);
  Rows queries = project(latent, weights.matrix("q_up"), counts);
  Rows keys = project(x, weights.matrix("k"), counts);
  if (layout.qk_norm) {
    rms_norm(queries, weights.norm("q_norm"), counts);
    rms_norm(keys, weights.norm("k_norm"), counts);
  }
  cache.append("k", keys);
  cache.append("v", project(x, weights.matrix("v"), counts));
  Rows heads(x.n, layout.n_heads * layout.d_value);
  for (std::int64_t t = 0; t < x.n; ++t)
    for (std::int64_t head = 0; head < layout.n_heads; ++head)
      attend(queries.slice(t, head * layout.d_head), cache.entry("k").slice(0), cache.entry("v").slice(0),
             n_past + t + 1, layout, heads.at(t, head * layout.d_value), counts);
  return project(heads, weights.matrix("o"), counts);
}

}  // namespace mha::oracle
