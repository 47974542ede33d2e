#include "search/shape.hpp"

#include <algorithm>
#include <cmath>

#include "mha/cost.hpp"
#include "mha/limits.hpp"
#include "mha/quantity.hpp"

#include "attention/variants.hpp"

namespace mha {
namespace {

// Feed-forward widths outside this range of d_model are no transformer anyone ships (table of shapes: 2.6 to 5.4).
constexpr double kMinFeedForwardRatio = 1.0;
constexpr double kMaxFeedForwardRatio = 10.0;

double log_distance(double a, double b) {
  return std::abs(std::log(a / b));
}

// Rows by how near they are to what the request says: its width first when given, else its budget.
std::vector<ShapeRow> by_nearness(const Request& request, std::vector<ShapeRow> rows) {
  const auto distance = [&](const ShapeRow& row) {
    double sum = 0;
    if (request.d_model)
      sum += 4 * log_distance(static_cast<double>(row.d_model), static_cast<double>(*request.d_model));
    if (request.n_layers)
      sum += log_distance(static_cast<double>(row.n_layers), static_cast<double>(*request.n_layers));
    if (request.params) sum += log_distance(static_cast<double>(row.params), static_cast<double>(*request.params));
    return sum;
  };
  std::sort(rows.begin(), rows.end(), [&](const ShapeRow& a, const ShapeRow& b) {
    const double first = distance(a), second = distance(b);
    return first != second ? first < second : a.id < b.id;
  });
  return rows;
}

// The row's own layout at this width: what the number of layers and d_ff are solved with.
AttentionPlan row_plan(const ShapeRow& row, std::int64_t d_model) {
  Layout layout;
  layout.variant = &kGqa;
  layout.d_head = layout.d_value = row.d_head;
  layout.n_heads = std::max<std::int64_t>(1, d_model / row.d_head);
  layout.n_kv_heads = std::max<std::int64_t>(1, layout.n_heads * row.n_kv_heads / row.n_heads);
  return layout.variant->lower(layout, d_model);
}

double relative_error(const ModelShape& shape, const AttentionPlan& plan, Params budget) {
  return std::abs(count_params(shape, plan).total.as_double() / budget.as_double() - 1);
}

// Layers (and d_ff, unless given) that meet the budget with proportions nearest to the row's; n_layers 0 when none does.
ModelShape fill(const Request& request, const ShapeRow& row, ModelShape shape, const AttentionPlan& plan,
                Params budget) {
  const double row_ratio = static_cast<double>(row.d_ff) / static_cast<double>(row.d_model);
  const std::int64_t first = request.n_layers.value_or(1), last = request.n_layers.value_or(limits::kMaxLayers);
  ModelShape best;
  double best_score = 0;
  for (std::int64_t n_layers = first; n_layers <= last; ++n_layers) {
    shape.n_layers = n_layers;
    double score = 0;
    if (request.d_ff) {
      shape.d_ff = *request.d_ff;
      score = relative_error(shape, plan, budget);
    } else {
      shape.d_ff = solve_d_ff(shape, plan, budget, kFeedForwardMultiple);
      if (shape.d_ff == 0) break;  // more layers only leave less
      score = log_distance(static_cast<double>(shape.d_ff) / static_cast<double>(shape.d_model), row_ratio);
    }
    if (best.n_layers == 0 || score < best_score) {
      best = shape;
      best_score = score;
    } else if (score > best_score) {
      break;  // both scores have one minimum over n_layers
    }
  }
  return best;
}

std::string describe(const Request& request, const ShapePlan& plan) {
  std::string given, row, solved;
  const auto add = [](std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; };
  const ModelShape& s = plan.shape;
  add(request.d_model ? given : row, "d_model " + std::to_string(s.d_model));
  if (request.n_layers)
    add(given, "n_layers " + std::to_string(s.n_layers));
  else
    add(solved, "n_layers " + std::to_string(s.n_layers));
  add(request.vocab_size ? given : row, "vocab_size " + print_grouped(s.vocab_size));
  add(request.tied_embeddings ? given : row, s.tied_embeddings ? "tied embeddings" : "untied embeddings");
  if (request.d_ff)
    add(given, "d_ff " + std::to_string(s.d_ff));
  else
    add(solved, "d_ff (a multiple of " + std::to_string(kFeedForwardMultiple) + ", for each layout)");
  std::string note;
  if (!given.empty()) note += "given: " + given;
  if (!row.empty()) note += (note.empty() ? "" : "; ") + std::string("from ") + plan.row.id + ": " + row;
  if (!solved.empty()) note += (note.empty() ? "" : "; ") + std::string("solved from the budget: ") + solved;
  return note;
}

Diagnostic shape_error(std::string code, std::string key, std::string what, std::string hint) {
  Diagnostic d;
  d.code = std::move(code);
  d.where.key = std::move(key);
  d.what = std::move(what);
  d.hint = std::move(hint);
  return d;
}

}  // namespace

Expected<ShapePlan> plan_shape(const Request& request, const std::vector<ShapeRow>& rows) {
  if (rows.empty())
    return shape_error("no-shapes", "", "there is no production shape to start from", "add rules/shapes/<id>.yaml");
  const std::vector<ShapeRow> nearest = by_nearness(request, rows);
  if (!request.params) {
    if (!request.d_model || !request.n_layers || !request.d_ff)
      return shape_error("no-budget", "--params", "there is no parameter budget and the shape is not complete",
                         "give --params 1.3B, or all of --d-model, --n-layers and --d-ff");
    ShapePlan plan;
    plan.row = nearest.front();
    plan.shape = {*request.d_model,
                  *request.n_layers,
                  *request.d_ff,
                  request.vocab_size.value_or(plan.row.vocab_size),
                  request.tied_embeddings.value_or(plan.row.tied_embeddings),
                  request.gated_ffn,
                  request.norm};
    plan.solve_d_ff = false;
    plan.note = describe(request, plan);
    return plan;
  }

  const Params budget(*request.params);
  ShapePlan best;
  for (const ShapeRow& row : nearest) {
    ModelShape shape;
    shape.d_model = request.d_model.value_or(row.d_model);
    shape.vocab_size = request.vocab_size.value_or(row.vocab_size);
    shape.tied_embeddings = request.tied_embeddings.value_or(row.tied_embeddings);
    shape.gated_ffn = request.gated_ffn;
    shape.norm = request.norm;
    const AttentionPlan plan = row_plan(row, shape.d_model);
    const ModelShape filled = fill(request, row, shape, plan, budget);
    if (filled.n_layers == 0) continue;
    ShapePlan found{filled, !request.d_ff, budget, row, ""};
    found.note = describe(request, found);
    const double ratio = static_cast<double>(filled.d_ff) / static_cast<double>(filled.d_model);
    const bool usual = request.d_ff ? relative_error(filled, plan, budget) <= 0.01
                                    : ratio >= kMinFeedForwardRatio && ratio <= kMaxFeedForwardRatio &&
                                          relative_error(filled, plan, budget) <= 0.01;
    if (usual) return found;
    if (best.shape.n_layers == 0) best = found;
    if (request.d_model && request.vocab_size && request.n_layers) break;  // another row changes nothing
  }
  if (best.shape.n_layers != 0) return best;

  ModelShape smallest;
  smallest.d_model = request.d_model.value_or(nearest.front().d_model);
  smallest.n_layers = request.n_layers.value_or(1);
  smallest.d_ff = kFeedForwardMultiple;
  smallest.vocab_size = request.vocab_size.value_or(nearest.front().vocab_size);
  smallest.tied_embeddings = request.tied_embeddings.value_or(nearest.front().tied_embeddings);
  smallest.gated_ffn = request.gated_ffn;
  const Params need = count_params(smallest, row_plan(nearest.front(), smallest.d_model)).total;
  return shape_error("budget-too-small", "--params",
                     print_count(*request.params) + " parameters are too few: d_model " +
                         std::to_string(smallest.d_model) + ", " + std::to_string(smallest.n_layers) +
                         " layers and a vocabulary of " + print_grouped(smallest.vocab_size) + " take " +
                         print_count(need.value()) + " with the narrowest feed-forward",
                     "raise --params, or lower --d-model, --n-layers or --vocab-size");
}

}  // namespace mha
