// A whole model: what each layer is made of, and the normal form that every cost is a fold over. A model is a list of layers
// that point into a list of different layer kinds, so totals are sums over layers and never layer 0 times n.
//
// Readers (model_readers.hpp) fill an Architecture from a Hugging Face config.json, GGUF metadata or our own YAML; lower()
// turns each layer kind into tensors, cache components and work. Nothing here asks which family a model belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mha/attention.hpp"
#include "mha/diagnostics.hpp"
#include "mha/model.hpp"
#include "mha/rules.hpp"

namespace mha {

// ---- What a layer is made of -----------------------------------------------------------------------------------------

// Which earlier tokens a query may see.
struct Span {
  enum class Kind : unsigned char {
    full,     // all of them
    window,   // the last `tokens`, itself included
    chunked,  // those of its own chunk of `tokens` (Llama 4)
    cross,    // all tokens of a source sequence (encoder output, image): no causal mask, and a cache that does not grow
    encoder,  // all tokens of its own sequence, later ones too: no causal mask and no cache (BERT)
  };
  Kind kind = Kind::full;
  std::int64_t tokens = 0;  // of a window or chunk
  friend bool operator==(const Span&, const Span&) = default;
};

enum class QkNorm : unsigned char {
  none,
  per_head,  // one scale of d_head for queries and one for keys (Qwen3, Gemma 3)
  full,      // scales of n_heads * d_head and n_kv_heads * d_head (OLMo 2, OLMoE, Command R+)
};

// DeepSeek sparse attention: a small attention that picks the top_k tokens the large one reads. It keeps one key of d_head
// for each token and layer.
struct Indexer {
  std::int64_t n_heads = 0;  // 0: none
  std::int64_t d_head = 0;
  std::int64_t top_k = 0;
  friend bool operator==(const Indexer&, const Indexer&) = default;
};

// Compressed cache (DeepSeek-V4): one entry of d_entry, both key and value, for every `ratio` tokens, beside the plain entries
// of the last `window` tokens. ratio 0: none; ratio 1 with window: the window only.
struct Compression {
  std::int64_t ratio = 0;
  std::int64_t window = 0;  // plain entries kept
  friend bool operator==(const Compression&, const Compression&) = default;
};

// Softmax attention.
struct Attention {
  Layout layout;  // heads and widths, bias of q, k, v, o; layout.qk_norm is set from qk_norm
  Span span;
  QkNorm qk_norm = QkNorm::none;
  bool qk_norm_shift = false;     // QK norms are LayerNorms with a shift
  bool sinks = false;             // one learned logit a head (gpt-oss)
  bool output_gate = false;       // a gate of n_heads * d_value from x, before o (Qwen3-Next, Qwen3.5)
  bool head_gate = false;         // one gate a head from x (Step-3.5)
  bool tied_values = false;       // values are the keys: no v projection and no v cache (Gemma 4 global layers)
  bool values_cached = true;      // with tied_values: false only where a runtime stores the row once
  bool shares_kv = false;         // reads another layer's cache: none of its own
  bool keeps_kv_weights = false;  // shares_kv, yet its k and v projections are in the checkpoint (Gemma 3n)
  bool value_norm = false;        // an unscaled norm of the values: no parameters; kept for the description
  std::int64_t d_q_latent = 0;    // low-rank queries of grouped attention (0: none); MLA keeps its own in the layout
  std::int64_t o_groups = 0;      // grouped low-rank output (DeepSeek-V4): groups of heads to o_latent each; 0: plain
  std::int64_t d_o_latent = 0;
  Indexer indexer;
  Compression compression;
  friend bool operator==(const Attention&, const Attention&) = default;
};

struct LinearKind;  // row of the table of linear and state-space mixers

// A mixer with a fixed state for each sequence, whatever its length. Which fields count is the kind's to say.
struct LinearMixer {
  const LinearKind* kind = nullptr;
  std::int64_t n_heads = 0;      // value heads
  std::int64_t n_key_heads = 0;  // key heads; groups of B and C of Mamba-2
  std::int64_t d_key = 0;        // state width of a head (d_state of Mamba)
  std::int64_t d_value = 0;      // head width
  std::int64_t d_conv = 0;       // taps of the causal convolution; 0: none
  std::int64_t d_latent = 0;     // dt_rank of Mamba-1, gate rank of KDA
  bool conv_bias = false;
  bool bias = false;                      // of the projections
  bool full_gate = false;                 // the output gate is one matrix, not a low-rank pair (Kimi-K3)
  bool inner_norm = true;                 // Mamba-2: the gated norm; Jamba: the norms of dt, B and C
  std::string_view state_format = "f32";  // ids of storage_formats()
  std::string_view conv_format = "bf16";
  friend bool operator==(const LinearMixer&, const LinearMixer&) = default;
};

using Mixer = std::variant<Attention, LinearMixer>;

struct FeedForward {
  std::int64_t d_ff = 0;  // dense part; 0: none
  bool gated = true;
  bool bias_up = false, bias_down = false;  // bias_up: of up and, when gated, of gate
  // Mixture of experts; n_experts 0: none. Both parts may be there (Gemma 4 MoE, Arctic).
  std::int64_t n_experts = 0, top_k = 0, d_ff_expert = 0;
  std::int64_t d_ff_shared = 0;  // whole width of the shared experts
  std::int64_t d_latent = 0;     // experts work on a projection to this width (Nemotron-3 Super); 0: on d_model
  bool shared_gate = false;      // a gate of d_model for the shared expert (Qwen2-MoE)
  bool router_bias = false, correction_bias = false;
  bool expert_scale = false;      // one learned scale an expert (Gemma 4)
  std::int64_t router_scale = 0;  // elements of a learned scale on the router's input
  [[nodiscard]] bool any() const { return d_ff > 0 || n_experts > 0; }
  friend bool operator==(const FeedForward&, const FeedForward&) = default;
};

struct NamedParams {  // what has no field of its own: "attention and FFN sub-norms"
  std::string name;
  std::int64_t elements = 0;
  friend bool operator==(const NamedParams&, const NamedParams&) = default;
};

struct LayerSpec {
  std::string name;           // "full", "window", "moe": unique in its model
  std::vector<Mixer> mixers;  // in a row, or side by side (Falcon-H1); empty: feed-forward only
  FeedForward ffn;
  std::int64_t norms = 2;  // of d_model: 2, 1 in parallel blocks, 4 in sandwich layers
  std::vector<NamedParams> extras;
};

struct MultiTokenPrediction {
  std::int64_t n_layers = 0;     // each a copy of the model's last layer
  std::int64_t projections = 1;  // of 2 * d_model to d_model, each layer
  std::int64_t norms = 3;
  bool own_embeddings = false;  // embedding and head stored again
};

struct Architecture {
  std::string id, name, family;
  std::string origin;  // where it was read from: "catalogue", a path
  Source source;
  std::string note;
  std::int64_t d_model = 0;
  std::int64_t vocab_size = 0;
  std::int64_t d_embedding = 0;  // 0: d_model; otherwise a factorised embedding with one projection in and one out
  bool tied_embeddings = false;
  bool lm_head = true;
  bool lm_head_bias = false;
  NormKind norm = NormKind::rms;
  bool final_norm = true;
  bool embedding_norm = false;
  std::int64_t learned_positions = 0;  // rows
  std::int64_t type_vocab = 0;         // rows
  std::int64_t max_context = 0;        // tokens; 0: not stated
  std::vector<LayerSpec> specs;        // different layer kinds
  std::vector<std::uint16_t> layers;   // index into specs, one a layer, in order
  std::vector<std::int32_t> kv_owner;  // by layer: whose cache it reads; its own number when it owns one; -1: no cache
  std::vector<NamedParams> extras;
  MultiTokenPrediction mtp;
  std::vector<NamedParams> stored;  // in the checkpoint, yet no parameters: buffers, scales, second copies
  Diagnostics notes;                // warnings and notes of the reader: ignored fields, inactive windows

