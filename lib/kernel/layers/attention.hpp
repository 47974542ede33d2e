// Softmax attention in three forms, and the parts that they share: queries, the choice of what a query reads, one
// head's attention, and the gates before the output projection.
#pragma once

#include "kernel/layers/arithmetic.hpp"

namespace mha::layers {

// One row a form of softmax attention; `computes` is true in exactly one row for an Attention that has an oracle.
struct AttentionOracle {
  std::string_view id;
  bool (*computes)(const Attention& a) = nullptr;
  void (*draw)(const Attention& a, std::int64_t d_model, Weights& weights) = nullptr;
  void (*start)(const Attention& a, MixerState& state) = nullptr;
  // Counts into `own`, and what the indexer does into `index`.
  Vectors (*forward)(const Attention& a, Weights& weights, const Input& in, MixerState& state, Count& own,
                     Count& index) = nullptr;
};
[[nodiscard]] const std::vector<AttentionOracle>& attention_oracles();
[[nodiscard]] const AttentionOracle* find_attention_oracle(const Attention& a);  // nullptr: none

[[nodiscard]] bool has_indexer(const Attention& a);

// ---- grouped.cpp, latent.cpp, compressed.cpp ------------------------------------------------------------------------

[[nodiscard]] bool is_grouped(const Attention& a);
void draw_grouped(const Attention& a, std::int64_t d_model, Weights& weights);
void start_grouped(const Attention& a, MixerState& state);
Vectors grouped(const Attention& a, Weights& weights, const Input& in, MixerState& state, Count& own, Count& index);

[[nodiscard]] bool is_latent(const Attention& a);
void draw_latent(const Attention& a, std::int64_t d_model, Weights& weights);
void start_latent(const Attention& a, MixerState& state);
Vectors latent(const Attention& a, Weights& weights, const Input& in, MixerState& state, Count& own, Count& index);

[[nodiscard]] bool is_compressed(const Attention& a);
void draw_compressed(const Attention& a, std::int64_t d_model, Weights& weights);
void start_compressed(const Attention& a, MixerState& state);
Vectors compressed(const Attention& a, Weights& weights, const Input& in, MixerState& state, Count& own, Count& index);

// ---- Queries and gates: attention.cpp -------------------------------------------------------------------------------

struct Queries {
  Vectors heads;  // [n x n_heads * d_head]
  Vectors from;   // what an indexer projects its queries from: the latent, or x
};
void draw_queries(const Attention& a, std::int64_t d_model, Weights& weights);
[[nodiscard]] Queries project_queries(const Attention& a, Weights& weights, const Vectors& x, Count& count);

void draw_gates(const Attention& a, std::int64_t d_model, Weights& weights);
// heads [n x n_heads * d_value] times the gates that the layer has.
void apply_gates(const Attention& a, Weights& weights, const Vectors& x, Vectors& heads, Count& count);
[[nodiscard]] const double* sink_of(Weights& weights, std::int64_t head);  // nullptr: none

// ---- What a query reads ---------------------------------------------------------------------------------------------

using Picks = std::vector<std::int64_t>;  // row numbers

// All that the span shows to each new token, or the best of it where there is an indexer.
[[nodiscard]] std::vector<Picks> pick(const Attention& a, Weights& weights, const Input& in, const Queries& queries,
                                      MixerState& state, Count& index);

// The rows themselves. Reading what a cache forgot is a mistake of the caller.
[[nodiscard]] std::vector<const double*> rows_of(const Cached& cached, const Picks& picks);

// scores[j] += q . row j [offset, offset + width)
void add_scores(const double* q, const std::vector<const double*>& rows, std::int64_t offset, std::int64_t width,
                std::vector<double>& scores, Count& count);
// out += p_j row j [offset, offset + width)
void add_values(const std::vector<double>& p, const std::vector<const double*>& rows, std::int64_t offset,
                std::int64_t width, double* out, Count& count);
void scale_by_width(std::vector<double>& scores, std::int64_t d_head);

// ---- The indexer: indexer.cpp ---------------------------------------------------------------------------------------

void draw_index_queries(const Attention& a, std::int64_t d_model, Weights& weights);
void draw_index_keys(const Attention& a, std::int64_t d_model, Weights& weights);
void start_index_keys(const Attention& a, MixerState& state);
void cache_index_keys(const Vectors& x, Weights& weights, MixerState& state, Count& index);

struct IndexQueries {
  Vectors heads;    // [n x n_heads * d_head]
  Vectors weights;  // [n x n_heads]
};
[[nodiscard]] IndexQueries project_index_queries(const Attention& a, Weights& weights, const Vectors& x,
                                                 const Vectors& from, Count& index);
// The top_k of `seen` with the largest sum over heads of weight * relu(q . k), in order; the earlier one of equals.
[[nodiscard]] Picks best(const Indexer& indexer, const IndexQueries& queries, std::int64_t token, const Cached& keys,
                         Seen seen, Count& index);

// ---- The compressor of DeepSeek-V4: compressor.cpp ------------------------------------------------------------------

// Pools the rows of each `ratio` tokens into one of `width`. Weights and states are named after `name`.
struct Compressor {
  std::string name;
  std::int64_t ratio = 0;
  std::int64_t width = 0;
  CacheRole role = CacheRole::entry;

  // Blocks overlap at ratio 4: an entry is pooled from its own block and from the one before, each with its own half.
  [[nodiscard]] std::int64_t halves() const { return ratio == 4 ? 2 : 1; }
};
void draw_compressor(const Compressor& c, std::int64_t d_model, Weights& weights);
void start_compressor(const Compressor& c, MixerState& state);
// Appends the entries that the tokens of x complete to the rows c.name of the state.
void compress(const Compressor& c, const Vectors& x, Weights& weights, MixerState& state, Count& count);

}  // namespace mha::layers
