// The exact Pareto front in three costs, all minimised.
#pragma once

#include <cstddef>
#include <vector>

namespace mha {

struct CostPoint {
  double loss = 0;
  double decode_s = 0;
  double memory = 0;  // bytes a sequence
};

// Indices of the points that no other point dominates (at most as large in all three and smaller in one), ascending.
// Equal points do not dominate each other. O(n log n).
[[nodiscard]] std::vector<std::size_t> pareto_front(const std::vector<CostPoint>& points);

}  // namespace mha
