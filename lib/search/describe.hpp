// What a decision means in words and side tables. Everything is derived from numbers that the search already has.
#pragma once

#include "search/problem.hpp"
#include "search/rank.hpp"

namespace mha {

[[nodiscard]] Verdict judge(const Problem& problem, const Candidate& candidate, const ActiveConstraint& active);

struct Comparison {
  const Problem& problem;
  const std::vector<Scored>& scored;
  const std::vector<double>& loss;
  double best_loss;
  double slack;
};
// Why `place` is behind `first`: the term in which it lost, and by how much.
[[nodiscard]] std::string why_not(const Comparison& comparison, const RankedIndex& place, const RankedIndex& first);

// Fills reason, warnings, ladder, tensor_parallel, kernels, crossover and sources for r.ranked[0].
void describe_winner(const Problem& problem, Recommendation& r);

// What to change when nothing is feasible.
[[nodiscard]] std::string advice_for(const std::vector<RejectedRule>& rejected);

}  // namespace mha