  [[nodiscard]] std::int64_t n_layers() const { return static_cast<std::int64_t>(layers.size()); }
};

// Everything a reader has to guarantee before costs are computed: limits, dividing heads, owners that exist. Locations name
// the layer kind ("layers.full.n_heads").
[[nodiscard]] Diagnostics check_architecture(const Architecture& architecture);

// Fills kv_owner from the layer kinds: a layer that shares reads the last layer before it that has the same span and
// keeps its own. -2 where there is none (check_architecture refuses it).
void assign_kv_owners(Architecture& architecture);

// Layers of the same kind counted, in order of first appearance.
struct LayerGroup {
  std::int64_t n_layers = 0;
  std::size_t spec = 0;
};
[[nodiscard]] std::vector<LayerGroup> layer_groups(const Architecture& architecture);

// The model as our own YAML: read_model_yaml of it gives the same Architecture.
[[nodiscard]] std::string to_yaml(const Architecture& architecture);

// "3 dense, then 58 moe", "10 x (5 window, 1 full), then 2 window".
[[nodiscard]] std::string layer_pattern(const Architecture& architecture);

// ---- The normal form -------------------------------------------------------------------------------------------------

enum class Component : unsigned char {  // what totals are itemised by
  embedding,
  lm_head,
  attention,
  indexer,
  linear,
  ffn,
  experts,
  router,
  norms,
  other,
};
inline constexpr std::size_t kComponents = 10;
[[nodiscard]] std::string_view name_of(Component component);

struct Tensor {
  std::string name;  // "q", "up", "expert.down"
  Component component = Component::other;
  std::int64_t rows = 1;  // of a vector: 1
  std::int64_t cols = 0;
  std::int64_t copies = 1;  // stored
  std::int64_t active = 1;  // used by one token: top_k of the experts
  bool product = false;     // a token's vector is multiplied with it: one multiply-add an element
  Sharding sharding = Sharding::replicated;
  std::int64_t kv_heads = 1;  // what split_kv_heads splits
  std::string formula;        // "d_model * n_heads * d_head"

