// An Architecture as our own YAML (docs/model-file.md), so that a config.json can become a file of the user's own to change.
#include <string>

#include "mha/architecture.hpp"

namespace mha {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) continue;
    out += c;
  }
  return out + "\"";
}

// "{a: 1, b: true}", empty parts left out.
class Flow {
 public:
  void number(const char* key, std::int64_t value, std::int64_t absent = 0) {
    if (value != absent) add(key, to_decimal(value));
  }
  void always(const char* key, std::int64_t value) { add(key, to_decimal(value)); }
  void flag(const char* key, bool value, bool absent = false) {
    if (value != absent) add(key, value ? "true" : "false");
  }
  void add(const std::string& key, const std::string& value) {
    text_ += (text_.empty() ? "" : ", ") + key + ": " + value;
  }
  [[nodiscard]] bool empty() const { return text_.empty(); }
  [[nodiscard]] std::string str() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

std::string names(const std::vector<std::pair<bool, const char*>>& flags) {
  std::string out;
  for (const auto& [set, name] : flags) {
    if (set) out += (out.empty() ? "" : ", ") + std::string(name);
  }
  return out.empty() ? out : "[" + out + "]";
}

std::string name_of_norm(NormKind kind) {
  switch (kind) {
    case NormKind::rms:
      return "rms";
    case NormKind::layer:
      return "layer";
    case NormKind::layer_scale:
      return "layer_scale";
    case NormKind::none:
      return "none";
  }
  return "rms";
}

std::string named(const std::vector<NamedParams>& extras) {
  Flow flow;
  for (const NamedParams& extra : extras) flow.add(quoted(extra.name), to_decimal(extra.elements));
  return flow.str();
}

std::string attention_yaml(const Attention& a) {
  Flow flow;
  const Layout& l = a.layout;
  const bool latent = l.d_kv_latent > 0;
  if (!l.variant->by_default) flow.add("variant", std::string(l.variant->id));
  flow.always("n_heads", l.n_heads);
  if (!latent) flow.always("n_kv_heads", l.n_kv_heads);
  if (!latent) flow.always("d_head", l.d_head);
  flow.number("d_value", l.d_value, latent ? 0 : l.d_head);
  flow.number("d_kv_latent", l.d_kv_latent);
  flow.number("d_q_latent", l.d_q_latent > 0 ? l.d_q_latent : a.d_q_latent);
  if (latent) flow.always("d_nope", l.d_nope);
  if (latent) flow.always("d_rope", l.d_rope);
  flow.number("n_latents", l.n_latents);
  flow.number("rank_kv", l.rank_kv);
  flow.number("rank_q", l.rank_q);
  const std::string bias = names({{l.bias.q, "q"}, {l.bias.k, "k"}, {l.bias.v, "v"}, {l.bias.o, "o"}});
  if (!bias.empty()) flow.add("bias", bias);
  if (a.qk_norm != QkNorm::none) flow.add("qk_norm", a.qk_norm == QkNorm::per_head ? "per_head" : "full");
  flow.flag("qk_norm_shift", a.qk_norm_shift);
  if (a.span.kind == Span::Kind::window) flow.always("window", a.span.tokens);
  if (a.span.kind == Span::Kind::chunked) flow.always("chunk", a.span.tokens);
  flow.flag("encoder", a.span.kind == Span::Kind::encoder);
  flow.flag("sinks", a.sinks);
  flow.flag("output_gate", a.output_gate);
  flow.flag("head_gate", a.head_gate);
  flow.flag("tied_values", a.tied_values);
  flow.flag("values_cached", a.values_cached, true);
  flow.flag("shares_kv", a.shares_kv);
  flow.flag("keeps_kv_weights", a.keeps_kv_weights);
  flow.number("o_groups", a.o_groups);
  flow.number("d_o_latent", a.d_o_latent);
  if (a.indexer.n_heads > 0) {
    Flow indexer;
    indexer.always("n_heads", a.indexer.n_heads);
    indexer.always("d_head", a.indexer.d_head);
    indexer.always("top_k", a.indexer.top_k);
    flow.add("indexer", indexer.str());
  }
  if (a.compression.ratio > 0) {
    Flow compression;
    compression.always("ratio", a.compression.ratio);
    compression.always("window", a.compression.window);
    flow.add("compression", compression.str());
  }
  return flow.str();
}

std::string linear_yaml(const LinearMixer& m) {
  Flow flow;
  const LinearMixer absent;
  flow.add("kind", std::string(m.kind->id));
  flow.always("n_heads", m.n_heads);
  flow.number("n_key_heads", m.n_key_heads);
  flow.number("d_key", m.d_key);
  flow.always("d_value", m.d_value);
  flow.number("d_conv", m.d_conv);
  flow.number("d_latent", m.d_latent);
  flow.flag("conv_bias", m.conv_bias);
  flow.flag("bias", m.bias);
  flow.flag("full_gate", m.full_gate);
  flow.flag("inner_norm", m.inner_norm, true);
  if (m.state_format != absent.state_format) flow.add("state_format", std::string(m.state_format));
  if (m.conv_format != absent.conv_format) flow.add("conv_format", std::string(m.conv_format));
  return flow.str();
}

std::string feed_forward_yaml(const FeedForward& f) {
  Flow flow;
  flow.number("d_ff", f.d_ff);
  flow.add("gated", f.gated ? "true" : "false");
  const std::string bias = names({{f.bias_up, "up"}, {f.bias_down, "down"}});
  if (!bias.empty()) flow.add("bias", bias);
  flow.number("n_experts", f.n_experts);
  flow.number("top_k", f.top_k);
  flow.number("d_ff_expert", f.d_ff_expert);
  flow.number("d_ff_shared", f.d_ff_shared);
  flow.number("d_latent", f.d_latent);
  flow.flag("shared_gate", f.shared_gate);
  flow.flag("router_bias", f.router_bias);
  flow.flag("correction_bias", f.correction_bias);
  flow.flag("expert_scale", f.expert_scale);
  flow.number("router_scale", f.router_scale);
  return flow.str();
}

struct MixerLine {
  std::string& out;
  void operator()(const Attention& a) const {
    const bool cross = a.span.kind == Span::Kind::cross;
    out += std::string("    ") + (cross ? "cross_attention: " : "attention: ") + attention_yaml(a) + "\n";
  }
  void operator()(const LinearMixer& m) const { out += "    linear: " + linear_yaml(m) + "\n"; }
};

// Runs of equal layers; the shortest period that gives all of them is enough, since a pattern repeats.
std::string pattern_yaml(const Architecture& a) {
  std::size_t period = 1;
  const auto repeats = [&] {
    for (std::size_t i = period; i < a.layers.size(); ++i) {
      if (a.layers[i] != a.layers[i - period]) return false;
    }
    return true;
  };
  while (period < a.layers.size() && !repeats()) ++period;
  std::string out;
  for (std::size_t i = 0; i < period;) {
    std::size_t next = i + 1;
    while (next < period && a.layers[next] == a.layers[i]) ++next;
    out += (out.empty() ? "" : ", ") + a.specs[a.layers[i]].name;
    if (next - i > 1) out += "*" + to_decimal(static_cast<std::int64_t>(next - i));
    i = next;
  }
  return "[" + out + "]";
}

}  // namespace

