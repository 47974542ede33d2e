// What a request and rules fix before any candidate is looked at, and the costing of one candidate within it.
#pragma once

#include <vector>

#include "search/constraints.hpp"
#include "search/shape.hpp"

namespace mha {

struct Objective {
  std::string_view id;  // "decode_time"
  std::string_view help;
  double (*value)(const Cost& cost) = nullptr;
};
[[nodiscard]] const std::vector<Objective>& objectives();

// Lives as long as the request and the rules that it refers to.
struct Problem {
  const Request* request = nullptr;
  const RuleSet* rules = nullptr;
  ShapePlan shape;
  Params reference_params;  // what the prior's parameter term is against: the budget, or MHA of the given shape
  std::vector<CacheFormats> formats;
  Workload workload;  // cache formats are per candidate
  std::vector<ActiveConstraint> constraints;
  const Priority* priority = nullptr;
  const Objective* objective = nullptr;
  std::size_t preset = 0;  // deciding one, index into rules->presets

  [[nodiscard]] Workload workload_of(std::size_t format) const {
    Workload w = workload;
    w.cache = formats[format];
    return w;
  }
  [[nodiscard]] ModelShape shape_of(const AttentionPlan& plan) const;
  [[nodiscard]] Candidate candidate(const Layout& layout, std::size_t format) const;
};

// Checks the request against the rules: names, missing peaks, shapes that no budget buys.
[[nodiscard]] Expected<Problem> state_problem(const Request& request, const RuleSet& rules);

// "bf16", or "q8_0/q4_0" when K and V differ.
[[nodiscard]] std::string format_name(CacheFormats formats);

}  // namespace mha
