#include "search/problem.hpp"

#include <algorithm>

#include "attention/variants.hpp"

namespace mha {
namespace {

Diagnostic problem_error(std::string code, std::string key, std::string what, std::string hint) {
  Diagnostic d;
  d.code = std::move(code);
  d.where.key = std::move(key);
  d.what = std::move(what);
  d.hint = std::move(hint);
  return d;
}

template <class Row>
const Row* find_row(const std::vector<Row>& rows, std::string_view id) {
  for (const Row& row : rows)
    if (row.id == id) return &row;
  return nullptr;
}

template <class Row>
std::vector<std::string> ids_of(const std::vector<Row>& rows) {
  std::vector<std::string> ids;
  for (const Row& row : rows) ids.emplace_back(row.id);
  return ids;
}

// The reference of the prior: MHA with a = w = d_model, in heads of 64 or whatever divides.
Params reference_params(const ShapePlan& plan) {
  if (plan.budget != Params(0)) return plan.budget;
  Layout layout;
  layout.variant = &kMha;
  layout.n_heads = layout.n_kv_heads = 1;
  layout.d_head = layout.d_value = plan.shape.d_model;
  return count_params(plan.shape, layout.variant->lower(layout, plan.shape.d_model)).total;
}

std::vector<CacheFormats> searched_formats(const Request& request) {
  std::vector<std::string> ids = request.kv_dtypes;
  if (ids.empty()) ids.push_back(request.dtype);
  std::vector<CacheFormats> formats;
  for (const std::string& id : ids) {
    CacheFormats pair{find_format(request.k_dtype.empty() ? id : request.k_dtype),
                      find_format(request.v_dtype.empty() ? id : request.v_dtype)};
    const bool known = std::any_of(formats.begin(), formats.end(),
                                   [&](CacheFormats f) { return f.key == pair.key && f.value == pair.value; });
    if (!known) formats.push_back(pair);
  }
  return formats;
}

}  // namespace

const std::vector<Objective>& objectives() {
  static const std::vector<Objective> table = {
      {"decode_time", "roofline bound of one decode step of the batch at full context, s",
       [](const Cost& cost) { return cost.decode.bound_s; }},
      {"training_flops", "FLOPs of training one token at the sequence length, causal",
       [](const Cost& cost) { return cost.flops_causal.training_per_token.as_double(); }},
  };
  return table;
}

ModelShape Problem::shape_of(const AttentionPlan& plan) const {
  ModelShape solved = shape.shape;
  if (shape.solve_d_ff) solved.d_ff = solve_d_ff(solved, plan, shape.budget, kFeedForwardMultiple);
  return solved;
}

Candidate Problem::candidate(const Layout& layout, std::size_t format) const {
  Candidate c;
  c.layout = layout;
  const AttentionPlan plan = lower(layout, shape.shape.d_model);
  c.shape = shape_of(plan);
  const Workload w = workload_of(format);
  c.formats = w.cache;
  c.kv_format = format_name(w.cache);
  c.cost = compute_cost(c.shape, plan, w, rules->target);
  c.loss = predict_loss(rules->presets[preset], layout, plan, c.shape.d_model, c.cost.params.total, reference_params);
  c.loss_low = c.loss_high = c.loss.total();
  for (const QualityPreset& other : rules->presets) {
    const double loss =
        predict_loss(other, layout, plan, c.shape.d_model, c.cost.params.total, reference_params).total();
    c.loss_low = std::min(c.loss_low, loss);
    c.loss_high = std::max(c.loss_high, loss);
  }
  c.notation = notation(layout);
  return c;
}

std::string format_name(CacheFormats formats) {
  std::string name(formats.key->id);
  if (formats.value != formats.key) name += "/" + std::string(formats.value->id);
  return name;
}

Expected<Problem> state_problem(const Request& request, const RuleSet& rules) {
  Diagnostics problems = check_request(request);
  if (!problems.empty()) return problems;
  Problem problem;
  problem.request = &request;
  problem.rules = &rules;

  auto active = activate(rules);
  if (!active) return active.error();
  problem.constraints = std::move(*active);
  Expected<ShapePlan> shape = plan_shape(request, rules.shapes);
  if (!shape) return shape.error();
  problem.shape = std::move(*shape);
  problem.reference_params = reference_params(problem.shape);

  problem.priority = find_row(rules.priorities, request.priority);
  if (problem.priority == nullptr)
    return problem_error("unknown-priority", "--priority", "there is no priority '" + request.priority + "'",
                         did_you_mean(request.priority, ids_of(rules.priorities)));
  problem.objective = find_row(objectives(), problem.priority->objective);
  if (problem.objective == nullptr)
    return problem_error(
        "unknown-objective", "objective",
        "priority '" + request.priority + "' ranks by '" + problem.priority->objective + "', which is no objective",
        did_you_mean(problem.priority->objective, ids_of(objectives())));
  const QualityPreset* preset = find_row(rules.presets, request.quality_preset);
  if (preset == nullptr)
    return problem_error("unknown-preset", "--quality-preset",
                         "there is no quality preset '" + request.quality_preset + "'",
                         did_you_mean(request.quality_preset, ids_of(rules.presets)));
  problem.preset = static_cast<std::size_t>(preset - rules.presets.data());

  problem.formats = searched_formats(request);
  problem.workload.n_ctx = *request.seq_len;
  problem.workload.batch = request.batch;
  problem.workload.tensor_parallel = request.tensor_parallel;
  problem.workload.weights = find_format(request.dtype);
  problem.workload.cache = problem.formats.front();

  const Target& target = rules.target;
  if (target.peak(problem.workload.weights->compute_peak) == nullptr) {
    std::string have;
    for (const StorageFormat& format : storage_formats())
      if (format.weights && target.peak(format.compute_peak) != nullptr)
        have += (have.empty() ? "" : ", ") + std::string(format.id);
    return problem_error("missing-peak", "--dtype", target.name + " has no " + request.dtype + " arithmetic on record",
                         "use --dtype with one of: " + have);
  }
  const auto& degrees = target.tensor_parallel;
  if (std::find(degrees.begin(), degrees.end(), request.tensor_parallel) == degrees.end()) {
    std::string have;
    for (const std::int64_t degree : degrees) have += (have.empty() ? "" : ", ") + std::to_string(degree);
    return problem_error("tensor-parallel-degree", "--tensor-parallel",
                         target.name + " offers no tensor-parallel group of " + std::to_string(request.tensor_parallel),
                         "use one of: " + have);
  }
  return problem;
}

}  // namespace mha
