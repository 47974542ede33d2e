// Grouped-query attention: n_heads / n_kv_heads neighbouring query heads share a key and value head.
#include "kernel/oracle/grouped.hpp"
#include "kernel/oracle/variants.hpp"

namespace mha::oracle {

Rows gqa_forward(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) {
  const std::int64_t n_past = cache.n_tokens();
  const Rows queries = project_and_cache(weights, layout, x, cache, counts);
  Rows heads(x.n, layout.n_heads * layout.d_value);
  for (std::int64_t group = 0; group < layout.n_kv_heads; ++group) {
    const Slice keys = cache.entry("k").slice(0, group * layout.d_head);
    const Slice values = cache.entry("v").slice(0, group * layout.d_value);
    for (std::int64_t member = 0; member < layout.n_heads / layout.n_kv_heads; ++member) {
      const std::int64_t head = group * (layout.n_heads / layout.n_kv_heads) + member;
      for (std::int64_t t = 0; t < x.n; ++t)
        attend(queries.slice(t, head * layout.d_head), keys, values, n_past + t + 1, layout,
               heads.at(t, head * layout.d_value), counts);
    }
  }
  return project(heads, weights.matrix("o"), counts);
}

}  // namespace mha::oracle
