// The answers of explain, validate and check, as text and as JSON.
#include <fmt/format.h>

#include "mha/quantity.hpp"
#include "mha/report.hpp"

#include "report/figures.hpp"
#include "report/json_parts.hpp"
#include "report/writers/writers.hpp"

namespace mha {
namespace {

using report::Align;
using report::Document;
using report::Json;
using report::literal;
using report::Table;

std::string title(const Candidate& candidate) {
  return fmt::format("{}, {} parameters", literal(report::layout_label(candidate.layout, candidate.notation)),
                     report::params_both(candidate.cost.params.total));
}

template <class Body>
std::string json_answer(Body body) {
  Json json;
  json.object([&] {
    report::json_head(json);
    body(json);
  });
  return json.finish();
}

void json_subject(Json& json, const Candidate& candidate) {
  json.object("layout", [&] { report::json_layout(json, candidate); });
  report::json_model(json, candidate.shape);
}

std::string explain_json(const Candidate& candidate, const std::vector<ExplainRow>& rows) {
  return json_answer([&](Json& json) {
    json_subject(json, candidate);
    json.objects("figures", rows, [&](const ExplainRow& row) {
      json.text("group", row.group);
      json.text("figure", row.figure);
      json.text("formula", row.formula);
      json.text("substituted", row.substituted);
      json.text("value", row.value);
      json.text("source", row.source);
    });
  });
}

std::string explain_text(const Candidate& candidate, const std::vector<ExplainRow>& rows) {
  Document doc;
  doc.heading(1, title(candidate));
  for (std::size_t i = 0; i < rows.size();) {
    const std::string& group = rows[i].group;
    Table t{{{"Figure"}, {"Value", Align::right}, {"Formula"}, {"With the numbers"}, {"Source"}}, {}};
    for (; i < rows.size() && rows[i].group == group; ++i) {
      t.rows.push_back({literal(rows[i].figure), literal(rows[i].value), literal(rows[i].formula),
                        literal(rows[i].substituted), literal(rows[i].source)});
    }
    doc.heading(2, literal(group));
    doc.table(std::move(t));
  }
  return report::terminal(doc, false);
}

std::string validation_text(const Validation& validation) {
  const std::string status = report::validation_status(validation);
  Document doc;
  doc.heading(1, fmt::format("Validation of {}: {}",
                             literal(report::layout_label(validation.layout, notation(validation.layout))), status));
  doc.paragraph(fmt::format("One layer, {}, d_model {}{}.", report::tokens(validation.n_tokens),
                            print_grouped(validation.d_model),
                            validation.d_model == validation.full_d_model
                                ? std::string()
                                : fmt::format(" (reduced from {}; heads and widths are the real ones)",
                                              print_grouped(validation.full_d_model))));
  Table counts{{{"Quantity"}, {"Analytic", Align::right}, {"Counted", Align::right}, {"Verdict"}}, {}};
  for (const ValidationRow& row : validation.rows) {
    counts.rows.push_back({literal(row.quantity), print_grouped(row.analytic), print_grouped(row.counted),
                           row.exact() ? "equal" : "DIFFERS"});
  }
  doc.table(std::move(counts));
  if (!validation.tolerances.empty()) {
    Table bounds{{{"Results compared"},
                  {"Difference", Align::right},
                  {"Bound", Align::right},
                  {"Difference / bound", Align::right},
                  {"Verdict"}},
                 {}};
    for (const ToleranceRow& row : validation.tolerances) {
      bounds.rows.push_back({literal(row.quantity), report::scientific(row.max_abs), report::scientific(row.bound),
                             report::scientific(row.difference), row.within() ? "within" : "OUTSIDE"});
    }
    doc.table(std::move(bounds));
  }
  return report::terminal(doc, false);
}

std::string validation_json(const Validation& validation) {
  return json_answer([&](Json& json) {
    json.object("layout", [&] {
      json.text("variant", validation.layout.variant->id);
      json.text("notation", notation(validation.layout));
    });
    report::json_validation(json, validation);
  });
}

std::string checks_json(const Candidate& candidate, const std::vector<AssertionResult>& results, bool met) {
  return json_answer([&](Json& json) {
    json_subject(json, candidate);
    json.boolean("met", met);
    json.objects("checks", results, [&](const AssertionResult& result) {
      json.text("assertion", result.assertion.text);
      json.text("metric", result.assertion.metric);
      json.text("op", result.assertion.op);
      json.boolean("met", result.met);
      json.text("actual", result.actual);
      json.text("margin", result.margin);
    });
  });
}

std::string checks_text(const Candidate& candidate, const std::vector<AssertionResult>& results, bool met) {
  Document doc;
  doc.heading(1, title(candidate));
  Table t{{{"Check"}, {"Verdict"}, {"Actual", Align::right}, {"Margin"}}, {}};
  for (const AssertionResult& result : results) {
    t.rows.push_back({literal(result.assertion.text), result.met ? "met" : "FAILED", literal(result.actual),
                      literal(result.margin)});
  }
  doc.table(std::move(t));
  doc.paragraph(met ? "All checks are met." : "A check failed.");
  return report::terminal(doc, false);
}

}  // namespace

std::string write_explain(const Candidate& candidate, const std::vector<ExplainRow>& rows, std::string_view format) {
  return format == "json" ? explain_json(candidate, rows) : explain_text(candidate, rows);
}

std::string write_validation(const Validation& validation, std::string_view format) {
  return format == "json" ? validation_json(validation) : validation_text(validation);
}

std::string write_checks(const Candidate& candidate, const std::vector<AssertionResult>& results,
                         std::string_view format) {
  bool met = true;
  for (const AssertionResult& result : results) met = met && result.met;
  return format == "json" ? checks_json(candidate, results, met) : checks_text(candidate, results, met);
}

}  // namespace mha
