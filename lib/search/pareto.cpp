#include "search/pareto.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>

namespace mha {

// Points in order of (loss, decode, memory) meet all that could dominate them before themselves. The staircase holds, for
// the points seen, the least memory at each decode cost; a point is dominated when the staircase at its decode cost is at
// or below its memory, unless only equal points put it there.
std::vector<std::size_t> pareto_front(const std::vector<CostPoint>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) { return std::tuple(points[i].loss, points[i].decode_s, points[i].memory); };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::tuple(key(a), a) < std::tuple(key(b), b); });

  std::map<double, double> staircase;  // decode -> memory, both strictly monotone
  std::vector<std::size_t> front;
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first + 1;
    while (last < order.size() && key(order[last]) == key(order[first])) ++last;
    const CostPoint& point = points[order[first]];
    auto after = staircase.upper_bound(point.decode_s);
    const bool dominated = after != staircase.begin() && std::prev(after)->second <= point.memory;
    if (!dominated) {
      for (std::size_t i = first; i < last; ++i) front.push_back(order[i]);
      auto step = staircase.lower_bound(point.decode_s);
      while (step != staircase.end() && step->second >= point.memory) step = staircase.erase(step);
      staircase[point.decode_s] = point.memory;
    }
    first = last;
  }
  std::sort(front.begin(), front.end());
  return front;
}

}  // namespace mha
