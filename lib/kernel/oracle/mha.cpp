// Multi-head attention: head h attends with its own queries, keys and values.
#include "kernel/oracle/grouped.hpp"
#include "kernel/oracle/variants.hpp"

namespace mha::oracle {

Rows mha_forward(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) {
  const std::int64_t n_past = cache.n_tokens();
  const Rows queries = project_and_cache(weights, layout, x, cache, counts);
  const Rows& keys = cache.entry("k");
  const Rows& values = cache.entry("v");
  Rows heads(x.n, layout.n_heads * layout.d_value);
  for (std::int64_t head = 0; head < layout.n_heads; ++head)
    for (std::int64_t t = 0; t < x.n; ++t)
      attend(queries.slice(t, head * layout.d_head), keys.slice(0, head * layout.d_head),
             values.slice(0, head * layout.d_value), n_past + t + 1, layout, heads.at(t, head * layout.d_value),
             counts);
  return project(heads, weights.matrix("o"), counts);
}

}  // namespace mha::oracle
