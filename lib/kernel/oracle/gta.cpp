// Grouped tied attention (arXiv 2505.21487). A token leaves one state of d_head for each KV head in the cache, and one
// rotated key of d_head / 2. Query head h attends with the key [first half of its group's state | rotated key] and
// combines the whole states, which are the values. The second half of its query is rotated; the scale is 1 /
// sqrt(d_head).
#include <cmath>

#include "kernel/oracle/arithmetic.hpp"
#include "kernel/oracle/variants.hpp"

namespace mha::oracle {

Weights draw_gta(const Layout& layout, std::int64_t d_model, std::uint64_t seed) {
  return draw({{"q", d_model, layout.n_heads * layout.d_head, layout.bias.q},
               {"kv", d_model, layout.n_kv_heads * layout.d_head, layout.bias.v},
               {"k_rope", d_model, layout.d_head / 2, layout.bias.k},
               {"o", layout.n_heads * layout.d_head, d_model, layout.bias.o}},
              {}, seed);
}

Rows gta_forward(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) {
  const std::int64_t n_past = cache.n_tokens(), half = layout.d_head / 2;
  Rows queries = project(x, weights.matrix("q"), counts);
  Rows rotary = project(x, weights.matrix("k_rope"), counts);
  for (std::int64_t t = 0; t < x.n; ++t) {
    rotate(rotary.at(t), half, n_past + t);
    for (std::int64_t head = 0; head < layout.n_heads; ++head)
      rotate(queries.at(t, head * layout.d_head + half), half, n_past + t);
  }
  cache.append("kv", project(x, weights.matrix("kv"), counts));
  cache.append("rope_key", rotary);
  Rows heads(x.n, layout.n_heads * layout.d_head);
  for (std::int64_t head = 0; head < layout.n_heads; ++head) {
    const std::int64_t group = head / (layout.n_heads / layout.n_kv_heads);
    const Slice states = cache.entry("kv").slice(0, group * layout.d_head);
    for (std::int64_t t = 0; t < x.n; ++t) {
      Scores scores(n_past + t + 1);
      add_scores(queries.slice(t, head * layout.d_head), states, half, scores, counts);
      add_scores(queries.slice(t, head * layout.d_head + half), cache.entry("rope_key").slice(0), half, scores, counts);
      softmax(scores, 1.0 / std::sqrt(static_cast<double>(layout.d_head)), counts);
      add_values(scores, states, layout.d_head, heads.at(t, head * layout.d_head), counts);
    }
  }
  return project(heads, weights.matrix("o"), counts);
}

}  // namespace mha::oracle
