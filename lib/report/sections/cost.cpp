// The cost breakdown: parameters per matrix, FLOPs in both conventions, traffic and the roofline bound.
#include <fmt/format.h>

#include "mha/quantity.hpp"

#include "report/figures.hpp"
#include "report/sections/sections.hpp"

namespace mha::report {
namespace {

std::string grouped(i128 value) {
  return print_grouped(value);
}

std::string flops_both(Flops value) {
  return grouped(value.value());
}

// Attention of all layers along one path, one sequence.
Flops path_flops(const ReportContext& c, const ComputePath& path, Step step) {
  return flops_of(attention_macs(path, step, FlopConvention::causal)) * i128{c.winner.shape.n_layers};
}

void add_paths(Document& doc, const ReportContext& c) {
  const std::int64_t n_ctx = c.rec.workload.n_ctx;
  const Step prefill{0, n_ctx};
  const Step decode{n_ctx - 1, 1};
  const std::size_t cheap_prefill = cheaper_path(c.plan, prefill, FlopConvention::causal);
  const std::size_t cheap_decode = cheaper_path(c.plan, decode, FlopConvention::causal);
  doc.heading(3, "Two ways to compute the same attention");
  doc.paragraph(
      "Attention of all layers, one sequence, causal convention. The cheaper way is taken in each phase (marked *).");
  Table t{{{"Path"},
           {"Prefill, FLOP", Align::right},
           {"Rounded", Align::right},
           {"Decode of one token, FLOP", Align::right},
           {"Rounded", Align::right}},
          {}};
  for (std::size_t i = 0; i < c.plan.paths.size(); ++i) {
    const Flops p = path_flops(c, c.plan.paths[i], prefill);
    const Flops d = path_flops(c, c.plan.paths[i], decode);
    t.rows.push_back({std::string(c.plan.paths[i].name), flops_both(p) + (i == cheap_prefill ? " \\*" : "  "),
                      print_flops(p), flops_both(d) + (i == cheap_decode ? " \\*" : "  "), print_flops(d)});
  }
  doc.table(std::move(t));
  const PathCrossover& x = c.rec.crossover;
  doc.bullets(
      {x.decode_context > 0 ? fmt::format("Decode: {} is cheaper from {} in the cache on.", c.plan.paths[1].name,
                                          tokens(x.decode_context))
                            : fmt::format("Decode: {} is never cheaper within the length limit.", c.plan.paths[1].name),
       x.chunk_tokens > 0
           ? fmt::format("Chunked prefill on a full cache: expanded is cheaper from {} a chunk on.",
                         tokens(x.chunk_tokens))
           : std::string("Chunked prefill on a full cache: expanded is never cheaper within the length limit.")});
}

void add_traffic_row(Table& t, const char* what, Bytes prefill, Bytes decode) {
  t.rows.push_back({what, exact_bytes(prefill), print_bytes(prefill), exact_bytes(decode), print_bytes(decode)});
}

const char* bound_by(const StepTime& time) {
  return time.memory_bound ? "memory bandwidth" : "arithmetic";
}

}  // namespace

void add_parameters(Document& doc, const ReportContext& c) {
  const ParamCount& params = c.winner.cost.params;
  const std::int64_t n_layers = c.winner.shape.n_layers;
  Table t{{{"Tensor"},
           {"Shape"},
           {"With the numbers"},
           {"Parameters per layer", Align::right},
           {"All layers", Align::right}},
          {}};
  for (const WeightMatrix& m : c.plan.matrices) {
    const i128 count = i128{m.rows} * m.cols + (m.bias ? m.cols : 0);
    t.rows.push_back({fmt::format("`W_{}`{}", m.name, m.bias ? " + bias" : ""),
                      fmt::format("{} x {}", m.rows_formula, m.cols_formula), fmt::format("{} x {}", m.rows, m.cols),
                      grouped(count), grouped(count * n_layers)});
  }
  for (const NormVector& norm : c.plan.norms) {
    t.rows.push_back({fmt::format("`{}`", norm.name), std::string(norm.formula), std::to_string(norm.elements),
                      grouped(norm.elements), grouped(i128{norm.elements} * n_layers)});
  }
  t.rows.push_back(
      {"**attention**", "", "", grouped(params.attention_per_layer.value()), grouped(params.attention.value())});
  t.rows.push_back(
      {"feed-forward", c.winner.shape.gated_ffn ? "3 x d_model x d_ff" : "2 x d_model x d_ff",
       fmt::format("{} x {} x {}", c.winner.shape.gated_ffn ? 3 : 2, c.winner.shape.d_model, c.winner.shape.d_ff),
       grouped(params.ffn.value() / n_layers), grouped(params.ffn.value())});
  t.rows.push_back({"residual norms, final norm", "", "", "", grouped(params.norms.value())});
  t.rows.push_back({"embedding", "vocab_size x d_model",
                    fmt::format("{} x {}", c.winner.shape.vocab_size, c.winner.shape.d_model), "",
                    grouped(params.embedding.value())});
  t.rows.push_back({"output head", c.winner.shape.tied_embeddings ? "tied to the embedding" : "d_model x vocab_size",
                    "", "", grouped(params.lm_head.value())});
  t.rows.push_back({"**total**", "", "", "", grouped(params.total.value())});
  doc.table(std::move(t));
  if (!c.rec.shape_note.empty()) doc.paragraph(literal(c.rec.shape_note));
  if (!c.rec.shape_row.id.empty()) {
    doc.paragraph(fmt::format("The shape starts from the production model {} ({}).", literal(c.rec.shape_row.id),
                              literal(dated(c.rec.shape_row.source))));
  }
}

void add_flops(Document& doc, const ReportContext& c) {
  const std::int64_t n_ctx = c.rec.workload.n_ctx;
  const FlopCount& causal = c.winner.cost.flops_causal;
  const FlopCount& full = c.winner.cost.flops_full;
  doc.paragraph(
      fmt::format("Whole model, one sequence; a multiply-add is 2 FLOP. *Causal* counts the (query, key) pairs that "
                  "the mask leaves, "
                  "n (n + 1) / 2 in prefill; *full* counts the square, n * n. Prefill is {} on an empty cache, decode "
                  "is one token with {} in "
                  "the cache.",
                  tokens(n_ctx), tokens(n_ctx - 1)));
  Table t{{{"Figure"},
           {"Causal, FLOP", Align::right},
           {"Rounded", Align::right},
           {"Full, FLOP", Align::right},
           {"Rounded", Align::right}},
          {}};
  const auto row = [&t](const char* name, Flops a, Flops b) {
    t.rows.push_back({name, flops_both(a), print_flops(a), flops_both(b), print_flops(b)});
  };
  row("prefill", causal.prefill, full.prefill);
  row("of which attention", causal.prefill_attention, full.prefill_attention);
  row("decode, per token", causal.decode_per_token, full.decode_per_token);
  row("of which attention", causal.decode_attention, full.decode_attention);
  row("training, per token (3 x prefill / n_ctx)", causal.training_per_token, full.training_per_token);
  doc.table(std::move(t));

  Table macs{{{"Multiply-adds of one layer"}, {"Path"}, {"Per"}, {"Formula"}, {"Count", Align::right}}, {}};
  for (const ComputePath& path : c.plan.paths) {
    for (const MacTerm& term : path.terms) {
      const char* per = term.per == MacPer::new_token       ? "new token"
                        : term.per == MacPer::context_token ? "token in the cache"
                                                            : "(query, key) pair";
      macs.rows.push_back(
          {std::string(term.name), std::string(path.name), per, std::string(term.formula), grouped(term.macs)});
    }
  }
  doc.table(std::move(macs));
  if (c.plan.paths.size() > 1) add_paths(doc, c);
}

void add_time(Document& doc, const ReportContext& c) {
  const StepTime& prefill = c.winner.cost.prefill;
  const StepTime& decode = c.winner.cost.decode;
  const Workload& w = c.rec.workload;
  doc.paragraph(
      fmt::format("Per step on {}. Prefill: one sequence of {}. Decode: one token for each of {} at "
                  "that context. *Low* is "
                  "the roofline bound, the larger of bytes / bandwidth and FLOPs / peak; *high* divides it by the "
                  "lowest measured efficiency "
                  "of the target ({} in prefill, {} in decode). No kernel beats *low*; nothing here is a measurement "
                  "of this layout.",
                  counted(w.tensor_parallel, "device", "devices"), tokens(w.n_ctx),
                  counted(w.batch, "sequence", "sequences"), print_fixed(c.rec.target.prefill_efficiency_low.value, 2),
                  print_fixed(c.rec.target.decode_efficiency_low.value, 2)));
  Table traffic{{{"Bytes moved"},
                 {"Prefill", Align::right},
                 {"Rounded", Align::right},
                 {"Decode", Align::right},
                 {"Rounded", Align::right}},
                {}};
  add_traffic_row(traffic, "weights, read", prefill.traffic.weights, decode.traffic.weights);
  add_traffic_row(traffic, "KV cache, read", prefill.traffic.cache_read, decode.traffic.cache_read);
  add_traffic_row(traffic, "KV cache, written", prefill.traffic.cache_write, decode.traffic.cache_write);
  if (prefill.traffic.scratch > Bytes() || decode.traffic.scratch > Bytes()) {
    add_traffic_row(traffic, "expanded K and V, written and read", prefill.traffic.scratch, decode.traffic.scratch);
  }
  add_traffic_row(traffic, "**total**", prefill.traffic.total(), decode.traffic.total());
  doc.table(std::move(traffic));

  Table t{{{"Time"}, {"Prefill", Align::right}, {"Decode step", Align::right}}, {}};
  const auto row = [&t](const char* name, std::string a, std::string b) {
    t.rows.push_back({name, std::move(a), std::move(b)});
  };
  row("FLOP, causal", grouped(prefill.flops.value()), grouped(decode.flops.value()));
  row("path", std::string(c.plan.paths[prefill.path].name), std::string(c.plan.paths[decode.path].name));
  row("weight products", print_seconds(prefill.weights_s), print_seconds(decode.weights_s));
  row("attention over the cache", print_seconds(prefill.attention_s), print_seconds(decode.attention_s));
  row("**low** (roofline bound)", print_seconds(prefill.bound_s), print_seconds(decode.bound_s));
  row("**high**", print_seconds(prefill.high_s), print_seconds(decode.high_s));
  row("bound by", bound_by(prefill), bound_by(decode));
  const auto rate = [](double n, double seconds) {
    return seconds > 0 ? print_grouped(static_cast<i128>(n / seconds)) + " tokens/s" : std::string("-");
  };
  row("at most", rate(static_cast<double>(w.n_ctx), prefill.bound_s),
      rate(static_cast<double>(w.batch), decode.bound_s));
  doc.table(std::move(t));

  Table device{{{"Target"}, {"Value", Align::right}, {"Source"}}, {}};
  const Target& target = c.rec.target;
  device.rows.push_back({"memory", bytes_both(target.memory.value), literal(dated(target.memory.source))});
  device.rows.push_back({"reserve", bytes_both(target.reserve.value), literal(dated(target.reserve.source))});
  device.rows.push_back({"bandwidth", print_fixed(target.bandwidth_per_s.value / 1e9, 1) + " GB/s",
                         literal(dated(target.bandwidth_per_s.source))});
  for (const auto& peak : target.peaks_per_s) {
    device.rows.push_back({"peak, dense " + peak.first, print_fixed(peak.second.value / 1e12, 2) + " TFLOP/s",
                           literal(dated(peak.second.source))});
  }
  device.rows.push_back({"prefill efficiency, lowest", print_fixed(target.prefill_efficiency_low.value, 2),
                         literal(dated(target.prefill_efficiency_low.source))});
  device.rows.push_back({"decode efficiency, lowest", print_fixed(target.decode_efficiency_low.value, 2),
                         literal(dated(target.decode_efficiency_low.source))});
  doc.table(std::move(device));
}

}  // namespace mha::report
