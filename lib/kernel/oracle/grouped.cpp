#include "kernel/oracle/grouped.hpp"

#include <cmath>

#include "kernel/oracle/variants.hpp"

namespace mha::oracle {

Weights draw_grouped(const Layout& layout, std::int64_t d_model, std::uint64_t seed) {
  std::vector<NormShape> norms;
  if (layout.qk_norm) norms = {{"q_norm", layout.d_head}, {"k_norm", layout.d_head}};
  return draw({{"q", d_model, layout.n_heads * layout.d_head, layout.bias.q},
               {"k", d_model, layout.n_kv_heads * layout.d_head, layout.bias.k},
               {"v", d_model, layout.n_kv_heads * layout.d_value, layout.bias.v},
               {"o", layout.n_heads * layout.d_value, d_model, layout.bias.o}},
              norms, seed);
}

Rows project_and_cache(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) {
  Rows q = project(x, weights.matrix("q"), counts);
  Rows k = project(x, weights.matrix("k"), counts);
  if (layout.qk_norm) {
    rms_norm(q, weights.norm("q_norm"), counts);
    rms_norm(k, weights.norm("k_norm"), counts);
  }
  cache.append("k", k);
  cache.append("v", project(x, weights.matrix("v"), counts));
  return q;
}

void attend(Slice query, Slice keys, Slice values, std::int64_t n_visible, const Layout& layout, Row out,
            Counts& counts) {
  Scores scores(n_visible);
  add_scores(query, keys, layout.d_head, scores, counts);
  softmax(scores, 1.0 / std::sqrt(static_cast<double>(layout.d_head)), counts);
  add_values(scores, values, layout.d_value, out, counts);
}

}  // namespace mha::oracle
