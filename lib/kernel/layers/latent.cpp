// Multi-head latent attention: one cached latent for all heads, and a key part that heads share. Expanded: the keys and
// values of everything that is cached are built anew at each step. Absorbed: k_up moves to the query, v_up behind the
// softmax. After DeepSeek-V2 (arXiv 2405.04434), section 2.1.
#include <algorithm>
#include <numeric>

#include "kernel/layers/attention.hpp"

namespace mha::layers {
namespace {

bool own_kv_weights(const Attention& a) {
  return !a.shares_kv || a.keeps_kv_weights;
}

void cache_latents(const Attention& a, const Vectors& x, Weights& weights, MixerState& state, Count& own) {
  const Layout& l = a.layout;
  const Vectors down = project(x, weights, "kv_down", own.of(Product::weights));
  Vectors latents = columns(down, 0, l.d_kv_latent);
  const Vectors shared = columns(down, l.d_kv_latent, l.d_rope);
  rms_norm(latents, weights.find("kv_latent_norm"));
  for (std::int64_t t = 0; t < x.n; ++t) state.rows("latent").add(latents.at(t));
  for (std::int64_t t = 0; l.d_rope > 0 && t < x.n; ++t) state.rows("rope_key").add(shared.at(t));
}

// Where one step's attention happens.
struct Scene {
  const Attention& a;
  Weights& weights;
  const Queries& queries;
  const MixerState& holder;
  const std::vector<Picks>& picks;
  Count& own;

