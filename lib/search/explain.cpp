// Every figure as formula, numbers filled in, value. The rows are folds over the same plan as the figures; the property
// tests check that the parts add up to the totals.
#include "mha/explain.hpp"

#include "mha/quantity.hpp"

namespace mha {
namespace {

class Rows {
 public:
  explicit Rows(std::string group) : group_(std::move(group)) {}
  void add(std::vector<ExplainRow>& out, std::string figure, std::string formula, std::string substituted,
           std::string value, std::string source = "") const {
    out.push_back(
        {group_, std::move(figure), std::move(formula), std::move(substituted), std::move(value), std::move(source)});
  }

 private:
  std::string group_;
};

std::string n(i128 value) {
  return to_decimal(value);
}
std::string params(i128 value) {
  return print_grouped(value) + " parameters";
}
std::string bytes(Bytes value) {
  return print_grouped(value.value()) + " B (" + print_bytes(value) + ")";
}
std::string flops(Flops value) {
  return print_grouped(value.value()) + " FLOP (" + print_flops(value) + ")";
}
std::string macs(i128 value) {
  return print_grouped(value) + " multiply-adds";
}
std::string nats(double value) {
  return print_fixed(value, 4) + " nats";
}

void explain_params(const Candidate& c, const AttentionPlan& plan, std::vector<ExplainRow>& out) {
  const Rows rows("Parameters");
  const ModelShape& s = c.shape;
  const ParamCount& p = c.cost.params;
  rows.add(out, "embedding", "vocab_size * d_model", n(s.vocab_size) + " * " + n(s.d_model),
           params(p.embedding.value()));
  rows.add(out, "output head", s.tied_embeddings ? "tied to the embedding" : "vocab_size * d_model",
           s.tied_embeddings ? "0" : n(s.vocab_size) + " * " + n(s.d_model), params(p.lm_head.value()));
  for (const WeightMatrix& m : plan.matrices) {
    const std::string bias = m.bias ? " + " + std::string(m.cols_formula) : "";
    rows.add(out, std::string(m.name) + ", one layer",
             std::string(m.rows_formula) + " * (" + std::string(m.cols_formula) + ")" + bias,
             n(m.rows) + " * " + n(m.cols) + (m.bias ? " + " + n(m.cols) : ""),
             params(i128{m.rows} * m.cols + (m.bias ? m.cols : 0)));
  }
  for (const NormVector& v : plan.norms)
    rows.add(out, std::string(v.name) + ", one layer", std::string(v.formula), n(v.elements), params(v.elements));
  rows.add(out, "attention, all layers", "n_layers * (sum of the above)",
           n(s.n_layers) + " * " + n(p.attention_per_layer.value()), params(p.attention.value()));
  rows.add(out, "feed-forward, all layers",
           std::string("n_layers * ") + (s.gated_ffn ? "3" : "2") + " * d_model * d_ff",
           n(s.n_layers) + " * " + (s.gated_ffn ? "3" : "2") + " * " + n(s.d_model) + " * " + n(s.d_ff),
           params(p.ffn.value()));
  rows.add(out, "norms", std::string("(2 * n_layers + 1) * ") + (s.norm == NormKind::rms ? "d_model" : "2 * d_model"),
           "(2 * " + n(s.n_layers) + " + 1) * " + (s.norm == NormKind::rms ? "" : "2 * ") + n(s.d_model),
           params(p.norms.value()));
  rows.add(out, "whole model", "embedding + head + attention + feed-forward + norms",
           n(p.embedding.value()) + " + " + n(p.lm_head.value()) + " + " + n(p.attention.value()) + " + " +
               n(p.ffn.value()) + " + " + n(p.norms.value()),
           params(p.total.value()));
}

void explain_cache(const Candidate& c, const AttentionPlan& plan, const Workload& w, std::vector<ExplainRow>& out) {
  const Rows rows("KV cache");
  const CacheSize& size = c.cost.cache;
  for (const CacheEntry& entry : plan.cache) {
    const StorageFormat& format = entry.part == KvPart::key ? *c.formats.key : *c.formats.value;
    const i128 blocks = (entry.row_elements + format.block_elements - 1) / format.block_elements;
    rows.add(out, std::string(entry.name) + ", one token, one layer",
             "rows * ceil(row / block) * block_bytes; elements = " + std::string(entry.formula),
             n(entry.n_rows) + " * " + n(blocks) + " * " + n(format.block_bytes),
             bytes(format.row_bytes(entry.row_elements) * entry.n_rows),
             std::string(format.id) + ": " + std::string(format.source));
  }
  rows.add(out, "one token", "n_layers * (sum of the above)",
           n(c.shape.n_layers) + " * " + n(size.per_token_per_layer.value()), bytes(size.per_token));
  rows.add(out, "one sequence", "n_ctx * one token", n(w.n_ctx) + " * " + n(size.per_token.value()),
           bytes(size.per_sequence));
  rows.add(out, "the batch", "batch * one sequence", n(w.batch) + " * " + n(size.per_sequence.value()),
           bytes(size.batch));
  rows.add(out, "the batch, one device",
           "batch * n_ctx * (one token on the most loaded of " + n(w.tensor_parallel) + ")",
           n(w.batch) + " * " + n(w.n_ctx) + " * " + n(size.per_rank_per_token.value()), bytes(size.per_rank_batch));
}

void explain_work(const Candidate& c, const AttentionPlan& plan, const std::string& group, Step step,
                  std::size_t path_index, Flops total, std::vector<ExplainRow>& out) {
  const Rows rows(group);
  const ComputePath& path = plan.paths[path_index];
  const i128 n_pairs = pairs(step, FlopConvention::causal), context = i128{step.n_past} + step.n_new;
  rows.add(out, "pairs", "n_new * n_past + n_new * (n_new + 1) / 2",
           n(step.n_new) + " * " + n(step.n_past) + " + " + n(step.n_new) + " * " + n(i128{step.n_new} + 1) + " / 2",
           print_grouped(n_pairs) + " (query, key) pairs");
  for (const MacTerm& term : path.terms) {
    const i128 times = term.per == MacPer::new_token       ? i128{step.n_new}
                       : term.per == MacPer::context_token ? context
                                                           : n_pairs;
    const char* per = term.per == MacPer::new_token       ? "n_new * "
                      : term.per == MacPer::context_token ? "(n_past + n_new) * "
                                                          : "pairs * ";
    rows.add(out, std::string(term.name) + " (" + std::string(path.name) + "), one layer",
             per + ("(" + std::string(term.formula) + ")"), n(times) + " * " + n(term.macs), macs(times * term.macs));
  }
  const i128 attention = attention_macs(path, step, FlopConvention::causal).value();
  rows.add(out, "attention, all layers", "n_layers * (sum of the above)", n(c.shape.n_layers) + " * " + n(attention),
           macs(attention * c.shape.n_layers));
  rows.add(out, "feed-forward, all layers",
           std::string("n_new * n_layers * ") + (c.shape.gated_ffn ? "3" : "2") + " * d_model * d_ff",
           n(step.n_new) + " * " + n(c.shape.n_layers) + " * " + n(ffn_macs_per_token(c.shape).value()),
           macs(ffn_macs_per_token(c.shape).value() * c.shape.n_layers * step.n_new));
  rows.add(out, "output head", "n_new * vocab_size * d_model",
           n(step.n_new) + " * " + n(lm_head_macs_per_token(c.shape).value()),
           macs(lm_head_macs_per_token(c.shape).value() * step.n_new));
  rows.add(out, "whole model, causal triangle", "2 * (attention + feed-forward + head)", "2 * " + n(total.value() / 2),
           flops(total));
}

void explain_time(const std::string& group, const StepTime& time, const Workload& w, const Target& target,
                  double efficiency, const Source& efficiency_source, std::vector<ExplainRow>& out) {
  const Rows rows(group);
  const Bytes cache = time.traffic.cache_read + time.traffic.cache_write + time.traffic.scratch;
  const std::string bandwidth = print_fixed(target.bandwidth_per_s.value / 1e9, 1) + " GB/s";
  const std::string peak = print_fixed(*target.peak(w.weights->compute_peak) / 1e12, 3) + " TFLOP/s";
  rows.add(out, "weights read", "each matrix once", n(time.traffic.weights.value()), bytes(time.traffic.weights));
  rows.add(out, "cache moved", "read + written + scratch",
           n(time.traffic.cache_read.value()) + " + " + n(time.traffic.cache_write.value()) + " + " +
               n(time.traffic.scratch.value()),
           bytes(cache));
  rows.add(out, "products over weights", "max(bytes / bandwidth, FLOP / peak)",
           "bandwidth " + bandwidth + ", peak " + peak, print_seconds(time.weights_s),
           target.bandwidth_per_s.source.text);
  rows.add(out, "attention over the cache", "max(bytes / bandwidth, FLOP / peak)",
           "bandwidth " + bandwidth + ", peak " + peak, print_seconds(time.attention_s),
           target.peaks_per_s.at(std::string(w.weights->compute_peak)).source.text);
  rows.add(out, "bound", "products + attention",
           print_seconds(time.weights_s) + " + " + print_seconds(time.attention_s), print_seconds(time.bound_s));
  rows.add(out, "high", "bound / low measured efficiency",
           print_seconds(time.bound_s) + " / " + print_fixed(efficiency, 2), print_seconds(time.high_s),
           efficiency_source.text);
}

void explain_quality(const Candidate& c, const AttentionPlan& plan, const QualityPreset& preset,
                     std::vector<ExplainRow>& out) {
  const Rows rows("Quality (" + preset.id + " preset)");
  const std::string d = n(c.shape.d_model), slope = "(N / 1e9)^" + print_fixed(preset.size_exponent, 1);
  rows.add(out, "parameter difference", "A / N^alpha - A / N_ref^alpha",
           "A " + print_fixed(preset.param_a, 1) + ", alpha " + print_fixed(preset.param_alpha, 3), nats(c.loss.params),
           preset.source.text);
  rows.add(out, "attention width", "-s_a log2 min(a/d, 1) - s_b log2 clip(a/d, 1, 2), times " + slope,
           "a " + n(plan.attention_width) + ", d " + d + ", s_a " + print_fixed(preset.s_a, 3) + ", s_b " +
               print_fixed(preset.s_b, 3),
           nats(c.loss.attention_width), preset.source.text);
  if (c.layout.variant->latent)
    rows.add(out, "latent width",
             std::string("s_w log2(max(1, ratio * d_nope ") + (c.layout.n_latents > 2 ? "* n_latents / 2 " : "") +
                 "/ d_kv_latent)), times " + slope,
             "ratio " + n(preset.latent_full_ratio) + ", d_nope " + n(c.layout.d_nope) +
                 (c.layout.n_latents > 2 ? ", n_latents " + n(c.layout.n_latents) : "") + ", d_kv_latent " +
                 n(c.layout.d_kv_latent),
             nats(c.loss.kv_width), preset.source.text);
  else
    rows.add(out, "KV width", "s_w log2(d / w), times " + slope,
             "d " + d + ", w " + n(plan.kv_width) + ", s_w " + print_fixed(preset.s_w, 3), nats(c.loss.kv_width),
             preset.source.text);
  rows.add(out, "variant", "offset against parameter-matched MHA", std::string(c.layout.variant->id),
           nats(c.loss.variant), preset.source.text);
  rows.add(out, "guards", "narrow KV, small heads, one or two heads",
           "d_head " + n(c.layout.d_head) + ", n_heads " + n(c.layout.n_heads), nats(c.loss.guards),
           preset.source.text);
  rows.add(out, "predicted loss difference", "sum of the above",
           "low " + nats(c.loss_low) + ", high " + nats(c.loss_high), nats(c.loss.total()));
}

}  // namespace

std::vector<ExplainRow> explain(const Candidate& candidate, const Workload& workload, const Target& target,
                                const QualityPreset& preset) {
  std::vector<ExplainRow> rows;
  const AttentionPlan plan = lower(candidate.layout, candidate.shape.d_model);
  const Cost& cost = candidate.cost;
  explain_params(candidate, plan, rows);
  explain_cache(candidate, plan, workload, rows);
  explain_work(candidate, plan, "FLOPs, prefill of one prompt", {0, workload.n_ctx}, cost.prefill.path,
               cost.flops_causal.prefill, rows);
  explain_work(candidate, plan, "FLOPs, one decoded token", {workload.n_ctx - 1, 1}, cost.decode.path,
               cost.flops_causal.decode_per_token, rows);
  const Rows training("FLOPs, training");
  training.add(rows, "one token, causal triangle", "ceil(3 * prefill / n_ctx)",
               "3 * " + n(cost.flops_causal.prefill.value()) + " / " + n(workload.n_ctx),
               flops(cost.flops_causal.training_per_token));
  const Rows full("FLOPs, full square");
  full.add(rows, "prefill", "as above with n_new * (n_past + n_new) pairs",
           n(pairs({0, workload.n_ctx}, FlopConvention::full)) + " pairs", flops(cost.flops_full.prefill));
  full.add(rows, "one decoded token", "the same as causal: one query sees all keys", n(workload.n_ctx) + " pairs",
           flops(cost.flops_full.decode_per_token));
  full.add(rows, "training, one token", "ceil(3 * prefill / n_ctx)",
           "3 * " + n(cost.flops_full.prefill.value()) + " / " + n(workload.n_ctx),
           flops(cost.flops_full.training_per_token));
  explain_time("Time, prefill of one prompt, one device", cost.prefill, workload, target,
               target.prefill_efficiency_low.value, target.prefill_efficiency_low.source, rows);
  explain_time("Time, one decode step of the batch, one device", cost.decode, workload, target,
               target.decode_efficiency_low.value, target.decode_efficiency_low.source, rows);
  explain_quality(candidate, plan, preset, rows);
  return rows;
}

}  // namespace mha
