// The ranking rule: the cheapest layout whose predicted loss stays within a slack of the best layout's; what neither cost nor
// prior can tell apart is one class, and stated tie-breaks order it. Loss and cost are never added.
#pragma once

#include <cstddef>
#include <vector>

#include "mha/recommend.hpp"

namespace mha {

// Costs nearer than this cannot be told apart: it is the tolerance on the parameter budget, so two layouts at "equal
// parameters" differ by as much.
inline constexpr double kCostTieBand = 0.01;

// Nats by which the slack is relaxed when nothing inside it is feasible, and in which what lies outside it is ordered.
inline constexpr double kSlackStep = 0.005;

// One costed candidate, as small as ranking needs it.
struct Scored {
  Layout layout;
  std::int64_t d_ff = 0;
  std::uint32_t format = 0;   // index into the searched cache formats
  std::uint32_t rejects = 0;  // bit i: active constraint i rejects it
  bool misses_limit = false;  // a --limit of the request
  double objective = 0;
  double decode_s = 0;
  double kv_per_sequence = 0;  // bytes
};

struct TieBreak {
  std::string_view id;
  std::string_view text;  // "more runtime kernels take d_head unpadded"
  std::string_view source;
  double (*score)(const Scored& scored, const RuleSet& rules, std::int64_t d_model) = nullptr;  // higher wins
  std::string (*describe)(const Scored& scored, const RuleSet& rules, std::int64_t d_model) = nullptr;
};
[[nodiscard]] const std::vector<TieBreak>& tie_breaks();

struct RankInput {
  const std::vector<Scored>& scored;
  const std::vector<double>& loss;  // by scored index, deciding preset
  const std::vector<std::size_t>& feasible;
  const RuleSet& rules;
  std::int64_t d_model = 0;
  double best_loss = 0;
  double slack = 0;
  double noise_band = 0;
};

struct RankedIndex {
  std::size_t index = 0;
  int position = 0;   // from 1, among all feasible candidates
  int tie_class = 0;  // from 1
  bool within_slack = false;
};

struct Ranking {
  std::vector<RankedIndex> order;  // the first `most`, then the first of each variant that is not among them
  std::size_t within_slack = 0;    // of all
};

[[nodiscard]] Ranking rank(const RankInput& input, std::size_t most);

}  // namespace mha
