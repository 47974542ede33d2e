#include "search/describe.hpp"

#include <algorithm>
#include <set>

#include "mha/limits.hpp"
#include "mha/quantity.hpp"

#include "core/text.hpp"
#include "cost/sharding.hpp"

namespace mha {
namespace {

constexpr std::int64_t kFirstLadderContext = 1024;
constexpr std::int64_t kLadderBeyond = 4;  // rows up to this many times the requested length

std::string percent(double ratio) {
  return print_fixed(100 * ratio, 1) + " %";
}

// What stands for both keys and values in the cache.
std::string cached_state(const Layout& layout) {
  if (!layout.variant->latent) return "one state for keys and values";
  return layout.n_latents > 0 ? std::to_string(layout.n_latents) + " latents" : "one latent";
}

std::string reason_for(const Recommendation& r) {
  const Candidate& c = r.winner();
  const CacheSize& cache = c.cost.cache;
  const i128 full = 2 * i128{c.shape.d_model};  // elements a token and layer of MHA with a = d_model
  const i128 mine = cache.elements_per_token_per_layer.value();
  std::string text = "it caches " + print_bytes(cache.per_token) + " a token (" + print_bytes(cache.per_sequence) +
                     " at " + print_length(r.workload.n_ctx) + " tokens)";
  if (mine < full)
    text += ", " + print_fixed(static_cast<double>(full) / static_cast<double>(mine), 2) +
            "x less than MHA of the same width";
  else if (mine == full)
    text += ", as much as MHA must";
  text += ", and is the cheapest layout whose predicted loss stays within " + print_fixed(r.quality_slack, 3) +
          " nats of the best (" + r.best_notation + ")";
  return text;
}

void add_ladder(const Problem& problem, Recommendation& r) {
  const Candidate& c = r.winner();
  const AttentionPlan plan = lower(c.layout, c.shape.d_model);
  std::set<std::int64_t> lengths = {r.workload.n_ctx};
  const std::int64_t last = std::min(r.workload.n_ctx * kLadderBeyond, limits::kMaxContext);
  for (std::int64_t n = kFirstLadderContext; n <= last; n *= 2) lengths.insert(n);
  for (const std::int64_t n_ctx : lengths) {
    Workload workload = r.workload;
    workload.n_ctx = n_ctx;
    const Cost cost = compute_cost(c.shape, plan, workload, problem.rules->target);
    const Bytes room = problem.rules->target.memory.value - problem.rules->target.reserve.value;
    r.ladder.push_back(
        {n_ctx, cost.cache.per_sequence, cost.cache.per_rank_batch, cost.decode.bound_s, cost.memory_per_rank <= room});
  }
}

void add_tensor_parallel(const Problem& problem, Recommendation& r) {
  const Candidate& c = r.winner();
  const AttentionPlan plan = lower(c.layout, c.shape.d_model);
  for (const std::int64_t degree : problem.rules->target.tensor_parallel) {
    TensorParallelRow row;
    row.degree = degree;
    row.legal = tensor_parallel_legal(c.layout, degree);
    row.kv_heads_per_rank = kv_heads_per_rank(cache_heads(c.layout), degree);
    row.replication = cache_copies(plan, degree);
    if (row.legal)
      row.kv_per_token_per_rank = cache_size(c.shape, plan, c.formats, 1, 1, degree).per_rank_per_token;
    else if (c.layout.n_heads % degree != 0)
      row.why = std::to_string(c.layout.n_heads) + " query heads do not divide by " + std::to_string(degree);
    else
      row.why = std::to_string(cache_heads(c.layout)) + (c.layout.variant->latent ? " latents" : " KV heads") +
                " neither divide by " + std::to_string(degree) + " nor divide it";
    r.tensor_parallel.push_back(row);
  }
}

void add_warnings(const Problem& problem, Recommendation& r) {
  const Candidate& c = r.winner();
  for (const Verdict& v : r.ranked.front().verdicts)
    if (!v.met) r.warnings.push_back({v.rule, v.why});
  if (r.slack_relaxed_by > 0)
    r.warnings.push_back({"slack-relaxed", "nothing feasible lies within the quality slack; it was relaxed by " +
                                               print_fixed(r.slack_relaxed_by, 3) + " nats to " +
                                               print_fixed(r.quality_slack, 3)});
  for (const PresetWinner& winner : r.preset_winners)
    if (!winner.same)
      r.warnings.push_back(
          {"preset-changes-winner", "under the " + winner.preset + " quality preset the winner is " + winner.notation});
  if (c.kv_format != problem.request->dtype)
    r.warnings.push_back({"cache-format-not-priced", "the quality prior does not price a " + c.kv_format +
                                                         " cache; 8-bit formats are within 0.005 of perplexity in "
                                                         "published tests, 4-bit keys with few KV heads are not"});
  const AttentionPlan plan = lower(c.layout, c.shape.d_model);
  const bool values = std::any_of(plan.cache.begin(), plan.cache.end(),
                                  [](const CacheEntry& entry) { return entry.part == KvPart::value; });
  if (!values && c.formats.key != c.formats.value)
    r.warnings.push_back({"latent-uses-key-format", upper(c.layout.variant->id) + " caches " + cached_state(c.layout) +
                                                        ", stored in the K format " + std::string(c.formats.key->id) +
                                                        "; the V format is not used"});
  const Bytes memory = problem.rules->target.memory.value;
  if (c.cost.cache.batch > memory)
    r.warnings.push_back({"batch-exceeds-device", "the cache of one batch, " + print_bytes(c.cost.cache.batch) +
                                                      ", exceeds the memory of one device, " + print_bytes(memory)});
  for (const LadderRow& row : r.ladder)
    if (row.n_ctx > r.workload.n_ctx && !row.fits) {
      r.warnings.push_back({"context-headroom", "at " + print_length(row.n_ctx) + " tokens the batch no longer fits"});
      break;
    }
}

void add_sources(const Problem& problem, Recommendation& r) {
  const Target& t = problem.rules->target;
  const auto add = [&](std::string what, const Source& source) {
    r.sources.push_back({std::move(what) + ": " + source.text, source.date});
  };
  add(t.name + ", memory", t.memory.source);
  add("memory reserve", t.reserve.source);
  add("bandwidth", t.bandwidth_per_s.source);
  const std::string peak(problem.workload.weights->compute_peak);
  add(peak + " peak, dense", t.peaks_per_s.at(peak).source);
  add("decode efficiency, low", t.decode_efficiency_low.source);
  add("prefill efficiency, low", t.prefill_efficiency_low.source);
  add("tensor-parallel degrees", t.tensor_parallel_source);
  add("quality prior, " + r.preset.id, r.preset.source);
  add("priority " + r.priority.id, r.priority.source);
  add("shape " + r.shape_row.id, r.shape_row.source);
  for (const KernelSupport& kernel : problem.rules->kernels) add("kernel " + kernel.name, kernel.source);
  for (const ActiveConstraint& active : problem.constraints) add("constraint " + active.rule->id, active.rule->source);
}

}  // namespace

Verdict judge(const Problem& problem, const Candidate& candidate, const ActiveConstraint& active) {
  const AttentionPlan plan = lower(candidate.layout, candidate.shape.d_model);
  Workload workload = problem.workload;
  workload.cache = candidate.formats;
  const ConstraintInput input{*problem.request, *problem.rules,      workload, candidate.layout, plan, candidate.shape,
                              candidate.cost,   problem.shape.budget};
  return verdict(active, input, active.constraint->test(input, active.thresholds));
}

std::string why_not(const Comparison& in, const RankedIndex& place, const RankedIndex& first) {
  const Scored &mine = in.scored[place.index], &best = in.scored[first.index];
  const double loss = in.loss[place.index], winner_loss = in.loss[first.index];
  if (!place.within_slack) {
    const double excess = loss - in.best_loss;
    return "predicted loss " + print_fixed(excess, 4) + " nats above the best, " + print_fixed(excess - in.slack, 4) +
           " outside the slack of " + print_fixed(in.slack, 3);
  }
  if (place.tie_class == first.tie_class) {
    for (const TieBreak& tie : tie_breaks()) {
      const std::int64_t d_model = in.problem.shape.shape.d_model;
      if (tie.score(mine, *in.problem.rules, d_model) == tie.score(best, *in.problem.rules, d_model)) continue;
      return "tied; " + std::string(tie.id) + " decides: " + tie.describe(mine, *in.problem.rules, d_model) +
             ", against " + tie.describe(best, *in.problem.rules, d_model);
    }
    return "tied in everything; the order of enumeration decides";
  }
  const double dearer = mine.objective / best.objective - 1;
  std::string text;
  if (dearer <= kCostTieBand)
    text = "same cost within " + percent(kCostTieBand) + ", but predicted loss " + print_fixed(loss - winner_loss, 4) +
           " nats higher";
  else
    text = std::string(in.problem.objective->id == "decode_time" ? "decode" : "training") + " " + percent(dearer) +
           " dearer" +
           (in.problem.objective->id == "decode_time"
                ? " (" + print_seconds(mine.objective) + " a step against " + print_seconds(best.objective) + ")"
                : "");
  if (mine.kv_per_sequence != best.kv_per_sequence) {
    const double gap = mine.kv_per_sequence - best.kv_per_sequence;
    text += "; cache " + print_bytes(Bytes(static_cast<i128>(gap < 0 ? -gap : gap))) +
            (gap > 0 ? " larger" : " smaller") + " a sequence";
  }
  if (winner_loss - loss > 0)
    text += "; predicted loss " + print_fixed(winner_loss - loss, 4) + " nats lower, which the slack does not pay for";
  return text;
}

void describe_winner(const Problem& problem, Recommendation& r) {
  const Candidate& c = r.winner();
  r.reason = reason_for(r);
  r.crossover = path_crossover(lower(c.layout, c.shape.d_model), r.workload.n_ctx);
  add_ladder(problem, r);
  add_tensor_parallel(problem, r);
  for (const KernelSupport& kernel : problem.rules->kernels) {
    const KernelFit fit = kernel_fit(kernel, c.layout);
    r.kernels.push_back({kernel.name + " (" + kernel.version + ")", fit.supported, fit.why});
  }
  add_warnings(problem, r);
  add_sources(problem, r);
}

std::string advice_for(const std::vector<RejectedRule>& rejected) {
  // What a user can change, by the rule that dropped most.
  struct Advice {
    std::string_view rule;
    std::string_view text;
  };
  static const std::vector<Advice> table = {
      {"memory-fits",
       "lower --batch or --seq-len, use --kv-dtypes fp8 or more --tensor-parallel, or a target with more memory"},
      {"tensor-parallel-legal", "choose a --tensor-parallel degree that divides the heads"},
      {"d-head-min", "use --d-head of at least 32"},
      {"d-head-max", "say why with --d-head-reason, or use --d-head of at most 256"},
      {"d-head-alignment", "use a --d-head that is a multiple of 8"},
      {"kv-block-divides", "use a --d-head that is a multiple of the cache format's block"},
      {"params-budget", "drop --d-ff or --n-layers, so that the budget can be met"},
      {"mla-min-params", "name the latent variant in --variants"},
      {"min-layers", "use at least 2 layers"},
  };
  const RejectedRule* most = nullptr;
  for (const RejectedRule& row : rejected)
    if (most == nullptr || row.count > most->count) most = &row;
  if (most == nullptr) return "";
  for (const Advice& row : table)
    if (row.rule == most->rule) return std::string(row.text);
  return "relax " + most->rule;
}

}  // namespace mha
