// multi-query attention: all query heads share one key and value head.
#include "attention/variants.hpp"
#include "attention/variants/grouped.hpp"

namespace mha {
namespace {

bool allowed(std::int64_t n_heads, std::int64_t n_kv_heads) {
  return n_kv_heads == 1 && n_heads > 1;
}

std::optional<LayoutProblem> check(const Layout& layout, std::int64_t /*d_model*/) {
  if (auto problem = grouped::check(layout)) return problem;
  if (layout.n_kv_heads != 1)
    return LayoutProblem{"mqa-kv-heads", "MQA has n_kv_heads = 1", "use --variants gqa for more KV heads"};
  return std::nullopt;
}

void enumerate(const AxisValues& axes, std::vector<Layout>& out) {
  grouped::enumerate(axes, kMqa, allowed, out);
}

}  // namespace

const Variant kMqa{"mqa",
                   "multi-query attention",
                   "all query heads share one key and value head",
                   false,
                   check,
                   enumerate,
                   grouped::lower,
                   grouped::notation,
                   true};

}  // namespace mha
