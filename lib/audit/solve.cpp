// The inverse questions, exact to one unit: the answer fits and one more does not. Memory is that of the most loaded device:
// weights, cache (as a runtime allocates it, or the payload) and the target's reserve.
#include <algorithm>

#include "mha/limits.hpp"
#include "mha/quantity.hpp"

#include "audit/parts.hpp"

namespace mha {
namespace {

// The largest n in [1, limit] with fits(n), which holds up to some n and not beyond; 0 when not even 1 does.
template <class Fits>
std::int64_t largest(std::int64_t limit, Fits fits) {
  if (!fits(1)) return 0;
  std::int64_t low = 1, high = limit;
  if (fits(limit)) return limit;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

using With = ModelQuery (*)(const ModelQuery& query, std::int64_t value);

Solution solve_up(const SolveRow& row, std::int64_t limit, const Architecture& a, const ModelPlan& plan,
                  const ModelQuery& query, const RuntimeRule* runtime, With with) {
  const auto use = [&](std::int64_t value) { return memory_use(a, plan, with(query, value), runtime); };
  Solution out;
  out.quantity = row.id;
  out.unit = row.unit;
  out.parallel = query.parallel;
  out.value = largest(limit, [&](std::int64_t value) { return use(value).fits(); });
  out.at_limit = out.value == limit;
  out.at_value = use(std::max<std::int64_t>(out.value, 1));
  out.one_more = use(std::min(limit, out.value + 1));
  return out;
}

Solution max_context(const Architecture& a, const ModelPlan& plan, const ModelQuery& query,
                     const RuntimeRule* runtime) {
  const std::int64_t limit = limits::kMaxContext;
  Solution out = solve_up(*find_solve_row("max-context"), limit, a, plan, query, runtime,
                          [](const ModelQuery& q, std::int64_t value) {
                            ModelQuery changed = q;
                            changed.n_ctx = value;
                            return changed;
                          });
  if (a.max_context > 0 && out.value > a.max_context)
    out.note = "memory allows more than the " + print_grouped(a.max_context) + " tokens that the model states";
  return out;
}

Solution max_batch(const Architecture& a, const ModelPlan& plan, const ModelQuery& query, const RuntimeRule* runtime) {
  return solve_up(*find_solve_row("max-batch"), limits::kMaxBatch, a, plan, query, runtime,
                  [](const ModelQuery& q, std::int64_t value) {
                    ModelQuery changed = q;
                    changed.batch = value;
                    return changed;
                  });
}

// Degrees that the target offers within a node and the heads allow, then pipeline stages of such nodes.
Solution min_devices(const Architecture& a, const ModelPlan& plan, const ModelQuery& query,
                     const RuntimeRule* runtime) {
  Solution out;
  out.quantity = "min-devices";
  out.unit = "devices";
  std::vector<std::int64_t> degrees;
  for (const std::int64_t degree : query.target->tensor_parallel) {
    if (check_parallel(a, {degree, 1, 1}).empty()) degrees.push_back(degree);
  }
  MemoryUse last;
  for (std::int64_t devices = 1; devices <= limits::kMaxTensorParallel; ++devices) {
    for (auto degree = degrees.rbegin(); degree != degrees.rend(); ++degree) {
      if (devices % *degree != 0 || devices / *degree > a.n_layers()) continue;
      ModelQuery changed = query;
      changed.parallel = {*degree, devices / *degree, 1};
      const MemoryUse use = memory_use(a, plan, changed, runtime);
      if (!use.fits()) {
        last = use;
        continue;
      }
      out.value = devices;
      out.parallel = changed.parallel;
      out.at_value = use;
      out.one_more = last;
      out.note = "tensor parallelism of " + to_decimal(*degree) + " in " + to_decimal(devices / *degree) +
                 (devices == *degree ? " stage" : " pipeline stages") + "; one device less does not fit";
      return out;
    }
  }
  out.one_more = last;
  return out;
}

// Parameters whose weights fit beside this model's cache, divided evenly over the ranks.
Solution max_params(const Architecture& a, const ModelPlan& plan, const ModelQuery& query, const RuntimeRule* runtime) {
  Solution out;
  out.quantity = "max-params";
  out.unit = "parameters";
  out.parallel = query.parallel;
  MemoryUse use = memory_use(a, plan, query, runtime);
  use.weights = Bytes(0);
  const i128 ranks = i128{query.parallel.tensor} * query.parallel.pipeline;
  const i128 bytes = query.weights->row_bytes(1).value();
  const i128 left = use.capacity.value() - use.used().value();
  const i128 per_rank = left > 0 ? left / bytes : 0;
  out.value = static_cast<std::int64_t>(std::min<i128>(per_rank * ranks, limits::kMaxParams));
  out.at_limit = out.value == limits::kMaxParams;
  out.at_value = out.one_more = use;
  out.at_value.weights = Bytes(per_rank * bytes);
  out.one_more.weights = Bytes((per_rank + 1) * bytes);
  out.note = "beside the cache of this model, weights divided evenly over " + to_decimal(ranks) +
             (ranks == 1 ? " device" : " devices");
  return out;
}

}  // namespace

MemoryUse memory_use(const Architecture& a, const ModelPlan& plan, const ModelQuery& query,
                     const RuntimeRule* runtime) {
  MemoryUse use;
  const Architecture cached = query.draft_layers ? with_draft_layers(a) : a;
  i128 weights = params_per_rank(a, plan, query.parallel).value();
  if (query.draft_layers) weights += count_params(a, plan).mtp.value();
  use.weights = query.weights->row_bytes(1) * weights;
  if (runtime == nullptr) {
    use.cache = cache_per_rank(cached, plan, query.cache, query.n_ctx, query.parallel, query.n_source).per_sequence *
                query.batch;
  } else {
    AllocationInput input;
    input.n_ctx = query.n_ctx;
    input.sequences = query.batch;
    input.step_tokens = query.step_tokens;
    input.unified = query.unified;
    input.n_source = query.n_source;
    input.parallel = query.parallel;
    use.cache = allocate(cached, plan, query.cache, *runtime, input).total;
  }
  use.reserve = query.target->reserve.value;
  use.capacity = query.target->memory.value;
  return use;
}

const std::vector<SolveRow>& solve_rows() {
  static const std::vector<SolveRow> table = {
      {"max-context", "tokens", "longest context of each of --batch sequences", max_context},
      {"max-batch", "sequences", "most sequences of --seq-len tokens", max_batch},
      {"min-devices", "devices", "fewest devices for --batch sequences of --seq-len tokens", min_devices},
      {"max-params", "parameters", "most parameters whose weights fit beside this model's cache", max_params},
  };
  return table;
}

const SolveRow* find_solve_row(std::string_view id) {
  for (const SolveRow& row : solve_rows()) {
    if (row.id == id) return &row;
  }
  return nullptr;
}

}  // namespace mha
