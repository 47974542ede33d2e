// Attention with keys and values in n_kv_heads heads, each for n_heads / n_kv_heads queries: MHA, MQA and GQA, over any
// span, with norms of queries and keys, values that are the keys, and a cache of another layer.
#include "kernel/layers/attention.hpp"

namespace mha::layers {
namespace {

bool own_kv_weights(const Attention& a) {
  return !a.shares_kv || a.keeps_kv_weights;
}

bool values_are_cached_keys(const Attention& a) {
  return a.tied_values && !a.values_cached;
}

void draw_qk_norm(const Attention& a, const std::string& name, std::int64_t n_heads, Weights& weights) {
  if (a.qk_norm == QkNorm::none) return;
  const std::int64_t width = a.qk_norm == QkNorm::per_head ? a.layout.d_head : n_heads * a.layout.d_head;
  weights.vector(name, width, 1);
  if (a.qk_norm_shift) weights.vector(name + ".shift", width);
}

void apply_qk_norm(const Attention& a, const std::string& name, Weights& weights, Vectors& x) {
  if (a.qk_norm == QkNorm::none) return;
  normalise(x, a.qk_norm == QkNorm::per_head ? a.layout.d_head : x.width, a.qk_norm_shift, weights.find(name),
            weights.find(name + ".shift"));
}

void cache_rows(const Vectors& x, Cached& cached) {
  for (std::int64_t t = 0; t < x.n; ++t) cached.add(x.at(t));
}

void cache_keys_and_values(const Attention& a, const Vectors& x, Weights& weights, MixerState& state,
                           std::int64_t& products) {
  Vectors keys = project(x, weights, "k", products);
  Vectors values = a.tied_values ? keys : project(x, weights, "v", products);
  apply_qk_norm(a, "k_norm", weights, keys);
  if (a.value_norm) normalise(values, a.layout.d_value, false, nullptr, nullptr);
  cache_rows(keys, state.rows("k"));
  if (!values_are_cached_keys(a)) cache_rows(values, state.rows("v"));
}

void remember(const Attention& a, const Input& in, Weights& weights, MixerState& state, Count& own) {
  if (a.shares_kv) return;
  if (a.span.kind != Span::Kind::cross) {
    cache_keys_and_values(a, in.x, weights, state, own.of(Product::weights));
  } else if (state.rows("k").added() == 0) {  // the source is the same at every step
    cache_keys_and_values(a, *in.source, weights, state, own.of(Product::source));
  }
}

}  // namespace

bool is_grouped(const Attention& a) {
  const std::string_view id = a.layout.variant->id;
  return a.compression.ratio == 0 && (id == "mha" || id == "mqa" || id == "gqa");
}

void draw_grouped(const Attention& a, std::int64_t d_model, Weights& weights) {
  const Layout& l = a.layout;
  draw_queries(a, d_model, weights);
  draw_qk_norm(a, "q_norm", l.n_heads, weights);
  if (own_kv_weights(a)) {
    weights.matrix("k", d_model, l.n_kv_heads * l.d_head, l.bias.k);
    draw_qk_norm(a, "k_norm", l.n_kv_heads, weights);
    if (!a.tied_values) weights.matrix("v", d_model, l.n_kv_heads * l.d_value, l.bias.v);
  }
  draw_gates(a, d_model, weights);
  weights.matrix("o", l.n_heads * l.d_value, d_model, l.bias.o);
  if (!has_indexer(a)) return;
  draw_index_queries(a, d_model, weights);
  draw_index_keys(a, d_model, weights);
}

void start_grouped(const Attention& a, MixerState& state) {
  const Layout& l = a.layout;
  const std::int64_t capacity = span_oracle(a.span.kind).capacity(a.span);
  if (has_indexer(a)) start_index_keys(a, state);
  if (a.shares_kv) return;
  state.cached["k"] = Cached(CacheRole::key, l.n_kv_heads * l.d_head, capacity);
  if (!values_are_cached_keys(a)) state.cached["v"] = Cached(CacheRole::value, l.n_kv_heads * l.d_value, capacity);
}

Vectors grouped(const Attention& a, Weights& weights, const Input& in, MixerState& state, Count& own, Count& index) {
  const Layout& l = a.layout;
  Queries queries = project_queries(a, weights, in.x, own);
  apply_qk_norm(a, "q_norm", weights, queries.heads);
  remember(a, in, weights, state, own);
  const MixerState& holder = a.shares_kv ? *in.owner : state;
  const std::vector<Picks> picks = pick(a, weights, in, queries, state, index);

  Vectors heads(in.x.n, l.n_heads * l.d_value);
  for (std::int64_t t = 0; t < in.x.n; ++t) {
    const Picks& picked = picks[static_cast<std::size_t>(t)];
    const auto keys = rows_of(holder.rows("k"), picked);
    const auto values = rows_of(holder.rows(values_are_cached_keys(a) ? "k" : "v"), picked);
    for (std::int64_t h = 0; h < l.n_heads; ++h) {
      const std::int64_t kv_head = h / l.group_size();
      std::vector<double> scores(picked.size());
      add_scores(queries.heads.at(t, h * l.d_head), keys, kv_head * l.d_head, l.d_head, scores, own);
      scale_by_width(scores, l.d_head);
      softmax(scores, sink_of(weights, h));
      add_values(scores, values, kv_head * l.d_value, l.d_value, heads.at(t, h * l.d_value), own);
    }
  }
  apply_gates(a, weights, in.x, heads, own);
  return project(heads, weights, "o", own.of(Product::weights));
}

}  // namespace mha::layers
