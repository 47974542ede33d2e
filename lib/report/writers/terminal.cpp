// The short answer for a terminal, and the plain-text form of any document.
#include <algorithm>
#include <fmt/format.h>

#include "mha/quantity.hpp"

#include "report/figures.hpp"
#include "report/plot.hpp"
#include "report/sections/sections.hpp"
#include "report/writers/writers.hpp"

namespace mha::report {
namespace {

constexpr std::size_t kListed = 6;  // layouts shown
constexpr std::size_t kLineWidth = 100;

// SGR codes; empty strings when colour is off.
struct Paint {
  bool on = false;
  [[nodiscard]] std::string bold(const std::string& text) const { return on ? "\x1b[1m" + text + "\x1b[0m" : text; }
};

std::string clean(std::string_view inline_text) {
  std::string out = plain(inline_text);
  // A terminal obeys control characters; no text from outside may carry one.
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return out;
}

// Lines of at most kLineWidth where words allow; `indent` starts the second and later lines.
std::string wrap(std::string_view text, std::string_view indent) {
  std::string out;
  std::size_t column = indent.size();
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view word = text.substr(start, end - start);
    if (column > indent.size() && column + 1 + text_width(word) > kLineWidth) {
      out += "\n" + std::string(indent);
      column = indent.size();
    } else if (start > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += text_width(word);
    start = end + 1;
  }
  return out;
}

void write_block(std::string&, const FrontMatter&, Paint) {}  // for files, not for screens

void write_block(std::string& out, const Heading& block, Paint paint) {
  out += paint.bold(clean(block.text)) + "\n";
}

void write_block(std::string& out, const Paragraph& block, Paint) {
  out += wrap(clean(block.text), "") + "\n";
}

void write_block(std::string& out, const BulletList& block, Paint) {
  for (const std::string& item : block.items) out += "  - " + wrap(clean(item), "    ") + "\n";
}

void write_block(std::string& out, const Table& block, Paint paint) {
  std::vector<std::size_t> widths(block.columns.size(), 0);
  bool titled = false;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    widths[i] = text_width(block.columns[i].title);
    titled = titled || widths[i] > 0;
  }
  for (const auto& row : block.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], text_width(clean(row[i])));
  }
  const auto line = [&](const auto& text_of) {
    std::string text;
    for (std::size_t i = 0; i < widths.size(); ++i) text += "  " + pad(text_of(i), widths[i], block.columns[i].align);
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  if (titled) out += paint.bold(line([&](std::size_t i) { return block.columns[i].title; })) + "\n";
  for (const auto& row : block.rows) out += line([&](std::size_t i) { return clean(row[i]); }) + "\n";
}

void write_block(std::string& out, const CodeBlock& block, Paint) {
  std::size_t start = 0;
  while (start < block.text.size()) {
    const std::size_t end = std::min(block.text.find('\n', start), block.text.size());
    out += "  " + block.text.substr(start, end - start) + "\n";
    start = end + 1;
  }
}

void add_summary(Document& doc, const Recommendation& r) {
  const Candidate& winner = r.winner();
  const Layout& l = winner.layout;
  const CacheSize& cache = winner.cost.cache;
  doc.heading(1, literal(layout_label(l, winner.notation)));
  doc.paragraph(fmt::format("{}: {}", variant_label(l), literal(sentence(r.reason))));
  Table t{{{""}, {""}}, {}};
  const auto row = [&t](const char* name, std::string value) { t.rows.push_back({name, std::move(value)}); };
  row("layout", widths(l));
  row("model",
      fmt::format("{} parameters: d_model {}, {} layers, d_ff {}, vocabulary {}", params_both(winner.cost.params.total),
                  print_grouped(winner.shape.d_model), print_grouped(winner.shape.n_layers),
                  print_grouped(winner.shape.d_ff), print_grouped(winner.shape.vocab_size)));
  row("KV cache", fmt::format("{} per token ({} per layer), {}", print_bytes(cache.per_token),
                              print_bytes(cache.per_token_per_layer), literal(winner.kv_format)));
  row("", fmt::format("{} per sequence of {}", bytes_both(cache.per_sequence), tokens(r.workload.n_ctx)));
  row("", fmt::format("{} for {}", bytes_both(cache.batch), counted(r.workload.batch, "sequence", "sequences")));
  row("decode", fmt::format("{} a step of {} (roofline)", seconds_range(winner.cost.decode),
                            counted(r.workload.batch, "sequence", "sequences")));
  row("prefill", fmt::format("{} a sequence (roofline), {} causal", seconds_range(winner.cost.prefill),
                             print_flops(winner.cost.flops_causal.prefill)));
  row("quality",
      fmt::format("{} predicted ({} to {} over presets); slack {}{}", nats(winner.loss.total()),
                  signed_fixed(winner.loss_low, 4), signed_fixed(winner.loss_high, 4), print_fixed(r.quality_slack, 4),
                  r.slack_relaxed_by > 0 ? ", relaxed by " + print_fixed(r.slack_relaxed_by, 4) : ""));
  row("validation",
      r.validation ? std::string(validation_status(r.validation)) : std::string("not run (add --validate)"));
  doc.table(std::move(t));
  doc.paragraph(literal(memory_statement(r).text));
}

void add_ranking(Document& doc, const Recommendation& r) {
  Table t{{{"Rank", Align::right},
           {"Layout"},
           {"Variant"},
           {"KV per sequence", Align::right},
           {"Decode step", Align::right},
           {"Loss, nats", Align::right},
           {""}},
          {}};
  for (std::size_t i = 0; i < std::min(kListed, r.ranked.size()); ++i) {
    const Ranked& entry = r.ranked[i];
    const Candidate& candidate = entry.candidate;
    t.rows.push_back({std::to_string(entry.rank), literal(candidate.notation), variant_label(candidate.layout),
                      print_bytes(candidate.cost.cache.per_sequence), print_seconds(candidate.cost.decode.bound_s),
                      signed_fixed(candidate.loss.total(), 4),
                      i > 0 && entry.tie_class == r.ranked.front().tie_class ? "tie" : ""});
  }
  doc.heading(2, fmt::format("First {} of {} layouts", t.rows.size(), print_grouped(r.ranked_total)));
  doc.table(std::move(t));
}

}  // namespace

std::string terminal(const Document& document, bool colour) {
  std::string out;
  for (const Block& block : document.blocks) {
    if (!out.empty()) out += "\n";
    std::visit([&](const auto& b) { write_block(out, b, Paint{colour}); }, block);
  }
  return out;
}

std::string write_terminal(const Recommendation& recommendation, const WriterOptions& options) {
  Document doc;
  add_summary(doc, recommendation);
  add_ranking(doc, recommendation);
  doc.code("text", plot(recommendation.pareto, {72, 10}));
  if (!recommendation.warnings.empty()) {
    std::vector<std::string> items;
    for (const Warning& warning : recommendation.warnings) {
      items.push_back(fmt::format("{}: {}", literal(warning.code), literal(warning.message)));
    }
    doc.heading(2, "Warnings");
    doc.bullets(std::move(items));
  }
  doc.code("sh", reproduce_command(recommendation.request) + "\n");
  return terminal(doc, options.colour);
}

}  // namespace mha::report
