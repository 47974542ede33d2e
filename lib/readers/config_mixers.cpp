#include "readers/config_mixers.hpp"

#include <algorithm>
#include <string>

#include "mha/limits.hpp"

namespace mha {
namespace {

using namespace limits;

// ---- Linear and state-space mixers: one row a kind, how its fields fill a LinearMixer -------------------------------

std::int64_t dt_rank(Fields& f, std::int64_t d_model) {
  constexpr std::int64_t kAuto = 16;  // "auto": a sixteenth of the width, rounded up
  const Node* node = f.find("mamba_dt_rank");
  if (node == nullptr || node->text == "auto") return (d_model + kAuto - 1) / kAuto;
  return f.count_or("mamba_dt_rank", 1, kMaxLatent, 0);
}

void fill_delta_net(Fields& f, std::int64_t /*d_model*/, LinearMixer& m) {
  m.n_heads = f.need("linear_num_value_heads", 1, kMaxHeads);
  m.n_key_heads = f.need("linear_num_key_heads", 1, kMaxHeads);
  m.d_key = f.need("linear_key_head_dim", 1, kMaxHeadWidth);
  m.d_value = f.need("linear_value_head_dim", 1, kMaxHeadWidth);
  m.d_conv = f.need("linear_conv_kernel_dim", 0, kMaxHeadWidth);
}

void fill_kimi(Fields& f, std::int64_t /*d_model*/, LinearMixer& m) {
  m.n_heads = m.n_key_heads = f.need("linear_attn_config.num_heads", 1, kMaxHeads);
  m.d_key = m.d_value = f.need("linear_attn_config.head_dim", 1, kMaxHeadWidth);
  m.d_latent = m.d_value;  // both low-rank pairs go through one head's width
  m.d_conv = f.need("linear_attn_config.short_conv_kernel_size", 0, kMaxHeadWidth);
  m.full_gate = f.flag("linear_attn_config.use_full_rank_gate");
}

void fill_lightning(Fields& f, std::int64_t d_model, LinearMixer& m) {
  m.n_heads = m.n_key_heads = f.need("num_attention_heads", 1, kMaxHeads);
  const std::int64_t even = m.n_heads > 0 && d_model % m.n_heads == 0 ? d_model / m.n_heads : 0;
  m.d_key = m.d_value = f.count_or("head_dim", 1, kMaxHeadWidth, even);
  if (m.d_key == 0) f.missing("head_dim");
}

// Mamba's channels each have a state of their own: heads of one channel.
void fill_mamba1(Fields& f, std::int64_t d_model, LinearMixer& m) {
  m.n_heads = f.count_or("mamba_intermediate_size", 1, kMaxModelWidth, 0);
  if (m.n_heads == 0) m.n_heads = f.need("mamba_expand", 1, kMaxHeads) * d_model;
  m.d_value = 1;
  m.d_key = f.need("mamba_d_state", 1, kMaxHeadWidth);
  m.d_conv = f.need("mamba_d_conv", 0, kMaxHeadWidth);
  m.d_latent = dt_rank(f, d_model);
}

void fill_mamba2(Fields& f, std::int64_t d_model, LinearMixer& m) {
  m.n_heads = f.count_or("mamba_num_heads", 1, kMaxHeads, 0);
  m.d_value = f.count_or("mamba_head_dim", 1, kMaxHeadWidth, 0);
  const std::int64_t inner = f.count_or("mamba_expand", 1, kMaxHeads, 0) * d_model;
  // Two of heads, head width and inner width say the third.
  if (m.n_heads == 0 && m.d_value > 0 && inner > 0 && inner % m.d_value == 0) m.n_heads = inner / m.d_value;
  if (m.d_value == 0 && m.n_heads > 0 && inner > 0 && inner % m.n_heads == 0) m.d_value = inner / m.n_heads;
  if (m.n_heads == 0) f.missing("mamba_num_heads");
  if (m.d_value == 0) f.missing("mamba_head_dim");
  m.n_key_heads = f.need("mamba_n_groups", 1, kMaxHeads);
  m.d_key = f.need("mamba_d_state", 1, kMaxHeadWidth);
  m.d_conv = f.need("mamba_d_conv", 0, kMaxHeadWidth);
}

void fill_rg_lru(Fields& f, std::int64_t d_model, LinearMixer& m) {
  const std::int64_t width = f.count_or("lru_width", 1, kMaxModelWidth, d_model);
  m.n_heads = f.need("num_attention_heads", 1, kMaxHeads);
  if (m.n_heads > 0 && width % m.n_heads != 0) {
    f.problem("lru_width", "does-not-divide",
              std::to_string(m.n_heads) + " heads do not divide the recurrent width of " + std::to_string(width),
              "each head has a block of the same width");
    return;
  }
  m.d_value = m.n_heads > 0 ? width / m.n_heads : 0;
  m.d_conv = f.need("mamba_d_conv", 0, kMaxHeadWidth);
}

void fill_short_conv(Fields& f, std::int64_t d_model, LinearMixer& m) {
  m.n_heads = f.count_or("conv_dim", 1, kMaxModelWidth, d_model);
  m.d_value = 1;
  m.d_conv = f.need("conv_L_cache", 0, kMaxHeadWidth);
}

struct LinearRow {
  std::string_view kind;
  std::string_view sign;  // a field that only this kind has: how it is known without a family
  void (*fill)(Fields& fields, std::int64_t d_model, LinearMixer& mixer);
};

const std::vector<LinearRow>& linear_rows() {
  static const std::vector<LinearRow> table = {
      {"gated-delta-net", "linear_num_value_heads", fill_delta_net},
      {"kimi-delta", "linear_attn_config", fill_kimi},
      {"lightning", "attn_type_list", fill_lightning},
      {"mamba1", "mamba_dt_rank", fill_mamba1},
      {"mamba2", "mamba_n_groups", fill_mamba2},
      {"rg-lru", "lru_width", fill_rg_lru},
      {"short-conv", "conv_L_cache", fill_short_conv},
  };
  return table;
}

// ---- Where a trait holds --------------------------------------------------------------------------------------------

bool covers(std::string_view where, Span::Kind span) {
  if (where == "all") return true;
  return (where == "full" && span == Span::Kind::full) || (where == "window" && span == Span::Kind::window) ||
         (where == "cross" && span == Span::Kind::cross);
}

bool in_window(const LayerDraft& draft) {
  return draft.span == Span::Kind::window || draft.span == Span::Kind::chunked;
}

std::int64_t entry(const std::vector<std::int64_t>& list, std::int64_t layer) {
  const auto at = static_cast<std::size_t>(layer);
  return at < list.size() ? list[at] : 0;
}

}  // namespace

LayerBuilder::LayerBuilder(Fields& fields, const FamilyTraits& traits, std::int64_t d_model, std::int64_t n_layers)
    : fields_(fields), traits_(traits), d_model_(d_model) {
  // 0 in a list: a layer without attention or without a feed-forward part.
  const auto list = [&](std::string_view name, std::int64_t max) {
    const Node* node = fields_.find(name);
    const bool by_layer = node != nullptr && node->kind == Node::Kind::sequence;
    return fields_.per_layer(name, n_layers, by_layer ? 0 : 1, max);
  };
  widths_.n_heads = list("num_attention_heads", kMaxHeads);
  widths_.n_kv_heads = list("num_key_value_heads", kMaxHeads);
  widths_.d_ff = list("intermediate_size", kMaxFeedForward);
  widths_.window = list("sliding_window", kMaxContext);
}

std::int64_t LayerBuilder::n_heads(const LayerDraft& draft, std::int64_t layer) {
  if (in_window(draft) && fields_.has("swa_num_attention_heads")) {
    return fields_.need("swa_num_attention_heads", 1, kMaxHeads);
  }
  if (!widths_.n_heads.empty() && entry(widths_.n_heads, layer) == 0) {
    fields_.problem("num_attention_heads", "zero-heads",
                    "layer " + std::to_string(layer) + " is an attention layer with 0 heads",
                    "give its heads, or say in layer_types that it is of another kind");
    return 0;
  }
  if (widths_.n_heads.empty() && !fields_.has("num_attention_heads")) fields_.missing("num_attention_heads");
  return entry(widths_.n_heads, layer);
}

std::int64_t LayerBuilder::n_kv_heads(const LayerDraft& draft, std::int64_t layer) {
  if (in_window(draft) && fields_.has("swa_num_key_value_heads")) {
    return fields_.need("swa_num_key_value_heads", 1, kMaxHeads);
  }
  if (draft.span == Span::Kind::full && fields_.has("num_global_key_value_heads")) {
    return fields_.need("num_global_key_value_heads", 1, kMaxHeads);
  }
  if (!widths_.n_kv_heads.empty() && entry(widths_.n_kv_heads, layer) == 0) {
    fields_.problem("num_key_value_heads", "zero-kv-heads",
                    "layer " + std::to_string(layer) + " is an attention layer with 0 KV heads: it would cache nothing",
                    "give its KV heads, or say in layer_types that it is of another kind");
    return 0;
  }
  if (widths_.n_kv_heads.empty() && !fields_.has("num_key_value_heads")) fields_.missing("num_key_value_heads");
  return entry(widths_.n_kv_heads, layer);
}

std::int64_t LayerBuilder::d_head(const LayerDraft& draft, std::int64_t heads) {
  if (in_window(draft) && fields_.has("swa_head_dim")) return fields_.need("swa_head_dim", 1, kMaxHeadWidth);
  if (draft.span == Span::Kind::full && fields_.has("global_head_dim")) {
    return fields_.need("global_head_dim", 1, kMaxHeadWidth);
  }
  if (fields_.has("head_dim")) return fields_.need("head_dim", 1, kMaxHeadWidth);
  if (fields_.failed()) return 0;  // its default, or what that is made of, was reported
  if (heads > 0 && d_model_ % heads == 0) {
    if (!noted_head_) {
      fields_.note("head_dim", "derived-head-width",
                   "head_dim is not in the config; hidden_size / num_attention_heads = " +
                       std::to_string(d_model_ / heads) + " is taken",
                   "add \"head_dim\" where it is another");
    }
    noted_head_ = true;
    return d_model_ / heads;
  }
  fields_.missing("head_dim");
  return 0;
}

std::int64_t LayerBuilder::d_value(const LayerDraft& draft, std::int64_t d_head_value) {
  if (in_window(draft) && fields_.has("swa_v_head_dim")) return fields_.need("swa_v_head_dim", 1, kMaxHeadWidth);
  if (in_window(draft) && fields_.has("swa_head_dim")) return d_head_value;
  return fields_.count_or("v_head_dim", 1, kMaxHeadWidth, d_head_value);
}

void LayerBuilder::latent(Layout& layout) {
  layout.variant = find_variant("mla");
  layout.d_kv_latent = fields_.need("kv_lora_rank", 1, kMaxLatent);
  layout.d_q_latent = fields_.count_or("q_lora_rank", 0, kMaxLatent, 0);
  layout.d_nope = fields_.need("qk_nope_head_dim", 1, kMaxHeadWidth);
  layout.d_rope = fields_.need("qk_rope_head_dim", 0, kMaxHeadWidth);
  layout.d_value = fields_.need("v_head_dim", 1, kMaxHeadWidth);
  if (layout.d_rope % 2 != 0) {
    fields_.problem("qk_rope_head_dim", "rope-even",
                    std::to_string(layout.d_rope) + " is odd: rotary embedding turns pairs",
                    "use an even width, such as 64");
  }
  layout.d_head = layout.d_nope + layout.d_rope;  // head_dim means different things beside MLA fields, and is ignored
  const std::optional<std::int64_t> kv =
      fields_.stated("num_key_value_heads") ? fields_.count("num_key_value_heads", 1, kMaxHeads) : std::nullopt;
  if (kv && *kv != layout.n_heads) {
    fields_.problem("num_key_value_heads", "mla-kv-heads",
                    std::to_string(*kv) + " KV heads have no meaning beside kv_lora_rank: one latent serves all " +
                        std::to_string(layout.n_heads) + " heads",
                    "leave num_key_value_heads out, or set it to " + std::to_string(layout.n_heads));
  }
  layout.n_kv_heads = layout.n_heads;
}

void LayerBuilder::indexer(const LayerDraft& draft, Attention& out) {
  if (!fields_.has("index_n_heads") || draft.borrows_picks || (draft.ratio >= 0 && !draft.sparse)) return;
  out.indexer.n_heads = fields_.need("index_n_heads", 1, kMaxHeads);
  out.indexer.d_head = fields_.need("index_head_dim", 1, kMaxHeadWidth);
  out.indexer.top_k = fields_.need("index_topk", 1, kMaxContext);
}

void LayerBuilder::spans(const LayerDraft& draft, std::int64_t layer, Attention& out) {
  out.span.kind = draft.span;
  if (draft.span == Span::Kind::window) {
    if (widths_.window.empty() && !fields_.has("sliding_window")) fields_.missing("sliding_window");
    out.span.tokens = entry(widths_.window, layer);
  } else if (draft.span == Span::Kind::chunked) {
    out.span.tokens = fields_.need("attention_chunk_size", 1, kMaxContext);
  }
}

Attention LayerBuilder::attention(const LayerDraft& draft, std::int64_t layer) {
  Attention out;
  Layout& layout = out.layout;
  layout.n_heads = n_heads(draft, layer);
  layout.bias = traits_.bias;
  spans(draft, layer, out);
  if (fields_.has("kv_lora_rank")) {
    latent(layout);
  } else {
    layout.n_kv_heads = n_kv_heads(draft, layer);
    layout.d_head = d_head(draft, layout.n_heads);
    layout.d_value = d_value(draft, layout.d_head);
    out.d_q_latent = fields_.count_or("q_lora_rank", 1, kMaxLatent, 0);
    if (layout.n_kv_heads > 0 && layout.n_heads % layout.n_kv_heads != 0) {
      fields_.problem("num_key_value_heads", "kv-heads-divide",
                      std::to_string(layout.n_kv_heads) + " KV heads do not divide " + std::to_string(layout.n_heads) +
                          " heads" + (layer > 0 ? " in layer " + std::to_string(layer) : ""),
                      "a KV head serves the same number of heads each");
    }
    layout.variant = find_variant(layout.n_kv_heads == layout.n_heads ? "mha" : layout.n_kv_heads == 1 ? "mqa" : "gqa");
    if (covers(traits_.qk_norm_layers, draft.span)) out.qk_norm = traits_.qk_norm;
  }
  layout.qk_norm = out.qk_norm == QkNorm::per_head;
  out.qk_norm_shift = traits_.qk_norm_shift && out.qk_norm != QkNorm::none;
  out.value_norm = traits_.value_norm;
  out.sinks = covers(traits_.sinks, draft.span);
  out.output_gate = traits_.output_gate;
  out.head_gate = traits_.head_gate;
  out.tied_values = traits_.tied_values && draft.span == Span::Kind::full;
  out.shares_kv = draft.owner >= 0;
  out.keeps_kv_weights = traits_.keeps_kv_weights && out.shares_kv;
  indexer(draft, out);
  if (draft.ratio >= 0) {
    out.compression.ratio = std::max<std::int64_t>(draft.ratio, 1);
    out.compression.window = fields_.need("sliding_window", 1, kMaxContext);
    out.span = {};
    out.o_groups = fields_.count_or("o_groups", 1, kMaxHeads, 0);
    out.d_o_latent = fields_.count_or("o_lora_rank", 1, kMaxLatent, 0);
  }
  return out;
}

const LinearKind* LayerBuilder::linear_kind() {
  if (!traits_.linear.empty()) return find_linear_kind(traits_.linear);
  for (const LinearRow& row : linear_rows()) {
    if (fields_.stated(row.sign)) return find_linear_kind(row.kind);
  }
  return nullptr;
}

LinearMixer LayerBuilder::linear(std::int64_t layer) {
  LinearMixer out;
  out.kind = linear_kind();
  if (out.kind == nullptr) {
    fields_.problem(
        "layer_types", "unknown-linear-kind",
        "layer " + std::to_string(layer) + " is a linear or state-space layer, but no field says of which kind",
        "add the fields of its kind, such as linear_num_value_heads or mamba_d_state");
    return out;
  }
  const std::vector<LinearRow>& rows = linear_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const LinearRow& r) { return r.kind == out.kind->id; });
  if (row != rows.end()) row->fill(fields_, d_model_, out);
  out.bias = traits_.linear_bias;
  out.conv_bias = traits_.linear_conv_bias;
  out.inner_norm = traits_.linear_inner_norm;
  return out;
}

