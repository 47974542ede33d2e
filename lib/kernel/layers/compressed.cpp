// Compressed attention (DeepSeek-V4): one row of d_head for each token is key and value of all heads; the last `window`
// of them are kept plain, and every `ratio` tokens leave one pooled entry. One softmax runs over the window and the
// entries, or the entries that an indexer picks by keys pooled in the same way. The output projection may be grouped
// and low-rank.
#include <numeric>

#include "kernel/layers/attention.hpp"

namespace mha::layers {
namespace {

Compressor entries_of(const Attention& a) {
  return {"entries", a.compression.ratio, a.layout.d_head, CacheRole::entry};
}

Compressor index_entries_of(const Attention& a) {
  return {"index_entries", a.compression.ratio, a.indexer.d_head, CacheRole::index_key};
}

bool pools(const Attention& a) {
  return a.compression.ratio > 1;
}

void draw_output(const Attention& a, std::int64_t d_model, Weights& weights) {
  const std::int64_t width = a.layout.n_heads * a.layout.d_value;
  if (a.o_groups == 0) {
    weights.matrix("o", width, d_model);
    return;
  }
  weights.matrix("o_a", width / a.o_groups, a.o_groups * a.d_o_latent);
  weights.matrix("o_b", a.o_groups * a.d_o_latent, d_model);
}

Vectors project_output(const Attention& a, Weights& weights, const Vectors& heads, std::int64_t& products) {
  if (a.o_groups == 0) return project(heads, weights, "o", products);
  return project(project_blocks(heads, weights["o_a"], a.o_groups, products), weights, "o_b", products);
}

// Entries that each token reads: those that are complete with it, or the best of them.
std::vector<Picks> pick_entries(const Attention& a, Weights& weights, const Input& in, const Vectors& from,
                                MixerState& state, Count& index) {
  std::vector<Picks> picks(static_cast<std::size_t>(in.x.n));
  if (!pools(a)) return picks;
  IndexQueries queries;
  if (has_indexer(a)) {
    compress(index_entries_of(a), in.x, weights, state, index);
    queries = project_index_queries(a, weights, in.x, from, index);
  }
  for (std::int64_t t = 0; t < in.x.n; ++t) {
    Picks& own = picks[static_cast<std::size_t>(t)];
    const std::int64_t complete = (state.n_tokens + t + 1) / a.compression.ratio;
    if (has_indexer(a)) {
      own = best(a.indexer, queries, t, state.rows("index_entries"), {0, complete}, index);
    } else {
      own.resize(static_cast<std::size_t>(complete));
      std::iota(own.begin(), own.end(), 0);
    }
  }
  return picks;
}

// The rows that the token reads, plain ones of its window first.
std::vector<const double*> rows_read(const Attention& a, MixerState& state, std::int64_t position,
                                     const Picks& entries) {
  const Span window{Span::Kind::window, a.compression.window};
  const Seen seen = span_oracle(window.kind).seen(window, position, 0, 0);
  std::vector<const double*> rows;
  for (std::int64_t i = seen.first; i < seen.end; ++i) rows.push_back(state.rows("window").row(i));
  for (const std::int64_t i : entries) rows.push_back(state.rows("entries").row(i));
  return rows;
}

}  // namespace

bool is_compressed(const Attention& a) {
  return a.compression.ratio > 0 && a.compression.window > 0;
}

void draw_compressed(const Attention& a, std::int64_t d_model, Weights& weights) {
  draw_queries(a, d_model, weights);
  weights.matrix("kv", d_model, a.layout.d_head);
  weights.vector("kv_norm", a.layout.d_head, 1);
  draw_output(a, d_model, weights);
  draw_gates(a, d_model, weights);
  if (pools(a)) draw_compressor(entries_of(a), d_model, weights);
  if (!has_indexer(a)) return;
  draw_index_queries(a, d_model, weights);
  draw_compressor(index_entries_of(a), d_model, weights);
}

void start_compressed(const Attention& a, MixerState& state) {
  state.cached["window"] = Cached(CacheRole::entry, a.layout.d_head, a.compression.window);
  if (pools(a)) start_compressor(entries_of(a), state);
  if (has_indexer(a)) start_compressor(index_entries_of(a), state);
}

Vectors compressed(const Attention& a, Weights& weights, const Input& in, MixerState& state, Count& own, Count& index) {
  const Layout& l = a.layout;
  Queries queries = project_queries(a, weights, in.x, own);
  normalise(queries.heads, l.d_head, false, nullptr, nullptr);
  Vectors plain = project(in.x, weights, "kv", own.of(Product::weights));
  rms_norm(plain, weights.find("kv_norm"));
  for (std::int64_t t = 0; t < in.x.n; ++t) state.rows("window").add(plain.at(t));
  if (pools(a)) compress(entries_of(a), in.x, weights, state, own);
  const std::vector<Picks> picks = pick_entries(a, weights, in, queries.from, state, index);

  Vectors heads(in.x.n, l.n_heads * l.d_value);
  for (std::int64_t t = 0; t < in.x.n; ++t) {
    const auto rows = rows_read(a, state, state.n_tokens + t, picks[static_cast<std::size_t>(t)]);
    for (std::int64_t h = 0; h < l.n_heads; ++h) {
      std::vector<double> scores(rows.size());
      add_scores(queries.heads.at(t, h * l.d_head), rows, 0, l.d_head, scores, own);
      scale_by_width(scores, l.d_head);
      softmax(scores, sink_of(weights, h));
      add_values(scores, rows, 0, l.d_value, heads.at(t, h * l.d_value), own);
    }
  }
  apply_gates(a, weights, in.x, heads, own);
  return project_output(a, weights, heads, own.of(Product::weights));
}

}  // namespace mha::layers
