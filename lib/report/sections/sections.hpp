// What each section of the report says. Each function appends its blocks, without the section's heading.
#pragma once

#include "mha/report.hpp"

#include "report/document.hpp"

namespace mha::report {

// What every section reads: the recommendation, and the plan of its winner lowered once.
struct ReportContext {
  const Recommendation& rec;
  const WriterOptions& options;
  const Candidate& winner;
  const Layout& layout;
  AttentionPlan plan;
};

void add_projection(Document& doc, const ReportContext& c);
void add_geometry(Document& doc, const ReportContext& c);
void add_cache(Document& doc, const ReportContext& c);
void add_initialisation(Document& doc, const ReportContext& c);
void add_induction(Document& doc, const ReportContext& c);
void add_warnings(Document& doc, const ReportContext& c);
void add_alternatives(Document& doc, const ReportContext& c);
void add_pareto(Document& doc, const ReportContext& c);
void add_sensitivity(Document& doc, const ReportContext& c);
void add_deployment(Document& doc, const ReportContext& c);
void add_parameters(Document& doc, const ReportContext& c);
void add_flops(Document& doc, const ReportContext& c);
void add_time(Document& doc, const ReportContext& c);
void add_constraints(Document& doc, const ReportContext& c);
void add_validation(Document& doc, const ReportContext& c);
void add_assumptions(Document& doc, const ReportContext& c);
void add_sources(Document& doc, const ReportContext& c);
void add_reproduce(Document& doc, const ReportContext& c);

// One sentence on whether a batch fits a device's memory; used by the terminal answer as well. `fits` is false when the
// cache, or weights + cache + reserve, exceed it.
struct MemoryStatement {
  bool fits = true;
  std::string text;
};
[[nodiscard]] MemoryStatement memory_statement(const Recommendation& recommendation);

}  // namespace mha::report
