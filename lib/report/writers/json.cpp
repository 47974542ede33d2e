// Recommendation -> JSON, for programs: the same content as the Markdown report. Names and types are docs/json.md; they are
// added to and never renamed.
#include "mha/quantity.hpp"

#include "report/figures.hpp"
#include "report/induction.hpp"
#include "report/initialisation.hpp"
#include "report/json_parts.hpp"
#include "report/sections/sections.hpp"
#include "report/writers/writers.hpp"

namespace mha::report {
namespace {

void text_or_null(Json& json, const char* name, const std::string& value) {
  if (value.empty()) {
    json.null(name);
  } else {
    json.text(name, value);
  }
}

void texts(Json& json, const char* name, const std::vector<std::string>& values) {
  json.array(name, [&] {
    for (const std::string& value : values) json.item(value);
  });
}

void sources(Json& json, const char* name, const std::vector<Source>& values) {
  json.objects(name, values, [&](const Source& source) {
    json.text("text", source.text);
    text_or_null(json, "date", source.date);
  });
}

void request(Json& json, const Request& q) {
  json.object("request", [&] {
    json.integer_or_null("params", q.params);
    json.integer_or_null("d_model", q.d_model);
    json.integer_or_null("n_layers", q.n_layers);
    json.integer_or_null("d_ff", q.d_ff);
    json.integer_or_null("vocab_size", q.vocab_size);
    if (q.tied_embeddings) {
      json.boolean("tied_embeddings", *q.tied_embeddings);
    } else {
      json.null("tied_embeddings");
    }
    json.boolean("gated_ffn", q.gated_ffn);
    json.text("norm", q.norm == NormKind::rms ? "rms" : "layer");
    texts(json, "variants", q.variants);
    json.integer_or_null("n_heads", q.n_heads);
    json.integer_or_null("n_kv_heads", q.n_kv_heads);
    json.integer_or_null("d_head", q.d_head);
    json.integer_or_null("d_value", q.d_value);
    json.integer_or_null("d_kv_latent", q.d_kv_latent);
    json.integer_or_null("d_q_latent", q.d_q_latent);
    json.integer_or_null("d_nope", q.d_nope);
    json.integer_or_null("d_rope", q.d_rope);
    json.integer_or_null("n_latents", q.n_latents);
    json.integer_or_null("rank_kv", q.rank_kv);
    json.integer_or_null("rank_q", q.rank_q);
    json.object("bias", [&] {
      json.boolean("q", q.bias.q);
      json.boolean("k", q.bias.k);
      json.boolean("v", q.bias.v);
      json.boolean("o", q.bias.o);
    });
    json.boolean("qk_norm", q.qk_norm);
    json.boolean("decoupled", q.decoupled);
    json.integer_or_null("seq_len", q.seq_len);
    json.integer("batch", i128{q.batch});
    json.text("target", q.target);
    json.integer("tensor_parallel", i128{q.tensor_parallel});
    json.text("dtype", q.dtype);
    texts(json, "kv_dtypes", q.kv_dtypes);
    text_or_null(json, "k_dtype", q.k_dtype);
    text_or_null(json, "v_dtype", q.v_dtype);
    json.text("priority", q.priority);
    json.text("quality_preset", q.quality_preset);
    if (q.quality_slack) {
      json.real("quality_slack", *q.quality_slack);
    } else {
      json.null("quality_slack");
    }
    json.array("limits", [&] {
      for (const Assertion& limit : q.limits) json.item(limit.text);
    });
    text_or_null(json, "d_head_reason", q.d_head_reason);
    json.text("reproduce", reproduce_command(q));
  });
}

void decision(Json& json, const Recommendation& r) {
  json.object("decision", [&] {
    json_layout(json, r.winner());
    json.text("reason", r.reason);
  });
}

void quality(Json& json, const Recommendation& r) {
  json.object("quality", [&] {
    json.text("preset", r.preset.id);
    json_loss(json, r.winner());
    json.real("slack_nats", r.quality_slack);
    json.real("slack_relaxed_by_nats", r.slack_relaxed_by);
    json.real("noise_band_nats", r.preset.noise_band);
    json.object("best", [&] {
      json.text("notation", r.best_notation);
      json.real("delta_loss_nats", r.best_loss);
    });
    json.text("priority", r.priority.id);
    json.text("objective", r.priority.objective);
  });
}

void verdicts(Json& json, const std::vector<Verdict>& values) {
  json.objects("verdicts", values, [&](const Verdict& verdict) {
    json.text("rule", verdict.rule);
    json.text("severity", verdict.reject ? "reject" : "warn");
    json.boolean("met", verdict.met);
    json.real("actual", verdict.actual);
    json.real("limit", verdict.limit);
    json.text("margin", verdict.margin);
    json.text("why", verdict.why);
  });
}

void ranking(Json& json, const Recommendation& r) {
  json.array("alternatives", [&] {
    for (const Ranked& entry : r.ranked) {
      if (entry.rank == 1) continue;
      json.object([&] {
        json.integer("rank", i128{entry.rank});
        json.integer("tie_class", i128{entry.tie_class});
        json_layout(json, entry.candidate);
        json_cost(json, entry.candidate);
        json_loss(json, entry.candidate);
        json.text("why_not", entry.why_not);
        std::vector<Verdict> unmet;  // of those met, the recommendation's list says what they are
        for (const Verdict& verdict : entry.verdicts)
          if (!verdict.met) unmet.push_back(verdict);
        verdicts(json, unmet);
        texts(json, "tie_breaks", entry.tie_breaks);
      });
    }
  });
  json.array("ties", [&] {
    for (const int rank : tied_ranks(r)) json.item(i128{rank});
  });
  texts(json, "tie_break_rules", r.tie_break_rules);
  texts(json, "tie_breaks", r.ranked.front().tie_breaks);
  json.integer("ranked_total", i128{r.ranked_total});
  verdicts(json, r.ranked.front().verdicts);
  json.objects("rejected", r.rejected, [&](const RejectedRule& rule) {
    json.text("rule", rule.rule);
    json.integer("count", i128{rule.count});
    json.text("example", rule.example);
    json.text("why", rule.why);
  });
  json.object("counts", [&] {
    json.integer("enumerated", i128{r.counts.enumerated});
    json.integer("rejected", i128{r.counts.rejected});
    json.integer("feasible", i128{r.counts.feasible});
    json.integer("within_slack", i128{r.counts.within_slack});
    json.integer("pareto", i128{r.counts.pareto});
  });
}

void tradeoffs(Json& json, const Recommendation& r) {
  json.objects("pareto", r.pareto, [&](const ParetoPoint& point) {
    json.text("notation", point.notation);
    json.text("variant", point.variant);
    json.real("delta_loss_nats", point.loss);
    json.real("decode_s", point.decode_s);
    json.integer("kv_bytes_per_sequence", point.kv_per_sequence);
    json.boolean("front", point.front);
    json.boolean("recommended", point.recommended);
    json.integer("same", i128{point.same});
  });
  json.objects("preset_winners", r.preset_winners, [&](const PresetWinner& winner) {
    json.text("preset", winner.preset);
    json.text("notation", winner.notation);
    json.boolean("same", winner.same);
  });
  json.objects("ladder", r.ladder, [&](const LadderRow& row) {
    json.integer("n_ctx", i128{row.n_ctx});
    json.integer("kv_bytes_per_sequence", row.kv_per_sequence);
    json.integer("kv_bytes_batch_per_rank", row.kv_batch_per_rank);
    json.real("decode_s", row.decode_s);
    json.boolean("fits", row.fits);
  });
}

void deployment(Json& json, const Recommendation& r) {
  json.objects("tensor_parallel", r.tensor_parallel, [&](const TensorParallelRow& row) {
    json.integer("degree", i128{row.degree});
    json.boolean("legal", row.legal);
    json.integer("kv_heads_per_rank", i128{row.kv_heads_per_rank});
    json.integer("replication", i128{row.replication});
    json.integer("kv_bytes_per_token_per_rank", row.kv_per_token_per_rank);
    text_or_null(json, "why", row.why);
  });
  json.objects("kernels", r.kernels, [&](const KernelRow& row) {
    json.text("kernel", row.kernel);
    json.boolean("supported", row.supported);
    text_or_null(json, "why", row.why);
  });
  json.object("crossover", [&] {
    const auto tokens_or_null = [&](const char* name, std::int64_t n) {
      json.integer_or_null(name, n > 0 ? std::optional<std::int64_t>(n) : std::nullopt);
    };
    tokens_or_null("decode_context", r.crossover.decode_context);
    tokens_or_null("chunk_tokens", r.crossover.chunk_tokens);
  });
  json.object("target", [&] {
    json.text("id", r.target.id);
    json.text("name", r.target.name);
    json.integer("memory_bytes", r.target.memory.value);
    json.integer("reserve_bytes", r.target.reserve.value);
    json.real("bandwidth_bytes_per_s", r.target.bandwidth_per_s.value);
    json.object("peak_flops_per_s", [&] {
      for (const auto& peak : r.target.peaks_per_s) json.real(peak.first, peak.second.value);
    });
    json.boolean("batch_fits", memory_statement(r).fits);
    json.text("batch_statement", memory_statement(r).text);
  });
}

void starting(Json& json, const Recommendation& r) {
  const Candidate& winner = r.winner();
  const AttentionPlan plan = lower(winner.layout, winner.shape.d_model);
  json.objects("matrices", plan.matrices, [&](const WeightMatrix& matrix) {
    json.text("name", matrix.name);
    json.integer("rows", i128{matrix.rows});
    json.integer("cols", i128{matrix.cols});
    json.boolean("bias", matrix.bias);
    json.integer("params", i128{matrix.rows} * matrix.cols + (matrix.bias ? matrix.cols : 0));
  });
  json.objects("initialisation", initialisation(plan, winner.shape), [&](const InitRow& row) {
    json.text("matrix", row.matrix);
    json.text("formula", row.formula);
    json.real("std", row.std_dev);
    json.boolean("bias", row.bias);
  });
  const InductionTask task = induction_task(winner.layout, winner.shape.d_model);
  json.object("testability", [&] {
    json.text("task", "induction");
    json.integer("vocab_size", i128{task.vocab_size});
    json.integer("seq_len", i128{task.seq_len()});
    json.integer("n_pairs", i128{task.n_pairs});
    json.integer("n_probes", i128{task.n_probes});
    json.integer("n_layers", i128{task.n_layers});
    json.integer("d_model", i128{task.d_model});
    json.integer("n_heads", i128{task.layout.n_heads});
    json.integer("n_kv_heads", i128{task.layout.n_kv_heads});
    json.integer("d_head", i128{task.layout.d_head});
    json.boolean("ratio_kept", task.ratio_kept);
    json.real("pass_accuracy", task.pass_accuracy);
    json.real("chance_uniform", task.chance_uniform);
    json.real("chance_unbound", task.chance_unbound);
  });
}

}  // namespace

std::string write_json(const Recommendation& r, const WriterOptions& /*options*/) {
  Json json;
  json.object([&] {
    json_head(json);
    request(json, r.request);
    decision(json, r);
    json_model(json, r.winner().shape);
    text_or_null(json, "shape_note", r.shape_note);
    json_cost(json, r.winner());
    quality(json, r);
    ranking(json, r);
    tradeoffs(json, r);
    deployment(json, r);
    starting(json, r);
    json.objects("warnings", r.warnings, [&](const Warning& warning) {
      json.text("code", warning.code);
      json.text("message", warning.message);
    });
    json_validation(json, r.validation);
    sources(json, "sources", r.sources);
  });
  return json.finish();
}

}  // namespace mha::report
