#include "report/json_parts.hpp"

#include "mha/version.hpp"

#include "report/figures.hpp"

namespace mha::report {
namespace {

// Null where the variant has no such field.
void variant_field(Json& json, const char* name, const Layout& layout, std::int64_t value) {
  if (layout.variant->has(name) || value != 0) {
    json.integer(name, i128{value});
  } else {
    json.null(name);
  }
}

void json_params(Json& json, const Candidate& c) {
  json.object("params", [&] {
    const ParamCount& p = c.cost.params;
    json.integer("total", p.total);
    json.integer("attention", p.attention);
    json.integer("attention_per_layer", p.attention_per_layer);
    json.integer("ffn", p.ffn);
    json.integer("embedding", p.embedding);
    json.integer("lm_head", p.lm_head);
    json.integer("norms", p.norms);
  });
}

void json_flops(Json& json, const Candidate& c) {
  const auto figures = [&](const FlopCount& flops) {
    json.integer("prefill", flops.prefill);
    json.integer("prefill_attention", flops.prefill_attention);
    json.integer("decode_per_token", flops.decode_per_token);
    json.integer("decode_attention", flops.decode_attention);
    json.integer("training_per_token", flops.training_per_token);
  };
  json.object("flops", [&] {
    json.text("convention", "causal");
    figures(c.cost.flops_causal);
    json.object("full", [&] { figures(c.cost.flops_full); });
  });
}

void json_cache(Json& json, const Candidate& c) {
  json.object("kv_cache", [&] {
    const CacheSize& cache = c.cost.cache;
    json.text("dtype", c.kv_format);
    json.integer("elements_per_token_per_layer", cache.elements_per_token_per_layer);
    json.integer("bytes_per_token_per_layer", cache.per_token_per_layer);
    json.integer("bytes_per_token", cache.per_token);
    json.integer("bytes_per_sequence", cache.per_sequence);
    json.integer("bytes_batch", cache.batch);
    json.integer("bytes_per_token_per_rank", cache.per_rank_per_token);
    json.integer("bytes_batch_per_rank", cache.per_rank_batch);
  });
}

void json_step(Json& json, const char* name, const AttentionPlan& plan, const StepTime& step) {
  json.object(name, [&] {
    json.text("path", plan.paths[step.path].name);
    json.text("bound_by", step.memory_bound ? "memory" : "arithmetic");
    json.real("weights_s", step.weights_s);
    json.real("attention_s", step.attention_s);
    json.integer("flops", step.flops);
    json.object("traffic_bytes", [&] {
      json.integer("weights", step.traffic.weights);
      json.integer("cache_read", step.traffic.cache_read);
      json.integer("cache_write", step.traffic.cache_write);
      json.integer("scratch", step.traffic.scratch);
      json.integer("total", step.traffic.total());
    });
  });
}

void json_time(Json& json, const Candidate& c) {
  const auto range = [&](const char* name, const StepTime& step) {
    json.object(name, [&] {
      json.real("low", step.bound_s);
      json.real("high", step.high_s);
    });
  };
  json.object("time", [&] {
    const AttentionPlan plan = lower(c.layout, c.shape.d_model);
    json.text("mode", "roofline");
    range("prefill_s", c.cost.prefill);
    range("decode_per_token_s", c.cost.decode);
    json_step(json, "prefill", plan, c.cost.prefill);
    json_step(json, "decode", plan, c.cost.decode);
  });
}

}  // namespace

void json_head(Json& json) {
  json.integer("schema_version", i128{kJsonSchemaVersion});
  json.object("tool", [&] {
    json.text("name", kToolName);
    json.text("version", kVersion);
  });
}

void json_layout(Json& json, const Candidate& c) {
  const Layout& l = c.layout;
  json.text("variant", l.variant->id);
  json.text("notation", c.notation);
  json.integer("n_heads", i128{l.n_heads});
  json.integer("n_kv_heads", i128{l.n_kv_heads});
  json.integer("d_head", i128{l.d_head});
  json.integer("d_value", i128{l.d_value});
  variant_field(json, "d_kv_latent", l, l.d_kv_latent);
  variant_field(json, "d_q_latent", l, l.d_q_latent);
  variant_field(json, "d_nope", l, l.d_nope);
  variant_field(json, "d_rope", l, l.d_rope);
  variant_field(json, "n_latents", l, l.n_latents);
  variant_field(json, "rank_kv", l, l.rank_kv);
  variant_field(json, "rank_q", l, l.rank_q);
  json.object("bias", [&] {
    json.boolean("q", l.bias.q);
    json.boolean("k", l.bias.k);
    json.boolean("v", l.bias.v);
    json.boolean("o", l.bias.o);
  });
  json.boolean("qk_norm", l.qk_norm);
  json.integer("d_ff", i128{c.shape.d_ff});
  json.text("kv_dtype", c.kv_format);
}

void json_model(Json& json, const ModelShape& shape) {
  json.object("model", [&] {
    json.integer("d_model", i128{shape.d_model});
    json.integer("n_layers", i128{shape.n_layers});
    json.integer("d_ff", i128{shape.d_ff});
    json.integer("vocab_size", i128{shape.vocab_size});
    json.boolean("tied_embeddings", shape.tied_embeddings);
    json.boolean("gated_ffn", shape.gated_ffn);
    json.text("norm", shape.norm == NormKind::rms ? "rms" : "layer");
  });
}

void json_cost(Json& json, const Candidate& c) {
  json.object("cost", [&] {
    json_params(json, c);
    json_flops(json, c);
    json_cache(json, c);
    json_time(json, c);
    json.object("memory", [&] {
      json.integer("bytes_weights_per_rank", c.cost.weights_per_rank);
      json.integer("bytes_per_rank", c.cost.memory_per_rank);
    });
  });
}

void json_loss(Json& json, const Candidate& c) {
  json.object("delta_loss_nats", [&] {
    json.real("value", c.loss.total());
    json.real("low", c.loss_low);
    json.real("high", c.loss_high);
    json.object("terms", [&] {
      json.real("params", c.loss.params);
      json.real("attention_width", c.loss.attention_width);
      json.real("kv_width", c.loss.kv_width);
      json.real("variant", c.loss.variant);
      json.real("guards", c.loss.guards);
    });
  });
}

void json_validation(Json& json, const std::optional<Validation>& validation) {
  json.object("validation", [&] {
    json.text("status", validation_status(validation));
    if (validation) {
      json.integer("d_model", i128{validation->d_model});
      json.integer("full_d_model", i128{validation->full_d_model});
      json.integer("n_tokens", i128{validation->n_tokens});
    }
    json.objects("rows", validation ? validation->rows : std::vector<ValidationRow>{}, [&](const ValidationRow& row) {
      json.text("quantity", row.quantity);
      json.integer("analytic", row.analytic);
      json.integer("counted", row.counted);
      json.boolean("exact", row.exact());
    });
    json.objects("tolerances", validation ? validation->tolerances : std::vector<ToleranceRow>{},
                 [&](const ToleranceRow& row) {
                   json.text("quantity", row.quantity);
                   json.real("difference_per_bound", row.difference);
                   json.real("max_abs", row.max_abs);
                   json.real("bound", row.bound);
                   json.boolean("within", row.within());
                 });
  });
}

}  // namespace mha::report