FeedForward LayerBuilder::feed_forward(const LayerDraft& draft, std::int64_t layer) {
  FeedForward out;
  out.gated = traits_.gated_ffn;
  out.bias_up = traits_.ffn_bias_up;
  out.bias_down = traits_.ffn_bias_down;
  if (draft.ffn == LayerDraft::Ffn::none) return FeedForward{};
  const bool moe = draft.ffn == LayerDraft::Ffn::moe;
  if (!moe || traits_.dense_beside_moe) {
    if (widths_.d_ff.empty() && !fields_.has("intermediate_size")) fields_.missing("intermediate_size");
    out.d_ff = entry(widths_.d_ff, layer);
    if (draft.owner >= 0 && fields_.flag("use_double_wide_mlp")) out.d_ff *= 2;
  }
  if (!moe) return out;
  out.n_experts = fields_.need("num_experts", 1, kMaxFeedForward);
  out.top_k = fields_.need("num_experts_per_tok", 1, kMaxFeedForward);
  out.d_ff_expert = fields_.has("moe_intermediate_size") ? fields_.need("moe_intermediate_size", 1, kMaxFeedForward)
                                                         : entry(widths_.d_ff, layer);
  if (out.d_ff_expert == 0) fields_.missing("moe_intermediate_size");
  if (out.top_k > out.n_experts) {
    fields_.problem("num_experts_per_tok", "out-of-range",
                    std::to_string(out.top_k) + " experts a token are more than the " + std::to_string(out.n_experts) +
                        " there are",
                    "give a number up to num_experts");
  }
  const std::int64_t shared = fields_.count_or("n_shared_experts", 0, kMaxFeedForward, 0);
  if (fields_.has("shared_expert_intermediate_size")) {
    // Beside a count, the width is one expert's.
    out.d_ff_shared =
        fields_.count_or("shared_expert_intermediate_size", 0, kMaxFeedForward, 0) * std::max<std::int64_t>(shared, 1);
  } else {
    out.d_ff_shared = shared * out.d_ff_expert;
  }
  out.d_latent = fields_.count_or("moe_latent_size", 1, kMaxLatent, 0);
  out.shared_gate = traits_.shared_gate && out.d_ff_shared > 0;
  out.router_bias = traits_.router_bias;
  out.correction_bias = traits_.correction_bias && !draft.hashed;
  out.expert_scale = traits_.expert_scale;
  out.router_scale = traits_.router_scale ? d_model_ : 0;
  return out;
}

}  // namespace mha