  [[nodiscard]] const double* query(std::int64_t t, std::int64_t h) const {
    return queries.heads.at(t, h * a.layout.d_head);
  }
  void finish_scores(std::int64_t t, std::int64_t h, std::vector<double>& scores) const {
    const Layout& l = a.layout;
    const Picks& picked = picks[static_cast<std::size_t>(t)];
    if (l.d_rope > 0)
      add_scores(query(t, h) + l.d_nope, rows_of(holder.rows("rope_key"), picked), 0, l.d_rope, scores, own);
    scale_by_width(scores, l.d_head);
    softmax(scores, sink_of(weights, h));
  }
};

// The latents that can still be read, oldest first.
Vectors held_latents(const Layout& l, const Cached& latents) {
  Vectors held(latents.added() - latents.oldest(), l.d_kv_latent);
  for (std::int64_t i = 0; i < held.n; ++i) std::copy_n(latents.row(latents.oldest() + i), held.width, held.at(i));
  return held;
}

std::vector<const double*> rows_of(const Vectors& held, std::int64_t oldest, const Picks& picks) {
  std::vector<const double*> rows;
  for (const std::int64_t i : picks) rows.push_back(held.at(i - oldest));
  return rows;
}

Vectors expanded(const Scene& s) {
  const Layout& l = s.a.layout;
  const std::int64_t oldest = s.holder.rows("latent").oldest();
  const Vectors latents = held_latents(l, s.holder.rows("latent"));
  const Vectors keys = project(latents, s.weights, "k_up", s.own.of(Product::context));
  const Vectors values = project(latents, s.weights, "v_up", s.own.of(Product::context));
  Vectors heads(s.queries.heads.n, l.n_heads * l.d_value);
  for (std::int64_t t = 0; t < heads.n; ++t)
    for (std::int64_t h = 0; h < l.n_heads; ++h) {
      const Picks& picked = s.picks[static_cast<std::size_t>(t)];
      std::vector<double> scores(picked.size());
      add_scores(s.query(t, h), rows_of(keys, oldest, picked), h * l.d_nope, l.d_nope, scores, s.own);
      s.finish_scores(t, h, scores);
      add_values(scores, rows_of(values, oldest, picked), h * l.d_value, l.d_value, heads.at(t, h * l.d_value), s.own);
    }
  return heads;
}

// The query's first d_nope elements of each head, side by side.
Vectors without_rope(const Layout& l, const Vectors& queries) {
  Vectors out(queries.n, l.n_heads * l.d_nope);
  for (std::int64_t t = 0; t < out.n; ++t)
    for (std::int64_t i = 0; i < out.width; ++i) *out.at(t, i) = *queries.at(t, i / l.d_nope * l.d_head + i % l.d_nope);
  return out;
}

// q . bias of k_up: the same for all keys of a head. Biases are not counted as products.
double key_bias(const Scene& s, std::int64_t t, std::int64_t h) {
  Weight* bias = s.weights.find("k_up.bias");
  double sum = 0;
  for (std::int64_t i = 0; bias != nullptr && i < s.a.layout.d_nope; ++i)
    sum += s.query(t, h)[i] * bias->use(h * s.a.layout.d_nope + i);
  return sum;
}

// Each value has the bias of v_up: the sum has it as often as the probabilities say, which is once without a sink.
void add_value_bias(const Scene& s, const Vectors& shares, Vectors& heads) {
  Weight* bias = s.weights.find("v_up.bias");
  for (std::int64_t t = 0; bias != nullptr && t < heads.n; ++t)
    for (std::int64_t i = 0; i < heads.width; ++i)
      *heads.at(t, i) += *shares.at(t, i / s.a.layout.d_value) * bias->use(i);
}

Vectors absorbed(const Scene& s) {
  const Layout& l = s.a.layout;
  std::int64_t& products = s.own.of(Product::weights);
  const Vectors q = project_blocks_transposed(without_rope(l, s.queries.heads), s.weights["k_up"], l.n_heads, products);
  Vectors mixed(q.n, l.n_heads * l.d_kv_latent), shares(q.n, l.n_heads);
  for (std::int64_t t = 0; t < q.n; ++t) {
    const auto latents = layers::rows_of(s.holder.rows("latent"), s.picks[static_cast<std::size_t>(t)]);
    for (std::int64_t h = 0; h < l.n_heads; ++h) {
      std::vector<double> scores(latents.size(), key_bias(s, t, h));
      add_scores(q.at(t, h * l.d_kv_latent), latents, 0, l.d_kv_latent, scores, s.own);
      s.finish_scores(t, h, scores);
      add_values(scores, latents, 0, l.d_kv_latent, mixed.at(t, h * l.d_kv_latent), s.own);
      *shares.at(t, h) = std::accumulate(scores.begin(), scores.end(), 0.0);
    }
  }
  Vectors heads = project_blocks(mixed, s.weights["v_up"], l.n_heads, products);
  add_value_bias(s, shares, heads);
  return heads;
}

}  // namespace

bool is_latent(const Attention& a) {
  return a.compression.ratio == 0 && a.layout.variant->id == "mla";
}

void draw_latent(const Attention& a, std::int64_t d_model, Weights& weights) {
  const Layout& l = a.layout;
  draw_queries(a, d_model, weights);
  if (own_kv_weights(a)) {
    weights.matrix("kv_down", d_model, l.d_kv_latent + l.d_rope);
    weights.vector("kv_latent_norm", l.d_kv_latent, 1);
  }
  weights.matrix("k_up", l.d_kv_latent, l.n_heads * l.d_nope, l.bias.k);
  weights.matrix("v_up", l.d_kv_latent, l.n_heads * l.d_value, l.bias.v);
  draw_gates(a, d_model, weights);
  weights.matrix("o", l.n_heads * l.d_value, d_model, l.bias.o);
  if (!has_indexer(a)) return;
  draw_index_queries(a, d_model, weights);
  draw_index_keys(a, d_model, weights);
}

void start_latent(const Attention& a, MixerState& state) {
  const std::int64_t capacity = span_oracle(a.span.kind).capacity(a.span);
  if (has_indexer(a)) start_index_keys(a, state);
  if (a.shares_kv) return;
  state.cached["latent"] = Cached(CacheRole::latent, a.layout.d_kv_latent, capacity);
  if (a.layout.d_rope > 0) state.cached["rope_key"] = Cached(CacheRole::rope_key, a.layout.d_rope, capacity);
}

Vectors latent(const Attention& a, Weights& weights, const Input& in, MixerState& state, Count& own, Count& index) {
  const Queries queries = project_queries(a, weights, in.x, own);
  if (!a.shares_kv) cache_latents(a, in.x, weights, state, own);
  const std::vector<Picks> picks = pick(a, weights, in, queries, state, index);
  const Scene scene{a, weights, queries, a.shares_kv ? *in.owner : state, picks, own};
  Vectors heads = in.absorbed ? absorbed(scene) : expanded(scene);
  apply_gates(a, weights, in.x, heads, own);
  return project(heads, weights, "o", own.of(Product::weights));
}

}  // namespace mha::layers
