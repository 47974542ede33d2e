// What a whole model costs: folds over its ModelPlan. Exact integers; each sum equals the sum of its items.
#pragma once

#include <string>
#include <vector>

#include "mha/architecture.hpp"
#include "mha/cost.hpp"

namespace mha {

// ---- Parameters ------------------------------------------------------------------------------------------------------

struct ComponentParams {
  Component component = Component::other;
  Params total;
  Params active;  // used by one token
};

struct ModelParams {
  std::vector<ComponentParams> components;  // in enum order, zeros left out; they add up to total and active
  Params total;                             // of the model, every tensor once, without multi-token-prediction layers
  Params active;                            // used by one token: total less the experts that the router leaves out
  Params mtp;                               // multi-token-prediction layers
  Params resident;                          // what a server that holds all of it keeps in memory: total + mtp
  Params stored;  // elements of the checkpoint: resident + buffers, scales and second copies that are stored
};
[[nodiscard]] ModelParams count_params(const Architecture& architecture, const ModelPlan& plan);
// Each multi-token-prediction layer is a copy of the last one and a projection: one such layer.
[[nodiscard]] Params layer_params(const LayerPlan& plan);

// ---- Cache -----------------------------------------------------------------------------------------------------------

// A storage format for each kind of cached row. "bf16", "q8_0/q4_0" (keys/values), "fp8_ds_mla" (packed latent slots).
struct ModelFormats {
  std::string name;
  const StorageFormat* key = nullptr;
  const StorageFormat* value = nullptr;
  const StorageFormat* latent = nullptr;
  const StorageFormat* rope_key = nullptr;
  const StorageFormat* index_key = nullptr;
  const StorageFormat* entry = nullptr;
  const StorageFormat* linear = nullptr;  // states; null: what the model says
  // Counts what compressors hold of tokens that are not pooled yet. Published sizes of DeepSeek-V4's cache leave it out.
  bool pending = false;

