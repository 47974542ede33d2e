#include "search/rank.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace mha {
namespace {

// Enumeration order decides what is left, so that the result never depends on the sort.
bool tie_break_less(const RankInput& in, std::size_t a, std::size_t b) {
  for (const TieBreak& row : tie_breaks()) {
    const double score_a = row.score(in.scored[a], in.rules, in.d_model),
                 score_b = row.score(in.scored[b], in.rules, in.d_model);
    if (score_a != score_b) return score_a > score_b;
  }
  if (in.loss[a] != in.loss[b]) return in.loss[a] < in.loss[b];
  return a < b;
}

}  // namespace

Ranking rank(const RankInput& in, std::size_t most) {
  Ranking ranking;
  std::vector<std::size_t> inside, outside;
  for (const std::size_t i : in.feasible) (in.loss[i] <= in.best_loss + in.slack ? inside : outside).push_back(i);
  ranking.within_slack = inside.size();
  if (most == 1 && !inside.empty()) {  // only the winner is wanted, and it is in the cheapest band
    double cheapest = in.scored[inside.front()].objective;
    for (const std::size_t i : inside) cheapest = std::min(cheapest, in.scored[i].objective);
    const auto dear = [&](std::size_t i) { return in.scored[i].objective > cheapest * (1 + kCostTieBand); };
    inside.erase(std::remove_if(inside.begin(), inside.end(), dear), inside.end());
    outside.clear();
  }

  std::sort(inside.begin(), inside.end(), [&](std::size_t a, std::size_t b) {
    return in.scored[a].objective != in.scored[b].objective ? in.scored[a].objective < in.scored[b].objective : a < b;
  });
  int tie_class = 0, position = 0;
  std::vector<bool> placed(inside.size(), false);
  for (std::size_t head = 0; head < inside.size();) {
    if (placed[head]) {
      ++head;
      continue;
    }
    // All whose cost cannot be told from the cheapest; of these, all whose loss cannot be told from the least.
    const double cost_limit = in.scored[inside[head]].objective * (1 + kCostTieBand);
    std::size_t end = head;
    double least = in.loss[inside[head]];
    for (; end < inside.size() && in.scored[inside[end]].objective <= cost_limit; ++end)
      if (!placed[end]) least = std::min(least, in.loss[inside[end]]);
    std::vector<std::size_t> members;
    for (std::size_t i = head; i < end; ++i) {
      if (placed[i] || !(in.loss[inside[i]] <= least + in.noise_band)) continue;
      placed[i] = true;
      members.push_back(inside[i]);
    }
    if (members.empty()) {  // a loss that is no number joins no class; it must not hold up the others
      placed[head] = true;
      continue;
    }
    ++tie_class;
    std::sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) { return tie_break_less(in, a, b); });
    for (const std::size_t i : members) {
      ++position;
      if (ranking.order.size() < most) ranking.order.push_back({i, position, tie_class, true});
    }
    if (most == 1) return ranking;  // only the winner is wanted
  }

  // Outside the slack: in the order in which relaxing it would let them in, cheapest first, as the rule would take them.
  struct Later {
    double steps, objective;
    std::size_t index;
  };
  std::vector<Later> later;
  later.reserve(outside.size());
  for (const std::size_t i : outside)
    later.push_back({std::ceil((in.loss[i] - in.best_loss - in.slack) / kSlackStep), in.scored[i].objective, i});
  std::sort(later.begin(), later.end(), [](const Later& a, const Later& b) {
    return std::tie(a.steps, a.objective, a.index) < std::tie(b.steps, b.objective, b.index);
  });
  for (const Later& candidate : later) {
    const std::size_t i = candidate.index;
    ++tie_class;
    ++position;
    if (ranking.order.size() >= most && most == 1) break;
    const bool listed = ranking.order.size() >= most &&
                        std::any_of(ranking.order.begin(), ranking.order.end(), [&](const RankedIndex& place) {
                          return in.scored[place.index].layout.variant == in.scored[i].layout.variant;
                        });
    if (!listed) ranking.order.push_back({i, position, tie_class, false});
  }
  return ranking;
}

}  // namespace mha
