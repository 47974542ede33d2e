#include "search/rank.hpp"

#include <algorithm>

namespace mha {
namespace {

// Enumeration order decides what is left, so that the result never depends on the sort.
bool tie_break_less(const RankInput& in, std::size_t a, std::size_t b) {
  for (const TieBreak& row : tie_breaks()) {
    const double score_a = row.score(in.scored[a], in.rules, in.d_model), score_b = row.score(in.scored[b], in.rules, in.d_model);
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

  std::sort(inside.begin(), inside.end(), [&](std::size_t a, std::size_t b) {
    return in.scored[a].objective != in.scored[b].objective ? in.scored[a].objective < in.scored[b].objective : a < b;
  });
  int tie_class = 0;
  std::vector<bool> placed(inside.size(), false);
  for (std::size_t head = 0; head < inside.size() && ranking.order.size() < most;) {
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
      if (placed[i] || in.loss[inside[i]] > least + in.noise_band) continue;
      placed[i] = true;
      members.push_back(inside[i]);
    }
    ++tie_class;
    std::sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) { return tie_break_less(in, a, b); });
    for (const std::size_t i : members) ranking.order.push_back({i, tie_class, true});
  }

  if (ranking.order.size() < most) {
    std::sort(outside.begin(), outside.end(), [&](std::size_t a, std::size_t b) {
      if (in.loss[a] != in.loss[b]) return in.loss[a] < in.loss[b];
      return in.scored[a].objective != in.scored[b].objective ? in.scored[a].objective < in.scored[b].objective : a < b;
    });
    for (const std::size_t i : outside) {
      if (ranking.order.size() >= most) break;
      ranking.order.push_back({i, ++tie_class, false});
    }
  }
  if (ranking.order.size() > most) ranking.order.resize(most);
  return ranking;
}

}  // namespace mha
