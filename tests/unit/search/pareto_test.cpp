#include "search/pareto.hpp"

#include <doctest/doctest.h>
#include <random>

using mha::CostPoint;

namespace {
bool dominates(const CostPoint& a, const CostPoint& b) {
  return a.loss <= b.loss && a.decode_s <= b.decode_s && a.memory <= b.memory &&
         (a.loss < b.loss || a.decode_s < b.decode_s || a.memory < b.memory);
}

std::vector<std::size_t> by_definition(const std::vector<CostPoint>& points) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < points.size(); ++i) {
    bool dominated = false;
    for (const CostPoint& other : points) dominated = dominated || dominates(other, points[i]);
    if (!dominated) front.push_back(i);
  }
  return front;
}
}  // namespace

TEST_CASE("the Pareto front equals the definition on random point sets with many equal coordinates") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const int n = static_cast<int>(random() % 60), span = 1 + static_cast<int>(random() % 12);
    std::vector<CostPoint> points;
    for (int i = 0; i < n; ++i)
      points.push_back({static_cast<double>(random() % static_cast<unsigned>(span)),
                        static_cast<double>(random() % static_cast<unsigned>(span)),
                        static_cast<double>(random() % static_cast<unsigned>(span))});
    CHECK(mha::pareto_front(points) == by_definition(points));
  }
}

TEST_CASE("equal points are all on the front") {
  CHECK(mha::pareto_front({{1, 1, 1}, {1, 1, 1}, {2, 1, 1}}) == std::vector<std::size_t>{0, 1});
}
