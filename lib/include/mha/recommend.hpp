// From a request to a ranked, explained recommendation: enumerate, cost, constrain, rank. Deterministic: the same request
// and rules give the same result on every machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mha/cost.hpp"
#include "mha/quality.hpp"
#include "mha/request.hpp"
#include "mha/validation.hpp"

namespace mha {

// The verdict of one constraint on one candidate.
struct Verdict {
  std::string rule;    // id: "memory-fits"
  bool reject = true;  // severity: reject, or warn
  bool met = true;
  double actual = 0;
  double limit = 0;
  std::string margin;  // "misses by 12.3 GiB", "3 below the limit"
  std::string why;     // one sentence with the numbers filled in
};

struct Candidate {
  Layout layout;
  ModelShape shape;       // d_ff solved for this layout, at equal parameters
  std::string kv_format;  // "bf16", or "q8_0/q4_0" when K and V differ
  CacheFormats formats;
  Cost cost;
  LossDelta loss;                      // deciding preset
  double loss_low = 0, loss_high = 0;  // over all presets
  std::string notation;
};

struct Ranked {
  int rank = 0;       // 1 is the recommendation
  int tie_class = 0;  // candidates of one class cannot be told apart by cost or prior
  Candidate candidate;
  std::string why_not;  // why it is not first: the numbers; empty for rank 1
  std::vector<Verdict> verdicts;
  std::vector<std::string> tie_breaks;  // for members of the first class: how each tie-break judged it
};

struct RejectedRule {
  std::string rule;
  std::int64_t count = 0;
  std::string example;  // notation of one
  std::string why;      // its verdict
};

struct Warning {
  std::string code;
  std::string message;
};

struct ParetoPoint {
  std::string notation;
  std::string variant;
  double loss = 0;      // nats, deciding preset
  double decode_s = 0;  // roofline bound, one step
  Bytes kv_per_sequence;
  bool front = false;
  bool recommended = false;
  std::int64_t same = 1;  // candidates at this very point
};

struct PresetWinner {
  std::string preset;
  std::string notation;
  bool same = false;  // same tie class as the recommendation
};

struct LadderRow {  // one context length
  std::int64_t n_ctx = 0;
  Bytes kv_per_sequence;
  Bytes kv_batch_per_rank;
  double decode_s = 0;
  bool fits = true;  // weights + cache of the batch + reserve in the target's memory
};

struct TensorParallelRow {
  std::int64_t degree = 1;
  bool legal = false;
  std::int64_t kv_heads_per_rank = 0;
  std::int64_t replication = 1;
  Bytes kv_per_token_per_rank;
  std::string why;  // when not legal
};

struct KernelRow {
  std::string kernel;  // name and version
  bool supported = false;
  std::string why;
};

struct SearchCounts {
  std::int64_t enumerated = 0;
  std::int64_t rejected = 0;
  std::int64_t feasible = 0;
  std::int64_t within_slack = 0;
  std::int64_t pareto = 0;
};

struct Recommendation {
  Request request;  // normalised
  Target target;
  Workload workload;  // formats of the winner
  Priority priority;
  QualityPreset preset;
  ShapeRow shape_row;        // where the shape was started from
  std::string shape_note;    // which parts were given, which solved
  double quality_slack = 0;  // as applied
  double slack_relaxed_by = 0;
  double best_loss = 0;  // of the best layout of the space, deciding preset
  std::string best_notation;
  std::vector<Ranked>
      ranked;  // the first kMaxRanked, then the best of each variant not among them; [0] is the recommendation
  std::int64_t ranked_total = 0;
  std::vector<std::string> tie_break_rules;  // in order, each with its source
  std::vector<RejectedRule> rejected;
  std::vector<Warning> warnings;
  std::vector<ParetoPoint> pareto;  // front first, then others (thinned) for the plot
  std::vector<PresetWinner> preset_winners;
  std::vector<LadderRow> ladder;
  std::vector<TensorParallelRow> tensor_parallel;
  std::vector<KernelRow> kernels;
  PathCrossover crossover;
  SearchCounts counts;
  std::vector<Source> sources;
  std::string reason;  // one sentence tied to the KV-cache constraint
  std::optional<Validation> validation;

  [[nodiscard]] const Candidate& winner() const { return ranked.front().candidate; }
};

inline constexpr std::size_t kMaxRanked = 20;

// Fails with "no-feasible-layout" (severity error) when nothing satisfies the request; the diagnostics then say which rules
// rejected how many, and what the nearest miss was.
[[nodiscard]] Expected<Recommendation> recommend(const Request& request, const RuleSet& rules);

// One pinned layout, costed without ranking: what `explain`, `validate` and `check` use. Needs n_heads, d_head and whatever
// else makes the layout unique; otherwise the recommendation for the request is used.
[[nodiscard]] Expected<Candidate> evaluate(const Request& request, const RuleSet& rules);

// ---- Metrics: what --limit and check may speak of ---------------------------------------------------------------------

enum class MetricUnit { bytes, flops, seconds, count, nats };

struct Metric {
  std::string_view id;  // "kv_bytes_per_token"
  MetricUnit unit = MetricUnit::count;
  std::string_view help;
  bool exact = true;  // an integer
  i128 (*integer)(const Candidate& candidate) = nullptr;
  double (*real)(const Candidate& candidate) = nullptr;
};

[[nodiscard]] const std::vector<Metric>& metrics();
[[nodiscard]] const Metric* find_metric(std::string_view id);

struct AssertionResult {
  Assertion assertion;
  bool met = false;
  std::string actual;  // printed in the metric's unit
  std::string margin;  // "12.0 KiB below the limit (18.8 %)"
};
[[nodiscard]] AssertionResult check_assertion(const Assertion& assertion, const Candidate& candidate);

}  // namespace mha
