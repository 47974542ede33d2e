// Random layers of every kind: a specification, what is around it (a source sequence, the owner of a shared cache), and
// a split of the tokens into steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mha/architecture.hpp"

#include "layouts.hpp"

namespace mha::test {

struct LayerCase {
  std::int64_t d_model = 0;
  NormKind norm = NormKind::rms;
  LayerSpec spec;
  std::optional<LayerSpec> owner;  // of the cache that spec reads
  std::int64_t n_source = 0;
  std::vector<std::int64_t> steps;  // tokens that each adds

  [[nodiscard]] std::int64_t n_tokens() const {
    std::int64_t sum = 0;
    for (const std::int64_t step : steps) sum += step;
    return sum;
  }
  [[nodiscard]] Architecture architecture() const {
    Architecture a;
    a.d_model = d_model;
    a.vocab_size = 1;
    a.norm = norm;
    if (owner) a.specs.push_back(*owner);
    a.specs.push_back(spec);
    for (std::size_t i = 0; i < a.specs.size(); ++i) a.layers.push_back(static_cast<std::uint16_t>(i));
    assign_kv_owners(a);
    return a;
  }
  [[nodiscard]] const Attention* attention() const {
    return spec.mixers.empty() ? nullptr : std::get_if<Attention>(&spec.mixers.front());
  }
  [[nodiscard]] bool latent() const { return attention() != nullptr && attention()->layout.d_kv_latent > 0; }
};

inline std::int64_t one_of(Random& random, const std::vector<std::int64_t>& values) {
  return values[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(values.size()) - 1))];
}

inline Layout small_layout(const std::string& id, Random& random) {
  const std::int64_t heads = one_of(random, {1, 2, 3, 4, 6, 8});
  if (id == "mla") {
    Layout l = mla_layout(heads, random.between(1, 12), random.coin() ? random.between(1, 10) : 0, random.between(1, 6),
                          2 * random.between(0, 2), random.between(1, 6));
    l.bias = {random.coin(), random.coin(), random.coin(), random.coin()};
    return l;
  }
  std::int64_t kv_heads = heads;
  if (id == "mqa") kv_heads = 1;
  if (id == "gqa") do
      kv_heads = random.between(1, heads);
    while (heads % kv_heads != 0);
  const std::int64_t d_head = random.between(1, 9);
  Layout l = grouped_layout(id.c_str(), heads, kv_heads, d_head, random.coin() ? d_head : random.between(1, 9));
  l.bias = {random.coin(), random.coin(), random.coin(), random.coin()};
  return l;
}

inline Span random_span(Span::Kind kind, Random& random) {
  const bool limited = kind == Span::Kind::window || kind == Span::Kind::chunked;
  return {kind, limited ? random.between(1, 28) : 0};
}

inline Indexer random_indexer(Random& random) {
  return {random.between(1, 3), random.between(1, 5), random.between(1, 12)};
}

inline void add_grouped_features(Attention& a, Random& random) {
  a.qk_norm = static_cast<QkNorm>(random.between(0, 2));
  a.layout.qk_norm = a.qk_norm == QkNorm::per_head;
  a.qk_norm_shift = a.qk_norm != QkNorm::none && random.coin();
  if (random.between(0, 3) == 0) a.d_q_latent = random.between(1, 9);
  a.value_norm = random.between(0, 5) == 0;
  a.tied_values = random.between(0, 3) == 0;
  if (!a.tied_values) return;
  a.layout.d_value = a.layout.d_head;
  a.values_cached = random.coin();
}

inline Attention random_attention(const std::string& variant, Span::Kind kind, Random& random) {
  Attention a;
  a.layout = small_layout(variant, random);
  a.span = random_span(kind, random);
  if (variant != "mla") add_grouped_features(a, random);
  a.sinks = random.coin();
  a.output_gate = random.between(0, 2) == 0;
  a.head_gate = random.between(0, 2) == 0;
  const bool causal = kind != Span::Kind::cross && kind != Span::Kind::encoder;
  if (causal && random.between(0, 2) == 0) a.indexer = random_indexer(random);
  return a;
}

