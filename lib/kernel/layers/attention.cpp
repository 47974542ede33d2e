// The table of forms of softmax attention, and the parts that they share.
#include "kernel/layers/attention.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mha::layers {
namespace {

std::int64_t query_latent(const Attention& a) {
  return a.layout.d_q_latent > 0 ? a.layout.d_q_latent : a.d_q_latent;
}

}  // namespace

const std::vector<AttentionOracle>& attention_oracles() {
  static const std::vector<AttentionOracle> table = {
      {"grouped", is_grouped, draw_grouped, start_grouped, grouped},
      {"latent", is_latent, draw_latent, start_latent, latent},
      {"compressed", is_compressed, draw_compressed, start_compressed, compressed},
  };
  return table;
}

const AttentionOracle* find_attention_oracle(const Attention& a) {
  for (const AttentionOracle& row : attention_oracles())
    if (row.computes(a)) return &row;
  return nullptr;
}

bool has_indexer(const Attention& a) {
  return a.indexer.n_heads > 0 && a.compression.ratio != 1;  // ratio 1 has no entries to pick from
}

void draw_queries(const Attention& a, std::int64_t d_model, Weights& weights) {
  const std::int64_t width = a.layout.n_heads * a.layout.d_head;
  if (query_latent(a) == 0) {
    weights.matrix("q", d_model, width, a.layout.bias.q);
    return;
  }
  weights.matrix("q_down", d_model, query_latent(a));
  weights.vector("q_latent_norm", query_latent(a), 1);
  weights.matrix("q_up", query_latent(a), width, a.layout.bias.q);
}

Queries project_queries(const Attention& a, Weights& weights, const Vectors& x, Count& count) {
  std::int64_t& products = count.of(Product::weights);
  if (query_latent(a) == 0) return {project(x, weights, "q", products), x};
  Vectors latent = project(x, weights, "q_down", products);
  rms_norm(latent, weights.find("q_latent_norm"));
  Vectors heads = project(latent, weights, "q_up", products);
  return {std::move(heads), std::move(latent)};
}

void draw_gates(const Attention& a, std::int64_t d_model, Weights& weights) {
  if (a.sinks) weights.vector("sinks", a.layout.n_heads);
  if (a.output_gate) weights.matrix("o_gate", d_model, a.layout.n_heads * a.layout.d_value);
  if (a.head_gate) weights.matrix("head_gate", d_model, a.layout.n_heads);
}

void apply_gates(const Attention& a, Weights& weights, const Vectors& x, Vectors& heads, Count& count) {
  if (a.output_gate) {
    Vectors gate = project(x, weights, "o_gate", count.of(Product::weights));
    apply(sigmoid, gate);
    multiply(gate, heads);
  }
  if (!a.head_gate) return;
  const Vectors gate = project(x, weights, "head_gate", count.of(Product::weights));
  for (std::int64_t t = 0; t < heads.n; ++t)
    for (std::int64_t i = 0; i < heads.width; ++i) *heads.at(t, i) *= sigmoid(*gate.at(t, i / a.layout.d_value));
}

const double* sink_of(Weights& weights, std::int64_t head) {
  Weight* sinks = weights.find("sinks");
  if (sinks == nullptr) return nullptr;
  static_cast<void>(sinks->use(head));
  return &sinks->value[static_cast<std::size_t>(head)];
}

std::vector<Picks> pick(const Attention& a, Weights& weights, const Input& in, const Queries& queries,
                        MixerState& state, Count& index) {
  const SpanOracle& span = span_oracle(a.span.kind);
  const std::int64_t n_source = in.source != nullptr ? in.source->n : 0;
  const auto seen = [&](std::int64_t t) {
    return span.seen(a.span, state.n_tokens + t, state.n_tokens + in.x.n, n_source);
  };
  std::vector<Picks> picks;
  if (has_indexer(a)) {
    cache_index_keys(in.x, weights, state, index);
    const IndexQueries q = project_index_queries(a, weights, in.x, queries.from, index);
    for (std::int64_t t = 0; t < in.x.n; ++t)
      picks.push_back(best(a.indexer, q, t, state.rows("index_k"), seen(t), index));
    return picks;
  }
  for (std::int64_t t = 0; t < in.x.n; ++t) {
    picks.emplace_back(static_cast<std::size_t>(seen(t).end - seen(t).first));
    std::iota(picks.back().begin(), picks.back().end(), seen(t).first);
  }
  return picks;
}

std::vector<const double*> rows_of(const Cached& cached, const Picks& picks) {
  std::vector<const double*> rows;
  for (const std::int64_t i : picks) rows.push_back(cached.row(i));
  return rows;
}

void add_scores(const double* q, const std::vector<const double*>& rows, std::int64_t offset, std::int64_t width,
                std::vector<double>& scores, Count& count) {
  for (std::size_t j = 0; j < rows.size(); ++j) scores[j] += dot(q, rows[j] + offset, width, count.of(Product::scores));
}

void add_values(const std::vector<double>& p, const std::vector<const double*>& rows, std::int64_t offset,
                std::int64_t width, double* out, Count& count) {
  for (std::size_t j = 0; j < rows.size(); ++j)
    add_scaled(p[j], rows[j] + offset, width, out, count.of(Product::values));
}

void scale_by_width(std::vector<double>& scores, std::int64_t d_head) {
  for (double& score : scores) score /= std::sqrt(static_cast<double>(d_head));
}

}  // namespace mha::layers