  [[nodiscard]] bool counts(const CacheComponent& component) const {
    return pending || component.role != CacheRole::pending;
  }
  [[nodiscard]] const StorageFormat& of(const CacheComponent& component) const;
};
[[nodiscard]] Expected<ModelFormats> parse_cache_format(std::string_view text);
[[nodiscard]] std::vector<std::string> cache_format_names();  // what parse_cache_format takes, without pairs

// Rows of one component that a sequence of n_ctx tokens (and n_source source tokens) holds.
[[nodiscard]] std::int64_t cached_rows(const Growth& growth, std::int64_t n_ctx, std::int64_t n_source);
[[nodiscard]] Bytes row_bytes(const CacheComponent& component, const ModelFormats& formats);  // one token, all its rows

struct CacheLine {     // one component of one layer kind
  std::string layers;  // name of the kind
  std::int64_t n_layers = 0;
  CacheComponent component;
  std::string format;
  Bytes row;    // bytes of one cached token and layer
  Bytes total;  // all layers, one sequence of n_ctx tokens
};

// slope * n + fixed once n_ctx is past every window. Compressed caches grow once in `slope_tokens` tokens.
struct ModelCache {
  std::vector<CacheLine> lines;  // add up to per_sequence
  Bytes slope;                   // bytes that slope_tokens tokens add
  std::int64_t slope_tokens = 1;
  Bytes fixed;                // full windows and states
  Bytes per_sequence;         // exact, at n_ctx
  Elements growing_elements;  // for one token, all layers, of caches that grow with every token
  [[nodiscard]] double bytes_per_token() const { return slope.as_double() / static_cast<double>(slope_tokens); }
};
[[nodiscard]] ModelCache cache_of(const Architecture& architecture, const ModelPlan& plan, const ModelFormats& formats,
                                  std::int64_t n_ctx, std::int64_t n_source = 0);

// ---- Parallel ranks --------------------------------------------------------------------------------------------------

struct Parallel {
  std::int64_t tensor = 1;          // KV heads split to one a rank, then replicate; latents replicate
  std::int64_t pipeline = 1;        // contiguous stages, the first ones take the remainder
  std::int64_t decode_context = 1;  // growing caches are cut along the tokens; divides tensor
};
[[nodiscard]] Diagnostics check_parallel(const Architecture& architecture, const Parallel& parallel);
[[nodiscard]] std::vector<std::int64_t> legal_tensor_parallel(const Architecture& architecture, std::int64_t up_to);

struct RankCache {
  std::int64_t stage = 0;  // the most loaded one, from 0
  std::int64_t n_layers = 0;
  Bytes per_sequence;
  Bytes split;       // of which divided by a degree
  Bytes replicated;  // of which every rank holds all
};
[[nodiscard]] RankCache cache_per_rank(const Architecture& architecture, const ModelPlan& plan,
                                       const ModelFormats& formats, std::int64_t n_ctx, const Parallel& parallel,
                                       std::int64_t n_source = 0);
// Weights of the most loaded rank. A tied embedding lies on the first and on the last stage.
[[nodiscard]] Params params_per_rank(const Architecture& architecture, const ModelPlan& plan, const Parallel& parallel);

// ---- What a runtime allocates ----------------------------------------------------------------------------------------

struct AllocationInput {
  std::int64_t n_ctx = 0;         // tokens of each sequence
  std::int64_t sequences = 1;     // slots
  std::int64_t step_tokens = 0;   // max batched tokens or ubatch; 0: the runtime's default
  std::int64_t shared_total = 0;  // llama.cpp's -c: one context that the slots divide; 0: n_ctx for each
  bool unified = false;           // one cache for all slots (llama.cpp)
  std::int64_t n_source = 0;
  Parallel parallel;  // of the rank that is shown
};

struct AllocationLine {
  std::string layers;
  std::string what;  // "key and value", "state"
  std::int64_t n_layers = 0;
  std::int64_t cells = 0;  // tokens reserved for a sequence (all slots for a unified cache)
  Bytes total;
};

struct Allocation {
  std::string runtime;                // "vLLM 0.11"
  std::vector<AllocationLine> lines;  // add up to total
  Bytes total;                        // all sequences, one rank
  Bytes payload;                      // what the layout needs of that
  std::vector<std::string> notes;     // the rules that applied, with the numbers
};
[[nodiscard]] Allocation allocate(const Architecture& architecture, const ModelPlan& plan, const ModelFormats& formats,
                                  const RuntimeRule& runtime, const AllocationInput& input);

// Whole blocks in a memory: vLLM's "# GPU blocks" times the block. Bytes for one token on that rank.
[[nodiscard]] std::int64_t tokens_in(Bytes memory, Bytes per_token, std::int64_t block_tokens);

// ---- FLOPs -----------------------------------------------------------------------------------------------------------

// A published way of counting. Everything printed names the one it used.
struct FlopRule {
  std::string_view id;  // "causal"
  std::string_view name;
  std::string_view help;
  std::string_view source;
  enum class Pairs : unsigned char { triangle, half, square } pairs = Pairs::triangle;
  int products = 2;  // attention products counted: scores and values; fewer where a profiler misses them
  bool head = true;  // output head counted
  bool layers = true;
  int softmax_per_score = 0;  // FLOPs for each score
  bool training = false;      // 3 times the forward pass
  // Closed form 6 N + 12 n_layers d_attention S for each trained token: N all parameters, embedding and head included.
  bool six_n = false;
  bool attention_only = false;  // FlashAttention: products of scores and values alone
  bool expanded = false;        // MLA always on expanded heads; otherwise the cheaper path
};
[[nodiscard]] const std::vector<FlopRule>& flop_rules();
[[nodiscard]] const FlopRule* find_flop_rule(std::string_view id);  // nullptr: none

[[nodiscard]] i128 visible_pairs(const Visible& visible, Step step, FlopRule::Pairs pairs, std::int64_t n_source = 0);

struct FlopLine {
  std::string name;  // "full: attention, scores"
  Flops value;
};
struct ModelFlops {
  std::vector<FlopLine> lines;  // by component of work, add up to total
  Flops total;
};
// One sequence of `step` under a rule.
[[nodiscard]] ModelFlops count_flops(const Architecture& architecture, const ModelPlan& plan, const FlopRule& rule,
                                     Step step, std::int64_t n_source = 0);

}  // namespace mha
