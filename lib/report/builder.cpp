#include "report/builder.hpp"

#include <fmt/format.h>

#include "mha/quantity.hpp"
#include "mha/version.hpp"

#include "report/figures.hpp"
#include "report/sections/sections.hpp"

namespace mha::report {
namespace {

struct Section {
  const char* title;
  void (*add)(Document& doc, const ReportContext& c);
  bool (*wanted)(const Recommendation& r) = nullptr;  // nullptr: always
};

constexpr Section kSections[] = {
    // The five answers that the reader came for.
    {"Projection variant", add_projection},
    {"Head geometry", add_geometry},
    {"KV-cache estimate", add_cache},
    {"Initialisation", add_initialisation},
    {"Testability hook", add_induction},
    // Why they are so, and how far to trust them.
    {"Warnings", add_warnings, [](const Recommendation& r) { return !r.warnings.empty(); }},
    {"Alternatives, ties and tie-breaks", add_alternatives},
    {"Pareto plot", add_pareto},
    {"What would change the decision", add_sensitivity},
    {"Tensor parallelism and runtime kernels", add_deployment},
    {"Parameters", add_parameters},
    {"FLOPs", add_flops},
    {"Memory traffic and roofline time", add_time},
    {"Constraints and verdicts", add_constraints},
    {"Validation by execution", add_validation},
    {"Assumptions", add_assumptions},
    {"Sources", add_sources},
    {"Reproduce", add_reproduce},
};

void add_head(Document& doc, const ReportContext& c) {
  const Recommendation& r = c.rec;
  const std::string id(c.layout.variant->id);
  const std::string params = print_count(c.winner.cost.params.total.value());
  doc.front_matter(
      {{{"name", "skill-mha-configurator"},
        {"description",
         fmt::format("Attention head layout for a decoder of {} parameters at {} on {}: {}. Read it before "
                     "choosing n_heads, n_kv_heads, d_head or the projection variant of such a model.",
                     params, tokens(r.workload.n_ctx), r.target.name, layout_label(c.layout, c.winner.notation))},
        {"version", std::string(kVersion)}},
       {"transformer", "attention", id, "kv-cache", "head-layout", r.target.id}});
  doc.heading(1, "Attention head layout: " + literal(layout_label(c.layout, c.winner.notation)));
  doc.paragraph(fmt::format(
      "For a decoder-only transformer of **{} parameters** (d_model {}, {} layers, d_ff {}, vocabulary {}, {} "
      "embeddings) at "
      "**{}**, batch {}, weights in {}, KV cache in {}, on {} {} ({}), priority {}.",
      params_both(c.winner.cost.params.total), print_grouped(c.winner.shape.d_model),
      print_grouped(c.winner.shape.n_layers), print_grouped(c.winner.shape.d_ff),
      print_grouped(c.winner.shape.vocab_size), c.winner.shape.tied_embeddings ? "tied" : "untied",
      tokens(r.workload.n_ctx), print_grouped(r.workload.batch), r.workload.weights->id, literal(c.winner.kv_format),
      print_grouped(r.workload.tensor_parallel), literal(r.target.name), literal(r.target.id), literal(r.priority.id)));
  if (!r.warnings.empty()) {
    doc.paragraph(
        fmt::format("{}: see Warnings.", counted(static_cast<std::int64_t>(r.warnings.size()), "warning", "warnings")));
  }
}

}  // namespace

Document build_report(const Recommendation& recommendation, const WriterOptions& options) {
  const Candidate& winner = recommendation.winner();
  const ReportContext context{recommendation, options, winner, winner.layout,
                              lower(winner.layout, winner.shape.d_model)};
  Document doc;
  add_head(doc, context);
  int number = 0;
  for (const Section& section : kSections) {
    if (section.wanted != nullptr && !section.wanted(recommendation)) continue;
    doc.heading(2, fmt::format("{}. {}", ++number, section.title));
    section.add(doc, context);
  }
  return doc;
}

}  // namespace mha::report
