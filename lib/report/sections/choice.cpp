// Why this layout and not another: warnings, ranked alternatives, ties, the Pareto plot, and what would change the answer.
#include <fmt/format.h>

#include "mha/quantity.hpp"

#include "report/figures.hpp"
#include "report/plot.hpp"
#include "report/sections/sections.hpp"

namespace mha::report {
namespace {

std::string strong_if(bool strong, const std::string& text) {
  return strong ? "**" + text + "**" : text;
}

std::string slack(double value) {
  return print_fixed(value, 4) + " nats";
}  // an amount, so without a sign

}  // namespace

void add_warnings(Document& doc, const ReportContext& c) {
  std::vector<std::string> items;
  for (const Warning& warning : c.rec.warnings) {
    items.push_back(fmt::format("`{}`: {}", warning.code, literal(warning.message)));
  }
  doc.bullets(std::move(items));
}

void add_alternatives(Document& doc, const ReportContext& c) {
  const Recommendation& r = c.rec;
  doc.paragraph(fmt::format(
      "Rule: the cheapest layout whose predicted loss, at equal parameters, stays within {} of the best layout's. Cost "
      "is {}. "
      "The first {} of {} ranked layouts:",
      slack(r.quality_slack), literal(r.priority.objective), r.ranked.size(), print_grouped(r.ranked_total)));
  Table t{{{"Rank", Align::right},
           {"Layout"},
           {"Variant"},
           {"KV dtype"},
           {"KV per token", Align::right},
           {"KV per sequence", Align::right},
           {"Decode step, low to high", Align::right},
           {"Loss difference, nats", Align::right},
           {"over presets, nats", Align::right},
           {"d_ff", Align::right},
           {"Tie class", Align::right}},
          {}};
  std::vector<std::string> reasons;
  for (const Ranked& entry : r.ranked) {
    const Candidate& candidate = entry.candidate;
    const bool first = entry.rank == 1;
    t.rows.push_back({std::to_string(entry.rank), strong_if(first, literal(candidate.notation)),
                      variant_label(candidate.layout), literal(candidate.kv_format),
                      print_bytes(candidate.cost.cache.per_token), print_bytes(candidate.cost.cache.per_sequence),
                      seconds_range(candidate.cost.decode), signed_fixed(candidate.loss.total(), 4),
                      signed_fixed(candidate.loss_low, 4) + " to " + signed_fixed(candidate.loss_high, 4),
                      print_grouped(candidate.shape.d_ff), std::to_string(entry.tie_class)});
    if (!first) {
      reasons.push_back(fmt::format("**{}. {}** {}", entry.rank, literal(candidate.notation), literal(entry.why_not)));
    }
  }
  doc.table(std::move(t));
  if (reasons.empty()) {
    doc.paragraph("No other layout satisfies the request.");
  } else {
    doc.heading(3, "Why each lost");
    doc.bullets(std::move(reasons));
  }

  doc.heading(3, "Ties and tie-breaks");
  const std::vector<int> ties = tied_ranks(r);
  if (ties.empty()) {
    doc.paragraph("No other layout ties with the recommendation.");
    return;
  }
  std::string names;
  for (const Ranked& entry : r.ranked) {
    if (entry.rank != 1 && entry.tie_class == r.ranked.front().tie_class) {
      names += (names.empty() ? "" : ", ") + literal(entry.candidate.notation);
    }
  }
  doc.paragraph(
      fmt::format("Cost and prior cannot tell these from the recommendation: {}. Tie-breaks, in order:", names));
  std::vector<std::string> rules;
  for (const std::string& rule : r.tie_break_rules) rules.push_back(literal(rule));
  doc.bullets(std::move(rules));
  Table verdicts{{{"Layout"}, {"How the tie-breaks judge it"}}, {}};
  for (const Ranked& entry : r.ranked) {
    if (entry.tie_class != r.ranked.front().tie_class) continue;
    std::string text;
    for (const std::string& verdict : entry.tie_breaks) text += (text.empty() ? "" : "; ") + literal(verdict);
    verdicts.rows.push_back({strong_if(entry.rank == 1, literal(entry.candidate.notation)), text});
  }
  doc.table(std::move(verdicts));
}

void add_pareto(Document& doc, const ReportContext& c) {
  const Recommendation& r = c.rec;
  doc.paragraph(fmt::format(
      "Front over predicted loss (nats), decode step (s) and KV cache per sequence (bytes): {} of {} feasible "
      "layouts. The plot shows two of the three axes, so a front point may look dominated.{}",
      print_grouped(r.counts.pareto), print_grouped(r.counts.feasible),
      c.options.svg_name.empty() ? std::string() : fmt::format(" As a figure: [{0}]({0}).", c.options.svg_name)));
  doc.code("text", plot(r.pareto));
  Table t{{{"Front"},
           {"Variant"},
           {"Loss difference, nats", Align::right},
           {"KV per sequence", Align::right},
           {"Decode step, bound", Align::right},
           {"Layouts here", Align::right}},
          {}};
  for (const ParetoPoint& point : r.pareto) {
    if (!point.front && !point.recommended) continue;
    t.rows.push_back({strong_if(point.recommended, literal(point.notation)), literal(point.variant),
                      signed_fixed(point.loss, 4), print_bytes(point.kv_per_sequence), print_seconds(point.decode_s),
                      print_grouped(point.same)});
  }
  doc.table(std::move(t));
}

void add_sensitivity(Document& doc, const ReportContext& c) {
  const Recommendation& r = c.rec;
  std::vector<std::string> items;
  items.push_back(
      fmt::format("Quality slack: {} as applied. Best predicted loss is {} at {}; the recommendation is at {}, {} of "
                  "the slack used.",
                  slack(r.quality_slack), nats(r.best_loss), literal(r.best_notation), nats(c.winner.loss.total()),
                  slack(c.winner.loss.total() - r.best_loss)));
  if (r.slack_relaxed_by > 0) {
    items.push_back(
        fmt::format("**The slack was relaxed by {}**: nothing inside the slack of the priority satisfied the "
                    "request.",
                    slack(r.slack_relaxed_by)));
  }
  for (const Ranked& entry : r.ranked) {
    if (entry.tie_class == r.ranked.front().tie_class) continue;
    items.push_back(fmt::format("Nearest layout that is not a tie: {} (rank {}). {}", literal(entry.candidate.notation),
                                entry.rank, literal(entry.why_not)));
    break;
  }
  const LadderRow* fits_until = nullptr;
  const LadderRow* fails_at = nullptr;
  for (const LadderRow& row : r.ladder) {
    if (row.fits) fits_until = &row;
    if (!row.fits && fails_at == nullptr) fails_at = &row;
  }
  if (fails_at != nullptr) {
    items.push_back(fmt::format(
        "Context: at {} and batch {} the layout no longer fits {} ({} of cache per device){}.", tokens(fails_at->n_ctx),
        print_grouped(r.workload.batch), literal(r.target.name), print_bytes(fails_at->kv_batch_per_rank),
        fits_until != nullptr ? fmt::format("; at {} it does", tokens(fits_until->n_ctx)) : ""));
  } else if (fits_until != nullptr) {
    items.push_back(fmt::format("Context: the layout fits at every length of the table, up to {} at batch {}.",
                                tokens(fits_until->n_ctx), print_grouped(r.workload.batch)));
  }
  doc.bullets(std::move(items));

  if (r.preset_winners.empty()) return;
  doc.paragraph(fmt::format("Winner under each preset of the quality prior ({} decides):", literal(r.preset.id)));
  Table t{{{"Preset"}, {"Winner"}, {"Same as the recommendation"}}, {}};
  for (const PresetWinner& winner : r.preset_winners) {
    t.rows.push_back({literal(winner.preset), literal(winner.notation), winner.same ? "yes (same tie class)" : "no"});
  }
  doc.table(std::move(t));
}

}  // namespace mha::report
