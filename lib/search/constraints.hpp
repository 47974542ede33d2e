// The table of constraints: what a target or a standing rule forbids, or wants said. Thresholds, severity and reasons are
// data (rules/constraints); the predicates are here, one a row.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "mha/recommend.hpp"

namespace mha {

struct ConstraintInput {
  const Request& request;
  const RuleSet& rules;
  const Workload& workload;
  const Layout& layout;
  const AttentionPlan& plan;
  const ModelShape& shape;
  const Cost& cost;
  Params budget;  // 0: none
};

using Thresholds = std::array<double, 2>;

struct Outcome {
  bool met = true;
  double actual = 0;
  double limit = 0;
};

struct Explanation {
  std::string margin;
  std::string why;
};

struct Constraint {
  std::string_view id;
  // Capacity says what the target or the request can hold. It drops candidates but never moves the quality yardstick: the
  // best layout is the best one, whether or not it fits.
  bool capacity = false;
  std::array<std::string_view, 2> thresholds;  // names in the rule, in the order that the predicate reads them
  Outcome (*test)(const ConstraintInput& in, const Thresholds& t) = nullptr;
  Explanation (*explain)(const ConstraintInput& in, const Thresholds& t, const Outcome& outcome) = nullptr;
};

[[nodiscard]] const std::vector<Constraint>& constraints();

struct ActiveConstraint {
  const Constraint* constraint = nullptr;
  const ConstraintRule* rule = nullptr;
  Thresholds thresholds{};
  bool reject = true;
};

// Joins table and rules; a row without a rule, a rule without a row, and a missing threshold are errors.
[[nodiscard]] Expected<std::vector<ActiveConstraint>> activate(const RuleSet& rules);

[[nodiscard]] Verdict verdict(const ActiveConstraint& active, const ConstraintInput& in, const Outcome& outcome);

// Does this kernel take the layout without padding or falling back? `why` says what it lacks.
struct KernelFit {
  bool supported = false;
  std::string why;
};
[[nodiscard]] bool kernel_takes(const KernelSupport& kernel, const Layout& layout);
[[nodiscard]] KernelFit kernel_fit(const KernelSupport& kernel, const Layout& layout);

// n_heads % tp == 0, and n_kv_heads splits evenly or replicates evenly.
[[nodiscard]] bool tensor_parallel_legal(const Layout& layout, std::int64_t degree);

}  // namespace mha
