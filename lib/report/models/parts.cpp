#include "report/models/parts.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "mha/quantity.hpp"

#include "report/figures.hpp"
#include "report/writers/writers.hpp"

namespace mha::report {
namespace {

std::string span_text(const Attention& a) {
  switch (a.span.kind) {
    case Span::Kind::full:
      return "";
    case Span::Kind::window:
      return ", window " + print_grouped(a.span.tokens);
    case Span::Kind::chunked:
      return ", chunks of " + print_grouped(a.span.tokens);
    case Span::Kind::cross:
      return ", cross attention";
    case Span::Kind::encoder:
      return ", both directions";
  }
  return "";
}

struct MixerText {
  std::string operator()(const Attention& a) const {
    std::string text = variant_label(a.layout) + " " + notation(a.layout);
    if (a.compression.ratio > 0) {
      text = fmt::format("compressed {} heads x {}", a.layout.n_heads, a.layout.d_head);
      text += a.compression.ratio > 1 ? fmt::format(", 1 entry in {} tokens", a.compression.ratio) : std::string();
      text += fmt::format(", window {}", print_grouped(a.compression.window));
    }
    text += span_text(a);
    if (a.qk_norm != QkNorm::none) text += ", QK-norm";
    if (a.sinks) text += ", sinks";
    if (a.output_gate || a.head_gate) text += ", gated";
    if (a.tied_values) text += ", values tied to keys";
    if (a.shares_kv) text += ", shared KV";
    if (a.indexer.n_heads > 0) text += fmt::format(", top {} of an indexer", print_grouped(a.indexer.top_k));
    return text;
  }
  std::string operator()(const LinearMixer& m) const {
    return fmt::format("{}, {} heads, state {} x {}", m.kind->name, m.n_heads, m.d_key, m.d_value);
  }
};

struct MixerVariant {
  std::string operator()(const Attention& a) const {
    return a.compression.ratio > 0 ? "compressed" : std::string(a.layout.variant->id);
  }
  std::string operator()(const LinearMixer& m) const { return std::string(m.kind->id); }
};

template <class Visitor>
std::string joined(const LayerSpec& spec, std::string_view separator) {
  std::string text;
  for (const Mixer& mixer : spec.mixers) {
    if (!text.empty()) text += separator;
    text += std::visit(Visitor{}, mixer);
  }
  return text.empty() ? "none" : text;
}

void json_attention(Json& json, const Attention& a) {
  const Layout& l = a.layout;
  json.integer("n_heads", l.n_heads);
  json.integer("n_kv_heads", l.n_kv_heads);
  json.integer("d_head", l.d_head);
  json.integer("d_value", l.d_value);
  json.integer("d_kv_latent", l.d_kv_latent);
  json.integer("d_q_latent", l.d_q_latent > 0 ? l.d_q_latent : a.d_q_latent);
  json.integer("d_rope", l.d_rope);
  json.integer("window", a.span.kind == Span::Kind::window ? a.span.tokens : a.compression.window);
  json.integer("chunk", a.span.kind == Span::Kind::chunked ? a.span.tokens : 0);
  json.boolean("shares_kv", a.shares_kv);
  json.boolean("sinks", a.sinks);
  json.integer("compression_ratio", a.compression.ratio);
  json.integer("index_top_k", a.indexer.top_k);
}

void json_linear(Json& json, const LinearMixer& m) {
  json.integer("n_heads", m.n_heads);
  json.integer("n_key_heads", m.n_key_heads);
  json.integer("d_key", m.d_key);
  json.integer("d_value", m.d_value);
  json.integer("d_conv", m.d_conv);
  json.text("state_dtype", m.state_format);
}

struct MixerJson {
  Json& json;
  void operator()(const Attention& a) const { json_attention(json, a); }
  void operator()(const LinearMixer& m) const { json_linear(json, m); }
};

}  // namespace

std::string attention_text(const LayerSpec& spec) {
  return joined<MixerText>(spec, "; ");
}

std::string variant_of(const LayerSpec& spec) {
  return joined<MixerVariant>(spec, "+");
}

std::string feed_forward_text(const FeedForward& f) {
  std::string text;
  if (f.d_ff > 0) text = std::string(f.gated ? "gated " : "plain ") + print_grouped(f.d_ff);
  if (f.n_experts > 0) {
    if (!text.empty()) text += " beside ";
    text += fmt::format("{} of {} experts of {}", f.top_k, f.n_experts, print_grouped(f.d_ff_expert));
    if (f.d_ff_shared > 0) text += fmt::format(" and {} shared", print_grouped(f.d_ff_shared));
  }
  return text.empty() ? "none" : text;
}

std::string model_title(const Architecture& a) {
  if (!a.name.empty()) return a.name;
  return a.id.empty() ? "a model" : a.id;
}

std::string slope_text(const ModelCache& cache) {
  if (cache.slope_tokens == 1) return print_grouped(cache.slope.value()) + " B/token";
  return fmt::format("{} B in {} tokens ({} B/token)", print_grouped(cache.slope.value()),
                     print_grouped(cache.slope_tokens), print_fixed(cache.bytes_per_token(), 1));
}

std::string written(const Document& doc, std::string_view format) {
  return format == "md" ? markdown(doc) : terminal(doc, false);
}

void json_architecture(Json& json, const Architecture& a) {
  json.object("model", [&] {
    json.text("name", model_title(a));
    json.text("family", a.family);
    json.text("origin", a.origin);
    json.integer("d_model", a.d_model);
    json.integer("n_layers", a.n_layers());
    json.integer("vocab_size", a.vocab_size);
    json.boolean("tied_embeddings", a.tied_embeddings);
    json.integer("max_context", a.max_context);
    json.text("pattern", layer_pattern(a));
    json.objects("groups", layer_groups(a), [&](const LayerGroup& group) {
      const LayerSpec& spec = a.specs[group.spec];
      json.text("name", spec.name);
      json.integer("n_layers", group.n_layers);
      json.text("variant", variant_of(spec));
      if (!spec.mixers.empty()) std::visit(MixerJson{json}, spec.mixers.front());
      json.integer("d_ff", spec.ffn.d_ff);
      json.integer("n_experts", spec.ffn.n_experts);
      json.integer("top_k", spec.ffn.top_k);
    });
  });
}

void json_params(Json& json, const ModelParams& params) {
  json.object("params", [&] {
    json.integer("total", params.total);
    json.integer("active", params.active);
    json.integer("resident", params.resident);
    json.integer("stored", params.stored);
    json.integer("mtp", params.mtp);
    json.objects("components", params.components, [&](const ComponentParams& c) {
      json.text("name", name_of(c.component));
      json.integer("total", c.total);
      json.integer("active", c.active);
    });
  });
}

void json_cache(Json& json, const Audit& a) {
  json.object("kv_cache", [&] {
    json.text("dtype", a.query.cache.name);
    // Whole bytes; where a compressed cache grows once in some tokens, slope_bytes in slope_tokens is the exact figure.
    json.integer("bytes_per_token", a.cache.slope.value() / a.cache.slope_tokens);
    json.integer("slope_bytes", a.cache.slope);
    json.integer("slope_tokens", a.cache.slope_tokens);
    json.integer("fixed_bytes_per_sequence", a.cache.fixed);
    json.integer("bytes_per_sequence", a.cache.per_sequence);
    json.integer("bytes_batch", a.cache.per_sequence * a.query.batch);
    json.integer("expanded_bytes_per_sequence", a.expanded_per_sequence);
    json.integer("full_length_bytes_per_sequence", a.full_length_per_sequence);
    json.integer("draft_bytes_per_sequence", a.draft_per_sequence);
    json.objects("components", a.cache.lines, [&](const CacheLine& line) {
      json.text("layers", line.layers);
      json.integer("n_layers", line.n_layers);
      json.text("role", name_of(line.component.role));
      json.text("dtype", line.format);
      json.integer("row_bytes", line.row);
      json.integer("bytes_per_sequence", line.total);
    });
    json.object("allocated", [&] {
      for (const Allocation& allocation : a.allocations) json.integer(allocation.runtime, allocation.total);
    });
    json.object("per_rank", [&] {
      for (const RankRow& row : a.ranks) {
        if (row.legal) json.integer(std::to_string(row.tensor_parallel), row.per_sequence);
      }
    });
    json.array("legal_tensor_parallel", [&] {
      for (const std::int64_t degree : a.legal_tensor_parallel) json.item(degree);
    });
  });
}

void json_flops(Json& json, const Audit& a) {
  json.object("flops", [&] {
    json.text("convention", a.query.flops.id);
    json.integer("prefill", a.prefill.total);
    json.integer("decode_per_token", a.decode.total);
    const auto lines = [&](std::string_view name, const ModelFlops& flops) {
      json.objects(name, flops.lines, [&](const FlopLine& line) {
        json.text("name", line.name);
        json.integer("flops", line.value);
      });
    };
    lines("prefill_components", a.prefill);
    lines("decode_components", a.decode);
  });
}

void json_query(Json& json, const ModelQuery& q) {
  json.object("query", [&] {
    json.integer("seq_len", q.n_ctx);
    json.integer("past", q.n_past);
    json.integer("batch", q.batch);
    json.integer("source_tokens", q.n_source);
    json.text("dtype", q.weights->id);
    json.text("kv_dtype", q.cache.name);
    json.integer("tensor_parallel", q.parallel.tensor);
    json.integer("pipeline_parallel", q.parallel.pipeline);
    json.integer("decode_context_parallel", q.parallel.decode_context);
    json.text("target", q.target ? q.target->id : std::string());
    json.boolean("draft_layers", q.draft_layers);
  });
}

}  // namespace mha::report
