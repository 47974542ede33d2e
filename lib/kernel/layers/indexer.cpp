// The lightning indexer: a small attention whose scores pick what the large one reads. Index queries come from the
// query latent (or from x), index keys from x through a LayerNorm, the heads' weights from x. After DeepSeek-V3.2 and
// huggingface/transformers, models/deepseek_v32.
#include <algorithm>
#include <numeric>

#include "kernel/layers/attention.hpp"

namespace mha::layers {

void draw_index_queries(const Attention& a, std::int64_t d_model, Weights& weights) {
  const std::int64_t latent = a.layout.d_q_latent > 0 ? a.layout.d_q_latent : a.d_q_latent;
  weights.matrix("index_q", latent > 0 ? latent : d_model, a.indexer.n_heads * a.indexer.d_head);
  weights.matrix("index_weights", d_model, a.indexer.n_heads);
}

void draw_index_keys(const Attention& a, std::int64_t d_model, Weights& weights) {
  weights.matrix("index_k", d_model, a.indexer.d_head);
  weights.vector("index_k_norm", a.indexer.d_head, 1);
  weights.vector("index_k_norm.shift", a.indexer.d_head);
}

void start_index_keys(const Attention& a, MixerState& state) {
  state.cached["index_k"] = Cached(CacheRole::index_key, a.indexer.d_head, span_oracle(a.span.kind).capacity(a.span));
}

void cache_index_keys(const Vectors& x, Weights& weights, MixerState& state, Count& index) {
  Vectors keys = project(x, weights, "index_k", index.of(Product::weights));
  normalise(keys, keys.width, true, weights.find("index_k_norm"), weights.find("index_k_norm.shift"));
  for (std::int64_t t = 0; t < x.n; ++t) state.rows("index_k").add(keys.at(t));
}

IndexQueries project_index_queries(const Attention& /*a*/, Weights& weights, const Vectors& x, const Vectors& from,
                                   Count& index) {
  std::int64_t& products = index.of(Product::weights);
  return {project(from, weights, "index_q", products), project(x, weights, "index_weights", products)};
}

Picks best(const Indexer& indexer, const IndexQueries& queries, std::int64_t token, const Cached& keys, Seen seen,
           Count& index) {
  Picks order(static_cast<std::size_t>(seen.end - seen.first));
  std::iota(order.begin(), order.end(), seen.first);
  std::vector<double> scores(order.size());
  for (std::size_t j = 0; j < order.size(); ++j)
    for (std::int64_t h = 0; h < indexer.n_heads; ++h) {
      const double* q = queries.heads.at(token, h * indexer.d_head);
      const double score = std::max(0.0, dot(q, keys.row(order[j]), indexer.d_head, index.of(Product::index)));
      add_scaled(*queries.weights.at(token, h), &score, 1, &scores[j], index.of(Product::index));
    }
  const auto better = [&](std::int64_t i, std::int64_t j) {
    const double a = scores[static_cast<std::size_t>(i - seen.first)];
    const double b = scores[static_cast<std::size_t>(j - seen.first)];
    return a > b || (a == b && i < j);
  };
  std::sort(order.begin(), order.end(), better);
  if (static_cast<std::int64_t>(order.size()) > indexer.top_k) order.resize(static_cast<std::size_t>(indexer.top_k));
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace mha::layers
