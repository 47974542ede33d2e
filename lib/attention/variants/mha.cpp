// multi-head attention: every query head has its own key and value head.
#include "attention/variants.hpp"
#include "attention/variants/grouped.hpp"

namespace mha {
namespace {

bool allowed(std::int64_t n_heads, std::int64_t n_kv_heads) {
  return n_kv_heads == n_heads;
}

std::optional<LayoutProblem> check(const Layout& layout, std::int64_t /*d_model*/) {
  if (auto problem = grouped::check(layout)) return problem;
  if (!allowed(layout.n_heads, layout.n_kv_heads))
    return LayoutProblem{"mha-kv-heads", "MHA has n_kv_heads = n_heads", "use --variants gqa for shared KV heads"};
  return std::nullopt;
}

void enumerate(const AxisValues& axes, std::vector<Layout>& out) {
  grouped::enumerate(axes, kMha, allowed, out);
}

}  // namespace

const Variant kMha{"mha",
                   "multi-head attention",
                   "every query head has its own key and value head",
                   false,
                   check,
                   enumerate,
                   grouped::lower,
                   grouped::notation,
                   true};

}  // namespace mha
