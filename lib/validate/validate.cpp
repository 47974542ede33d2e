// Validation by execution: the analytic side comes from the plan and the cost model, the counted side from running the
// oracle, which knows neither. Nothing here asks which variant it is; what differs between variants is in the two
// tables.
#include "mha/validate.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mha/cost.hpp"

#include "kernel/compare.hpp"
#include "kernel/oracle.hpp"

namespace mha {
namespace {

constexpr std::int64_t kFewTokens = 4;  // enough to tell the triangle from the square; d_model shrinks before fewer
constexpr std::int64_t kFewestTokens = 2;
constexpr std::int64_t kSmallestWidth = 64;  // of d_model, unless the model itself is narrower

using Figures = std::vector<std::pair<std::string_view, i128>>;

struct Size {
  std::int64_t d_model = 0;
  std::int64_t n_tokens = 0;
};

// How often a term is paid by one step; the sum over terms is checked against attention_macs.
i128 times(MacPer per, Step step) {
  switch (per) {
    case MacPer::new_token:
      return step.n_new;
    case MacPer::context_token:
      return i128{step.n_past} + step.n_new;
    case MacPer::pair:
      break;
  }
  return pairs(step, FlopConvention::causal);
}

std::vector<Step> prefill_steps(std::int64_t n_tokens) {
  return {{0, n_tokens}};
}

std::vector<Step> decode_steps(std::int64_t n_tokens) {
  std::vector<Step> steps;
  for (std::int64_t past = 0; past < n_tokens; ++past) steps.push_back({past, 1});
  return steps;
}

i128 analytic_total(const ComputePath& path, const std::vector<Step>& steps) {
  i128 sum = 0;
  for (const Step& step : steps) sum += attention_macs(path, step, FlopConvention::causal).value();
  return sum;
}

bool fits(const Layout& layout, Size size, const ValidationBounds& bounds) {
  const AttentionPlan plan = lower(layout, size.d_model);
  double work = 0;
  for (const ComputePath& path : plan.paths) {
    work += static_cast<double>(analytic_total(path, prefill_steps(size.n_tokens)));
    work += static_cast<double>(analytic_total(path, decode_steps(size.n_tokens)));
  }
  double stored = 0,
         widths = 0;  // weights, of which large matrices are windows of a pool, and activations of one token
  for (const WeightMatrix& m : plan.matrices) {
    stored += static_cast<double>(std::min(m.rows * m.cols, oracle::kPool + m.cols));
    widths += static_cast<double>(m.rows + m.cols);
  }
  for (const ComputePath& path : plan.paths) widths += static_cast<double>(path.scratch_per_context_token);
  // Every activation has a bound beside it, and about four copies are alive at a time.
  const double bytes = 8.0 * stored + 8.0 * 2.0 * 4.0 * widths * static_cast<double>(size.n_tokens);
  return work <= bounds.max_multiply_adds && bytes <= bounds.max_bytes;
}

// Tokens go first, then width; a layout whose heads alone are over the bounds runs at the smallest size.
Size choose_size(const Layout& layout, std::int64_t d_model, const ValidationBounds& bounds) {
  Size size{d_model, std::max(bounds.max_tokens, std::int64_t{1})};
  const std::int64_t few = std::min(size.n_tokens, kFewTokens), fewest = std::min(size.n_tokens, kFewestTokens);
  while (size.n_tokens > few && !fits(layout, size, bounds)) size.n_tokens = std::max(few, size.n_tokens / 2);
  while (size.d_model > kSmallestWidth && !fits(layout, size, bounds))
    size.d_model = std::max(kSmallestWidth, size.d_model / 2 / 8 * 8);
  while (size.n_tokens > fewest && !fits(layout, size, bounds)) size.n_tokens -= 1;
  return size;
}

struct Run {
  oracle::Rows output;
  oracle::Counts counts;
  oracle::Tally resident;  // cache elements after the last step
  oracle::Tally grown;     // of which by the last step
};

Run run(const oracle::Path& path, const oracle::Weights& weights, const Layout& layout, const oracle::Rows& x,
        const std::vector<Step>& steps) {
  Run result;
  result.output = oracle::Rows(0, x.width);
  oracle::Cache cache;
  for (const Step& step : steps) {
    const oracle::Tally before = cache.resident();
    const oracle::Rows y =
        path.forward(weights, layout, oracle::rows_of(x, step.n_past, step.n_new), cache, result.counts);
    result.output.append(y);
    result.resident = result.grown = cache.resident();
    for (const auto& entry : before) result.grown[entry.first] -= entry.second;
  }
  return result;
}

// A row for each name that either side has, and one for the sums.
void compare(const std::string& quantity, const Figures& analytic, const oracle::Tally& counted, i128 analytic_sum,
             std::vector<ValidationRow>& rows) {
  oracle::Tally rest = counted;
  for (const auto& figure : analytic) {
    const auto found = rest.find(figure.first);
    rows.push_back({quantity + ", " + std::string(figure.first), figure.second,
                    found == rest.end() ? i128{0} : i128{found->second}});
    if (found != rest.end()) rest.erase(found);
  }
  for (const auto& item : rest) rows.push_back({quantity + ", " + std::string(item.first), 0, item.second});
  rows.push_back({quantity + ", total", analytic_sum, oracle::total(counted)});
}

Figures weights_of(const AttentionPlan& plan) {
  Figures figures;
  for (const WeightMatrix& m : plan.matrices)
    figures.emplace_back(m.name, i128{m.rows} * m.cols + (m.bias ? m.cols : 0));
  for (const NormVector& n : plan.norms) figures.emplace_back(n.name, n.elements);
  return figures;
}

Figures macs_of(const ComputePath& path, const std::vector<Step>& steps) {
  Figures figures;
  for (const MacTerm& term : path.terms) {
    i128 sum = 0;
    for (const Step& step : steps) sum += times(term.per, step) * term.macs;
    figures.emplace_back(term.name, sum);
  }
  return figures;
}

Figures cache_of(const AttentionPlan& plan, std::int64_t n_tokens) {
  Figures figures;
  for (const CacheEntry& entry : plan.cache)
    figures.emplace_back(entry.name, i128{entry.n_rows} * entry.row_elements * n_tokens);
  return figures;
}

i128 sum_of(const Figures& figures) {
  i128 sum = 0;
  for (const auto& figure : figures) sum += figure.second;
  return sum;
}

ToleranceRow agreement(std::string quantity, const oracle::Rows& a, const oracle::Rows& b) {
  const oracle::Agreement found = oracle::compare(a, b);
  return {std::move(quantity), found.ratio, found.max_abs, found.bound};
}

// The variant and its twin are the same function when n_kv_heads = n_heads. Run at the smallest width: the check is
// about which head reads which, not about size.
void compare_with_twin(const oracle::Oracle& own, const Layout& layout, Size size, const ValidationBounds& bounds,
                       Validation& validation) {
  const oracle::Oracle* twin = oracle::find_oracle(own.twin);
  if (twin == nullptr) return;
  Layout full = layout;
  full.n_kv_heads = layout.n_heads;
  size = {std::min(size.d_model, kSmallestWidth), std::min(size.n_tokens, kFewTokens)};
  if (!fits(full, size, bounds)) return;
  const oracle::Weights weights = own.draw(full, size.d_model, bounds.seed + 1);
  const oracle::Rows x = oracle::draw_tokens(size.n_tokens, size.d_model, bounds.seed + 1);
  const std::vector<Step> steps = prefill_steps(size.n_tokens);
  validation.tolerances.push_back(agreement(
      std::string(own.id) + " with n_kv_heads = n_heads against " + std::string(twin->id),
      run(own.paths[0], weights, full, x, steps).output, run(twin->paths[0], weights, full, x, steps).output));
}

}  // namespace

bool Validation::exact() const {
  return !rows.empty() && std::all_of(rows.begin(), rows.end(), [](const ValidationRow& row) { return row.exact(); }) &&
         std::all_of(tolerances.begin(), tolerances.end(), [](const ToleranceRow& row) { return row.within(); });
}

Validation validate(const Layout& layout, std::int64_t d_model, const ValidationBounds& bounds) {
  const Size size = choose_size(layout, d_model, bounds);
  Validation validation;
  validation.layout = layout;
  validation.d_model = size.d_model;
  validation.full_d_model = d_model;
  validation.n_tokens = size.n_tokens;

  const AttentionPlan plan = lower(layout, size.d_model);
  const oracle::Oracle* own = oracle::find_oracle(layout.variant->id);
  const std::size_t n_paths = own == nullptr ? 0 : own->paths.size();
  if (own == nullptr || n_paths != plan.paths.size()) {  // unequal tables: nothing was checked, and the outcome says so
    validation.rows.push_back({"compute paths", static_cast<i128>(plan.paths.size()), static_cast<i128>(n_paths)});
    return validation;
  }

  const oracle::Weights weights = own->draw(layout, size.d_model, bounds.seed);
  const oracle::Rows x = oracle::draw_tokens(size.n_tokens, size.d_model, bounds.seed);
  const std::vector<Step> at_once = prefill_steps(size.n_tokens), one_by_one = decode_steps(size.n_tokens);
  std::vector<oracle::Rows> prefill_outputs, decode_outputs;
  for (std::size_t i = 0; i < n_paths; ++i) {
    const ComputePath& analytic = plan.paths[i];
    const auto path = std::find_if(own->paths.begin(), own->paths.end(),
                                   [&](const oracle::Path& p) { return p.name == analytic.name; });
    if (path == own->paths.end()) {
      validation.rows.push_back({"compute path " + std::string(analytic.name), 1, 0});
      continue;
    }
    const std::string suffix = n_paths > 1 ? ", " + std::string(analytic.name) : std::string();
    const Run prefill = run(*path, weights, layout, x, at_once);
    const Run decode = run(*path, weights, layout, x, one_by_one);
    compare("weights" + suffix, weights_of(plan), prefill.counts.weights_read, attention_params(plan).value(),
            validation.rows);
    compare("multiply-adds, prefill" + suffix, macs_of(analytic, at_once), prefill.counts.multiply_adds,
            analytic_total(analytic, at_once), validation.rows);
    compare("multiply-adds, decode" + suffix, macs_of(analytic, one_by_one), decode.counts.multiply_adds,
            analytic_total(analytic, one_by_one), validation.rows);
    const Figures cache_token = cache_of(plan, 1), cache_all = cache_of(plan, size.n_tokens);
    compare("cache elements per token" + suffix, cache_token, decode.grown, sum_of(cache_token), validation.rows);
    const std::string held = "cache elements, " + std::to_string(size.n_tokens) + " tokens, ";
    validation.rows.push_back({held + "prefill" + suffix, sum_of(cache_all), oracle::total(prefill.resident)});
    validation.rows.push_back({held + "decode" + suffix, sum_of(cache_all), oracle::total(decode.resident)});
    validation.tolerances.push_back(agreement("decode against prefill" + suffix, decode.output, prefill.output));
    if (!prefill_outputs.empty()) {
      const std::string names = std::string(analytic.name) + " against " + std::string(plan.paths[0].name);
      validation.tolerances.push_back(agreement(names + ", prefill", prefill.output, prefill_outputs[0]));
      validation.tolerances.push_back(agreement(names + ", decode", decode.output, decode_outputs[0]));
    }
    prefill_outputs.push_back(prefill.output);
    decode_outputs.push_back(decode.output);
  }
  compare_with_twin(*own, layout, size, bounds, validation);
  return validation;
}

}  // namespace mha
