#include "kernel/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mha::oracle {

Agreement compare(const Rows& a, const Rows& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Agreement result;
  if (a.n != b.n || a.width != b.width) {
    result.ratio = kInfinity;
    return result;
  }
  for (std::size_t i = 0; i < a.value.size(); ++i) {
    const double difference = std::abs(a.value[i] - b.value[i]);
    const double bound = a.error[i] + b.error[i];
    if (difference <= bound) {
      if (bound > 0) result.ratio = std::max(result.ratio, difference / bound);
    } else {  // a NaN on either side ends here too
      const double ratio = difference / bound;
      result.ratio = std::isnan(ratio) ? kInfinity : std::max(result.ratio, ratio);
    }
    result.max_abs = std::max(result.max_abs, difference);
    result.bound = std::max(result.bound, bound);
  }
  return result;
}

}  // namespace mha::oracle
