// What an existing model's attention costs, what is unusual about it, and what else would cost less at equal parameters:
// the answers of audit, compare and solve. Everything is computed from an Architecture; nothing is looked up by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mha/explain.hpp"
#include "mha/model_cost.hpp"
#include "mha/rules.hpp"

namespace mha {

// What is asked of a model.
struct ModelQuery {
  std::int64_t n_ctx = 0;
  std::int64_t n_past = 0;  // of these, tokens that are cached already: prefill is of the rest
  std::int64_t batch = 1;
  std::int64_t n_source = 0;  // tokens of the source sequence that cross attention reads
  Parallel parallel;
  ModelFormats cache;                      // formats of cached rows
  const StorageFormat* weights = nullptr;  // format of the weights
  FlopRule flops;                          // how FLOPs are counted; a row of flop_rules(), possibly without the head
  std::int64_t step_tokens = 0;            // of a runtime, 0: its default
  bool unified = false;                    // llama.cpp: one cache for all slots
  bool draft_layers = false;               // multi-token-prediction layers hold a cache, too
  std::optional<Target> target;            // memory and degrees to judge against
};

// Contradictions between the query and the model: illegal ranks, a source without cross attention ….
[[nodiscard]] Diagnostics check_query(const Architecture& architecture, const ModelQuery& query);

struct Finding {
  std::string code;  // stable, kebab-case: "mha-long-context"
  Severity severity = Severity::note;
  std::string message;  // one sentence with the numbers filled in
};

// One degree of tensor parallelism.
struct RankRow {
  std::int64_t tensor_parallel = 1;
  bool legal = true;
  Bytes per_sequence;            // of the most loaded rank
  Bytes replicated;              // of which every rank holds all
  std::int64_t replication = 1;  // copies of a KV head within the group
  Params params;                 // weights of the most loaded rank
};

// A layout in place of the model's own, everything else kept.
struct Alternative {
  std::string notation;
  std::string variant;
  bool current = false;
  Params params;          // after d_ff was solved again
  std::int64_t d_ff = 0;  // 0: the experts were left as they are
  Bytes cache_per_token;  // growing part
  Bytes cache_per_sequence;
  double loss_low = 0, loss = 0, loss_high = 0;  // nats against the current layout; low and high over the presets
  bool within_slack = false;                     // of the best of these layouts, conservative preset
  std::vector<std::string> winner_of;            // presets under which it is the cheapest within the slack of the best
};

struct Audit {
  Architecture architecture;
  ModelPlan plan;
  ModelQuery query;
  ModelParams params;
  ModelCache cache;                // payload, one sequence
  Bytes expanded_per_sequence;     // keys and values of every query head: a runtime without shared heads or latents
  Bytes full_length_per_sequence;  // windows and chunks at full length: a runtime that ignores them
  Bytes draft_per_sequence;        // of multi-token-prediction layers; in the figures above only when the query says so
  std::vector<Allocation> allocations;
  std::vector<RankRow> ranks;                       // powers of two to 16, and the query's degree
  std::vector<std::int64_t> legal_tensor_parallel;  // up to 64
  RankCache rank;                                   // under the query's parallelism
  ModelFlops prefill;                               // n_ctx tokens on an empty cache
  ModelFlops decode;                                // one token at n_past = n_ctx - 1
  std::vector<Finding> findings;
  std::vector<Alternative> alternatives;
  std::string alternatives_note;            // why there are none, or what was held equal
  std::vector<ConversionRule> conversions;  // published ones from this model's attention
  double quality_slack = 0;
};

struct AuditRules {
  std::vector<RuntimeRule> runtimes;  // those to show
  std::vector<QualityPreset> presets;
  std::vector<ConversionRule> conversions;
  double quality_slack = 0.015;
};

// The query was checked. Fast: no search, some dozens of layouts.
[[nodiscard]] Audit audit(const Architecture& architecture, const ModelQuery& query, const AuditRules& rules);

// Every figure of the model as formula, numbers filled in and value; groups "Parameters", "KV cache", "FLOPs, ...".
[[nodiscard]] std::vector<ExplainRow> explain(const Audit& audit);

// ---- solve -----------------------------------------------------------------------------------------------------------

struct MemoryUse {  // of the most loaded device
  Bytes weights, cache, reserve, capacity;
  [[nodiscard]] Bytes used() const { return weights + cache + reserve; }
  [[nodiscard]] bool fits() const { return used() <= capacity; }
};
// Cache as the runtime allocates it, or the payload when there is none.
[[nodiscard]] MemoryUse memory_use(const Architecture& architecture, const ModelPlan& plan, const ModelQuery& query,
                                   const RuntimeRule* runtime);

struct Solution {
  std::string quantity;    // "max-context"
  std::string unit;        // "tokens"
  std::int64_t value = 0;  // 0: not even one fits
  bool at_limit = false;   // the tool's own limit ended the search, not memory
  MemoryUse at_value;      // fits
  MemoryUse one_more;      // does not
  Parallel parallel;       // min-devices: how they are used
  std::string note;
};

struct SolveRow {         // of the table of questions
  std::string_view id;    // "max-context"
  std::string_view unit;  // "tokens"
  std::string_view help;
  Solution (*solve)(const Architecture& architecture, const ModelPlan& plan, const ModelQuery& query,
                    const RuntimeRule* runtime) = nullptr;
};
[[nodiscard]] const std::vector<SolveRow>& solve_rows();
[[nodiscard]] const SolveRow* find_solve_row(std::string_view id);  // nullptr: no such question

}  // namespace mha
