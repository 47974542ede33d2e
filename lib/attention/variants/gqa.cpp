// grouped-query attention: groups of query heads share a key and value head.
#include "attention/variants.hpp"
#include "attention/variants/grouped.hpp"

namespace mha {
namespace {

bool allowed(std::int64_t n_heads, std::int64_t n_kv_heads) {
  return n_kv_heads > 1 && n_kv_heads < n_heads;
}

std::optional<LayoutProblem> check(const Layout& layout, std::int64_t /*d_model*/) {
  if (auto problem = grouped::check(layout)) return problem;
  return std::nullopt;
}

void enumerate(const AxisValues& axes, std::vector<Layout>& out) {
  grouped::enumerate(axes, kGqa, allowed, out);
}

}  // namespace

const Variant kGqa{"gqa",
                   "grouped-query attention",
                   "groups of query heads share a key and value head",
                   false,
                   check,
                   enumerate,
                   grouped::lower,
                   grouped::notation,
                   true};

}  // namespace mha