inline Attention random_compressed(Random& random) {
  Attention a;
  const std::int64_t d_head = random.between(1, 8), heads = one_of(random, {1, 2, 4, 6, 8});
  a.layout = grouped_layout(heads == 1 ? "mha" : "mqa", heads, 1, d_head, d_head);
  a.compression = {one_of(random, {1, 2, 3, 4, 4, 4, 5, 8, 30}), random.between(1, 28)};
  if (random.coin()) a.d_q_latent = random.between(1, 9);
  if (random.coin()) {
    do a.o_groups = random.between(1, heads);
    while (heads % a.o_groups != 0);
    a.d_o_latent = random.between(1, 6);
  }
  a.sinks = random.coin();
  a.output_gate = random.between(0, 3) == 0;
  if (random.coin()) a.indexer = random_indexer(random);
  if (a.indexer.n_heads > 0) a.indexer.top_k = random.between(1, 4);  // there are few entries to pick from
  return a;
}

inline LinearMixer random_linear(const LinearKind& kind, Random& random) {
  LinearMixer m;
  m.kind = &kind;
  const auto needs = [&](std::string_view field) {
    return std::find(kind.needs.begin(), kind.needs.end(), field) != kind.needs.end();
  };
  m.n_heads = one_of(random, {1, 2, 3, 4, 6});
  if (needs("n_key_heads")) {
    do m.n_key_heads = random.between(1, m.n_heads);
    while (m.n_heads % m.n_key_heads != 0);
  }
  if (needs("d_key")) m.d_key = random.between(1, 7);
  if (needs("d_value")) m.d_value = random.between(1, 7);
  if (needs("d_conv")) m.d_conv = random.between(1, 5);
  if (needs("d_latent")) m.d_latent = random.between(1, 6);
  m.conv_bias = random.coin() && m.d_conv > 0;
  m.bias = random.coin();
  m.inner_norm = random.coin();
  m.full_gate = random.coin() && m.kind->id == "kimi-delta";
  return m;
}

inline FeedForward random_feed_forward(Random& random) {
  FeedForward f;
  f.gated = random.coin();
  f.bias_up = random.coin();
  f.bias_down = random.coin();
  const std::int64_t form = random.between(0, 3);  // none, dense, mixture, both
  if (form == 1 || form == 3) f.d_ff = random.between(1, 24);
  if (form < 2) return f;
  f.n_experts = random.between(1, 6);
  f.top_k = random.between(1, f.n_experts);
  f.d_ff_expert = random.between(1, 10);
  if (random.coin()) f.d_ff_shared = random.between(1, 10);
  f.shared_gate = f.d_ff_shared > 0 && random.coin();
  if (random.between(0, 2) == 0) f.d_latent = random.between(1, 9);
  f.router_bias = random.coin();
  f.correction_bias = random.coin();
  f.expert_scale = random.coin();
  return f;
}

// A layer that keeps the cache which `reader` reads; its weights and everything behind its cache are its own.
inline LayerSpec owner_of(const LayerSpec& reader) {
  LayerSpec owner = reader;
  owner.name = "owner";
  auto& a = std::get<Attention>(owner.mixers.front());
  a.shares_kv = a.keeps_kv_weights = false;
  return owner;
}

inline void split(std::int64_t n_tokens, bool whole, Random& random, std::vector<std::int64_t>& steps) {
  while (n_tokens > 0) {
    steps.push_back(whole ? n_tokens : random.between(1, random.coin() ? 1 : n_tokens));
    n_tokens -= steps.back();
  }
}

// Everything around the mixers.
inline LayerCase around(std::vector<Mixer> mixers, Random& random) {
  LayerCase c;
  c.d_model = random.between(8, random.between(0, 3) == 0 ? 48 : 24);
  c.norm = static_cast<NormKind>(random.between(0, 3));
  c.spec.name = "layer";
  c.spec.mixers = std::move(mixers);
  c.spec.ffn = random_feed_forward(random);
  if (c.spec.mixers.empty() && !c.spec.ffn.any()) c.spec.ffn.d_ff = 8;
  if (c.spec.ffn.n_experts > 0 && random.coin()) c.spec.ffn.router_scale = c.d_model;
  c.spec.norms = random.between(0, 5);
  const Attention* a = c.attention();
  if (a != nullptr && a->span.kind == Span::Kind::cross) c.n_source = random.between(1, 12);
  if (a != nullptr && a->shares_kv) c.owner = owner_of(c.spec);
  // An encoder sees later tokens: it has no next step.
  split(random.between(1, 24), a != nullptr && a->span.kind == Span::Kind::encoder, random, c.steps);
  return c;
}

}  // namespace mha::test