  [[nodiscard]] i128 elements() const { return i128{rows} * cols * copies; }
  // A tied head has no copy of its own: it works (macs) without being counted.
  [[nodiscard]] i128 active_elements() const { return i128{rows} * cols * (active < copies ? active : copies); }
  [[nodiscard]] i128 macs() const { return product ? i128{rows} * cols * active : i128{0}; }
};

// How many rows of a cache component a sequence of n tokens holds.
struct Growth {
  enum class Kind : unsigned char {
    token,       // n
    window,      // min(n, limit)
    chunked,     // min(n, limit)
    compressed,  // floor(n / limit)
    fixed,       // 1
    source,      // tokens of the source sequence
  };
  Kind kind = Kind::token;
  std::int64_t limit = 0;
  friend bool operator==(const Growth&, const Growth&) = default;
};

// pending: what a compressor holds of tokens that are not pooled yet.
enum class CacheRole : unsigned char { key, value, latent, rope_key, index_key, entry, state, pending, conv_state };
[[nodiscard]] std::string_view name_of(CacheRole role);

struct CacheComponent {
  CacheRole role = CacheRole::key;
  std::int64_t n_rows = 0;        // heads, for each cached token; 1 for a latent
  std::int64_t row_elements = 0;  // block formats round each row up
  Growth growth;
  Sharding sharding = Sharding::split_kv_heads;
  std::string_view format;  // its own storage format, whatever the cache's is; empty: by role
  std::string formula;      // "n_kv_heads * d_head"
};

// Pairs that a new token at position p makes (p earlier tokens before it).
struct Visible {
  enum class Kind : unsigned char { full, window, chunked, cross, compressed, encoder };
  Kind kind = Kind::full;
  std::int64_t limit = 0;  // of a window or chunk
  std::int64_t ratio = 1;  // compressed: floor((p + 1) / ratio) entries
  std::int64_t top_k = 0;  // at most so many of them; 0: all
  friend bool operator==(const Visible&, const Visible&) = default;
};

struct WorkTerm {
  std::string name;
  MacPer per = MacPer::new_token;
  i128 macs = 0;
  Visible visible;            // of pair terms
  bool scores = false;        // a pair term that makes attention scores: softmax runs over them
  std::int64_t n_scores = 0;  // scores for each pair: heads
  std::string formula;
};

struct WorkPath {
  std::string name;  // "direct", "expanded", "absorbed"
  std::vector<WorkTerm> terms;
};

struct Work {  // one mixer or feed-forward; its paths give the same result
  std::string name;
  std::vector<WorkPath> paths;
};

struct LayerPlan {
  std::vector<Tensor> tensors;
  std::vector<CacheComponent> cache;
  std::vector<Work> work;
};

struct ModelPlan {
  std::vector<LayerPlan> specs;  // by Architecture::specs
  std::vector<Tensor> once;      // embedding, head, final norm ...
  std::vector<Tensor> mtp;       // of all multi-token-prediction layers, but the copied layer itself
};

[[nodiscard]] LayerPlan lower(const LayerSpec& spec, const Architecture& architecture);
[[nodiscard]] ModelPlan lower(const Architecture& architecture);

// ---- Linear and state-space mixers ------------------------------------------------------------------------------------

// One row of the table; lib/architecture/linear/<id>.cpp defines it.
struct LinearKind {
  std::string_view id;  // "gated-delta-net"
  std::string_view name;
  std::string_view help;
  std::string_view source;
  // The fields of LinearMixer it needs, by their YAML names; all others must be 0.
  std::vector<std::string_view> needs;
  void (*lower)(const LinearMixer& mixer, std::int64_t d_model, LayerPlan& plan) = nullptr;  // appends
};
[[nodiscard]] const std::vector<const LinearKind*>& linear_kinds();
[[nodiscard]] const LinearKind* find_linear_kind(std::string_view id);  // nullptr: no such kind

}  // namespace mha
