// How far to trust the page: deployment rules, constraints, the run of the counting kernel, assumptions, sources.
#include <algorithm>
#include <fmt/format.h>

#include "mha/quantity.hpp"
#include "mha/version.hpp"

#include "report/figures.hpp"
#include "report/induction.hpp"
#include "report/initialisation.hpp"
#include "report/sections/sections.hpp"

namespace mha::report {

void add_deployment(Document& doc, const ReportContext& c) {
  Table ranks{{{"Tensor parallel", Align::right},
               {"Legal"},
               {"KV heads per device", Align::right},
               {"Copies of each", Align::right},
               {"KV per token per device", Align::right},
               {"Why not"}},
              {}};
  for (const TensorParallelRow& row : c.rec.tensor_parallel) {
    ranks.rows.push_back({print_grouped(row.degree), row.legal ? "yes" : "no",
                          row.legal ? print_grouped(row.kv_heads_per_rank) : "-",
                          row.legal ? print_grouped(row.replication) : "-",
                          row.legal ? print_bytes(row.kv_per_token_per_rank) : "-", literal(row.why)});
  }
  if (!ranks.rows.empty()) doc.table(std::move(ranks));
  Table kernels{{{"Runtime kernel"}, {"Takes the layout"}, {"Remark"}}, {}};
  for (const KernelRow& row : c.rec.kernels) {
    kernels.rows.push_back({literal(row.kernel), row.supported ? "yes" : "no", literal(row.why)});
  }
  if (kernels.rows.empty()) {
    doc.paragraph(fmt::format("No attention kernel is on file for {}.", literal(c.rec.target.id)));
  } else {
    doc.table(std::move(kernels));
  }
}

void add_constraints(Document& doc, const ReportContext& c) {
  const SearchCounts& n = c.rec.counts;
  doc.paragraph(
      fmt::format("{} layouts enumerated; {} rejected, {} feasible, {} within the slack, {} on the Pareto front.",
                  print_grouped(n.enumerated), print_grouped(n.rejected), print_grouped(n.feasible),
                  print_grouped(n.within_slack), print_grouped(n.pareto)));
  Table verdicts{{{"Rule"}, {"Kind"}, {"Recommendation"}, {"Margin"}, {"Verdict"}}, {}};
  for (const Verdict& verdict : c.rec.ranked.front().verdicts) {
    verdicts.rows.push_back({fmt::format("`{}`", verdict.rule), verdict.reject ? "reject" : "warn",
                             verdict.met ? "met" : "**missed**", literal(verdict.margin), literal(verdict.why)});
  }
  if (!verdicts.rows.empty()) doc.table(std::move(verdicts));
  if (c.rec.rejected.empty()) {
    doc.paragraph("No rule rejected a layout.");
    return;
  }
  Table rejected{{{"Rule"}, {"Layouts rejected", Align::right}, {"Example"}, {"Its verdict"}}, {}};
  for (const RejectedRule& rule : c.rec.rejected) {
    rejected.rows.push_back(
        {fmt::format("`{}`", rule.rule), print_grouped(rule.count), literal(rule.example), literal(rule.why)});
  }
  doc.table(std::move(rejected));
}

void add_validation(Document& doc, const ReportContext& c) {
  const std::optional<Validation>& validation = c.rec.validation;
  if (!validation) {
    doc.paragraph("**Not run.** Add `--validate` to run the counting reference kernel on this layout.");
    return;
  }
  doc.paragraph(
      fmt::format("**{}.** The reference kernel (float64, written from the definition of attention) ran one layer of "
                  "this layout and counted "
                  "every multiply-add, weight and cached element. n_heads, n_kv_heads, head widths and ranks are the "
                  "real ones; it ran {} "
                  "at d_model {}{}. Counts must be equal, without tolerance.",
                  std::string_view(validation_status(validation)) == "exact" ? "Exact" : "Mismatch",
                  tokens(validation->n_tokens), print_grouped(validation->d_model),
                  validation->d_model == validation->full_d_model
                      ? std::string(", the request's")
                      : fmt::format(" (the request's is {}; reduced to keep the run short)",
                                    print_grouped(validation->full_d_model))));
  Table counts{{{"Quantity"}, {"Analytic", Align::right}, {"Counted", Align::right}, {"Verdict"}}, {}};
  for (const ValidationRow& row : validation->rows) {
    counts.rows.push_back({literal(row.quantity), print_grouped(row.analytic), print_grouped(row.counted),
                           row.exact() ? "equal" : "**differs**"});
  }
  doc.table(std::move(counts));
  if (validation->tolerances.empty()) return;
  doc.paragraph(
      "Outputs that must agree (unitless), each element within its own bound from the sum of absolute products:");
  Table bounds{{{"Results compared"},
                {"Largest difference", Align::right},
                {"Bound", Align::right},
                {"Largest difference / bound", Align::right},
                {"Verdict"}},
               {}};
  for (const ToleranceRow& row : validation->tolerances) {
    bounds.rows.push_back({literal(row.quantity), scientific(row.max_abs), scientific(row.bound),
                           scientific(row.difference), row.within() ? "within" : "**outside**"});
  }
  doc.table(std::move(bounds));
}

void add_assumptions(Document& doc, const ReportContext& c) {
  doc.bullets({
      "Work: matrix products only, 2 FLOP a multiply-add. Softmax, norms, biases, activations, rotary embedding and "
      "sampling are "
      "not counted. Each FLOP figure names its convention.",
      "KV cache: payload, what the layout needs. Pages, padding and full-length windows that a runtime reserves come "
      "on top.",
      "Memory per device: weights, the cache of the batch and the target's reserve. Activations, gradients and "
      "optimizer state "
      "are not in it.",
      "Time: roofline bound of a step; each byte moves once. Tensor-parallel communication, kernel launches, "
      "scheduling and "
      "overlap are not in it.",
      "Tensor parallelism: the most loaded device counts. KV heads split down to one and then replicate; a latent is "
      "replicated.",
      "Comparison: every layout has the same parameters in total within one step of d_ff; what it saves in K and V "
      "goes to d_ff.",
      fmt::format("Quality: a prior fitted to published ablations, preset {}; differences below {} nats cannot be told "
                  "apart. It "
                  "is never added to cost.",
                  literal(c.rec.preset.id), print_fixed(c.rec.preset.noise_band, 3)),
      "Units: KiB, MiB and GiB are powers of 1,024; K, M, B, GB/s and TFLOP are powers of 1,000; lengths are tokens, "
      "and 32k is "
      "32,768. Times are seconds.",
  });
}

void add_sources(Document& doc, const ReportContext& c) {
  std::vector<std::string> items;
  const auto add = [&items](const std::vector<Source>& sources) {
    for (const Source& source : sources) {
      std::string item = literal(dated(source));
      if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(std::move(item));
    }
  };
  add(c.rec.sources);
  add(initialisation_sources());
  add(induction_sources());
  doc.bullets(std::move(items));
}

void add_reproduce(Document& doc, const ReportContext& c) {
  // The picture lies beside the page under the page's own name, so its name tells the page's.
  const std::string& picture = c.options.svg_name;
  const std::string page = picture.empty() ? "-" : picture.substr(0, picture.rfind('.')) + ".md";
  doc.code("sh", reproduce_command(c.rec.request) + " --out md:" + page + "\n");
  doc.paragraph(
      fmt::format("Written by {} {}. The same request, rules and version give the same bytes.", kToolName, kVersion));
}

}  // namespace mha::report
