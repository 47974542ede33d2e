// Multi-query attention: all heads read the one key and value head.
#include "kernel/oracle/grouped.hpp"
#include "kernel/oracle/variants.hpp"

namespace mha::oracle {

Rows mqa_forward(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) {
  const std::int64_t n_past = cache.n_tokens();
  const Rows queries = project_and_cache(weights, layout, x, cache, counts);
  const Slice keys = cache.entry("k").slice(0);
  const Slice values = cache.entry("v").slice(0);
  Rows heads(x.n, layout.n_heads * layout.d_value);
  for (std::int64_t t = 0; t < x.n; ++t)
    for (std::int64_t head = 0; head < layout.n_heads; ++head)
      attend(queries.slice(t, head * layout.d_head), keys, values, n_past + t + 1, layout,
             heads.at(t, head * layout.d_value), counts);
  return project(heads, weights.matrix("o"), counts);
}

}  // namespace mha::oracle
