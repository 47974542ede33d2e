// What a layout costs: exact integers, each a fold over an AttentionPlan. Nothing here asks which variant it was, and
// nothing here is about quality. docs/formulas.md derives every formula; shapes are in brackets.
#pragma once

#include "mha/attention.hpp"
#include "mha/model.hpp"
#include "mha/rules.hpp"

namespace mha {

// Which (query, key) pairs are counted as work. Kernels that skip masked blocks do the triangle; many published figures
// and profilers count the full square. Every printed FLOP figure names its convention.
enum class FlopConvention { causal, full };

struct ParamCount {  // of the whole model; every tensor once
  Params embedding;  // vocab_size * d_model
  Params lm_head;    // 0 when tied
  Params attention;  // all layers: matrices, biases, attention norms
  Params attention_per_layer;
  Params ffn;    // all layers
  Params norms;  // residual norms of all layers, and the final one
  Params total;
};

[[nodiscard]] Params attention_params(const AttentionPlan& plan);  // one layer
[[nodiscard]] ParamCount count_params(const ModelShape& shape, const AttentionPlan& plan);

// The d_ff, a multiple of `multiple`, that brings the whole model nearest to `budget` (0 when even d_ff = multiple is over).
[[nodiscard]] std::int64_t solve_d_ff(const ModelShape& shape, const AttentionPlan& plan, Params budget,
                                      std::int64_t multiple);

// One forward step of one sequence: n_past tokens are in the cache, n_new are added.
struct Step {
  std::int64_t n_past = 0;
  std::int64_t n_new = 0;
};

[[nodiscard]] i128 pairs(Step step,
                         FlopConvention convention);  // exact triangle: n_new * n_past + n_new (n_new + 1) / 2
[[nodiscard]] MultiplyAdds attention_macs(const ComputePath& path, Step step, FlopConvention convention);  // one layer
[[nodiscard]] std::size_t cheaper_path(const AttentionPlan& plan, Step step, FlopConvention convention);   // index

// MLA: where absorbed and expanded swap. Both are 0 for plans with one path.
struct PathCrossover {
  std::int64_t decode_context =
      0;  // smallest n_past from which a one-token step is cheaper absorbed; 0: never up to the limit
  std::int64_t chunk_tokens =
      0;  // smallest n_new for which expanded is cheaper at n_past = given; 0: never up to the limit
};
[[nodiscard]] PathCrossover path_crossover(const AttentionPlan& plan, std::int64_t n_past);

[[nodiscard]] MultiplyAdds ffn_macs_per_token(const ModelShape& shape);      // one layer
[[nodiscard]] MultiplyAdds lm_head_macs_per_token(const ModelShape& shape);  // tied or not

// Whole model, one sequence, 2 FLOPs a multiply-add; matrix products only (softmax, norms and biases are not counted).
struct FlopCount {
  Flops prefill;            // n_ctx new tokens on an empty cache
  Flops prefill_attention;  // of which attention, projections included
  Flops decode_per_token;   // one token at a full context: n_past = n_ctx - 1
  Flops decode_attention;
  Flops training_per_token;  // 3 * prefill / n_ctx, rounded up to a whole FLOP
};
[[nodiscard]] FlopCount count_flops(const ModelShape& shape, const AttentionPlan& plan, std::int64_t n_ctx,
                                    FlopConvention convention);

struct CacheFormats {
  const StorageFormat* key = nullptr;
  const StorageFormat* value = nullptr;
};

struct CacheSize {  // payload: what the layout needs, before any runtime's pages
  Elements elements_per_token_per_layer;
  Bytes per_token_per_layer;
  Bytes per_token;
  Bytes per_sequence;        // n_ctx tokens
  Bytes batch;               // batch sequences
  Bytes per_rank_per_token;  // most loaded rank of a tensor-parallel group: KV heads split to one, then replicate
  Bytes per_rank_batch;
};
[[nodiscard]] CacheSize cache_size(const ModelShape& shape, const AttentionPlan& plan, CacheFormats formats,
                                   std::int64_t n_ctx, std::int64_t batch, std::int64_t tensor_parallel);

// Bytes that one step of the whole batch must move on the most loaded rank, each counted once.
struct Traffic {
  Bytes weights;  // matrix weights once (embedding rows looked up; a tied matrix is read once as head)
  Bytes cache_read;
  Bytes cache_write;
  Bytes scratch;  // MLA expanded: K and V written and read again
  [[nodiscard]] Bytes total() const { return weights + cache_read + cache_write + scratch; }
};

// A roofline bound: the larger of bytes / bandwidth and FLOPs / peak, taken for the weight products and for the attention
// over the cache one after the other. No kernel beats `bound_s`; `high_s` divides by the target's low measured efficiency.
struct StepTime {
  std::size_t path = 0;  // index into plan.paths, the cheaper one
  Traffic traffic;
  Flops flops;  // most loaded rank, whole batch, causal
  double weights_s = 0;
  double attention_s = 0;
  double bound_s = 0;
  double high_s = 0;
  bool memory_bound = false;
};

struct Workload {
  std::int64_t n_ctx = 0;
  std::int64_t batch = 1;
  std::int64_t tensor_parallel = 1;
  const StorageFormat* weights = nullptr;  // storage and compute type
  CacheFormats cache;
};

struct Cost {
  ParamCount params;
  FlopCount flops_causal;
  FlopCount flops_full;
  CacheSize cache;
  StepTime prefill;  // one sequence of n_ctx tokens
  StepTime decode;   // one token for each of batch sequences at context n_ctx
  Bytes weights_per_rank;
  Bytes memory_per_rank;  // weights + cache of the batch; the target's reserve is not in it
};

// Needs target.peak(weights->compute_peak): the request's validation guarantees it.
[[nodiscard]] Cost compute_cost(const ModelShape& shape, const AttentionPlan& plan, const Workload& workload,
                                const Target& target);

}  // namespace mha