std::string to_yaml(const Architecture& a) {
  std::string out;
  const auto line = [&](const std::string& key, const std::string& value) { out += key + ": " + value + "\n"; };
  const auto number = [&](const std::string& key, std::int64_t value) {
    if (value != 0) line(key, to_decimal(value));
  };
  const auto flag = [&](const std::string& key, bool value, bool absent) {
    if (value != absent) line(key, value ? "true" : "false");
  };
  if (!a.id.empty()) line("id", a.id);
  line("name", quoted(a.name.empty() ? "unnamed" : a.name));
  if (!a.family.empty()) line("family", quoted(a.family));
  if (!a.source.text.empty() && !a.source.date.empty())
    line("source", "{text: " + quoted(a.source.text) + ", date: " + a.source.date + "}");
  if (!a.note.empty()) line("note", quoted(a.note));
  line("d_model", to_decimal(a.d_model));
  line("vocab_size", to_decimal(a.vocab_size));
  number("d_embedding", a.d_embedding);
  line("tied_embeddings", a.tied_embeddings ? "true" : "false");
  flag("lm_head", a.lm_head, true);
  flag("lm_head_bias", a.lm_head_bias, false);
  line("norm", name_of_norm(a.norm));
  flag("final_norm", a.final_norm, true);
  flag("embedding_norm", a.embedding_norm, false);
  number("learned_positions", a.learned_positions);
  number("type_vocab", a.type_vocab);
  number("max_context", a.max_context);
  line("n_layers", to_decimal(a.n_layers()));
  out += "layers:\n";
  for (const LayerSpec& spec : a.specs) {
    out += "  " + spec.name + ":\n";
    for (const Mixer& mixer : spec.mixers) std::visit(MixerLine{out}, mixer);
    if (spec.ffn.any()) out += "    feed_forward: " + feed_forward_yaml(spec.ffn) + "\n";
    out += "    norms: " + to_decimal(spec.norms) + "\n";
    if (!spec.extras.empty()) out += "    extras: " + named(spec.extras) + "\n";
  }
  if (a.specs.size() > 1) line("pattern", pattern_yaml(a));
  Architecture assigned = a;
  assign_kv_owners(assigned);
  if (assigned.kv_owner != a.kv_owner) {
    std::string owners;
    for (const std::int32_t owner : a.kv_owner) owners += (owners.empty() ? "" : ", ") + to_decimal(owner);
    line("kv_owner", "[" + owners + "]");
  }
  if (a.mtp.n_layers > 0) {
    Flow mtp;
    mtp.always("n_layers", a.mtp.n_layers);
    mtp.number("projections", a.mtp.projections, 1);
    mtp.number("norms", a.mtp.norms, 3);
    mtp.flag("own_embeddings", a.mtp.own_embeddings);
    line("mtp", mtp.str());
  }
  if (!a.extras.empty()) line("extras", named(a.extras));
  if (!a.stored.empty()) line("stored", named(a.stored));
  return out;
}

}  // namespace mha
