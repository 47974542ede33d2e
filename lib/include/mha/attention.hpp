// Head layouts and the normal form they are lowered to. No cost here and no quality: only what attention *is*.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mha/units.hpp"

namespace mha {

struct Variant;

// Which of the four projections add a bias. (Qwen2: q, k, v; GPT-2: all.)
struct ProjectionBias {
  bool q = false, k = false, v = false, o = false;
  friend bool operator==(const ProjectionBias&, const ProjectionBias&) = default;
};

// One attention head layout. d_head is free of d_model / n_heads; d_value is free of d_head. Fields from d_kv_latent on
// are 0 except in the variants that have them (Variant::fields). In the latent variants (MLA, GLA) d_head = d_nope +
// d_rope, and in GTA both are half of d_head.
struct Layout {
  const Variant* variant = nullptr;
  std::int64_t n_heads = 0;
  std::int64_t n_kv_heads = 0;   // MLA, GLA, TPA: equal to n_heads (each head expands keys and values of its own)
  std::int64_t d_head = 0;       // query/key width of one head
  std::int64_t d_value = 0;      // value width of one head
  std::int64_t d_kv_latent = 0;  // GLA: all of its latents together
  std::int64_t d_q_latent = 0;   // 0: queries are projected from d_model directly
  std::int64_t d_nope = 0;
  std::int64_t d_rope = 0;
  std::int64_t n_latents = 0;  // GLA: latents, each for n_heads / n_latents heads; 0: not grouped (MLA has one for all)
  std::int64_t rank_kv = 0;    // TPA: terms of the tensor products of keys and of values
  std::int64_t rank_q = 0;     // TPA: terms of the tensor product of queries; 0: queries are projected whole
  ProjectionBias bias;
  bool qk_norm = false;  // one scale of width d_head each for queries and keys
  friend bool operator==(const Layout&, const Layout&) = default;

  [[nodiscard]] std::int64_t group_size() const { return n_heads / n_kv_heads; }
};

// "64/8/128" (n_heads/n_kv_heads/d_head), "mla:128/512+64" (heads / latent + rope), "gla:128/2x256+64", "gta:32/8/128",
// "mfa:64/256 q2048" (heads / d_head, query latent), "tpa:24/128 r2 q6" (heads / d_head, ranks).
[[nodiscard]] std::string notation(const Layout& layout);

// ---- The normal form -------------------------------------------------------------------------------------------------

// A vector with storage inside, so that lowering a candidate never allocates (the search lowers millions).
template <class T, std::size_t N>
class StaticVector {
 public:
  constexpr void push_back(const T& value) { items_[size_++] = value; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr const T& operator[](std::size_t i) const { return items_[i]; }
  [[nodiscard]] constexpr const T* begin() const { return items_.data(); }
  [[nodiscard]] constexpr const T* end() const { return items_.data() + size_; }

 private:
  std::array<T, N> items_{};
  std::size_t size_ = 0;
};

// How tensor parallelism treats a matrix or a cache entry.
enum class Sharding {
  split_heads,     // divided by the number of ranks
  split_kv_heads,  // divided down to one KV head per rank, then replicated
  replicated,      // every rank holds all of it (MLA's latent and down-projections, a rotary key that heads share)
};

struct WeightMatrix {  // y[cols] = x[rows] * W[rows x cols] (+ bias[cols])
  std::string_view
      name;  // "q", "k", "v", "o", "q_down", "q_up", "kv_down", "k_up", "v_up", "k_rope", "kv", "k_a", "k_b"
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  bool bias = false;
  Sharding sharding = Sharding::split_heads;
  std::string_view rows_formula;  // "d_model"
  std::string_view cols_formula;  // "n_heads * d_head"
};

struct NormVector {
  std::string_view name;  // "q_norm", "kv_latent_norm"
  std::int64_t elements = 0;
  std::string_view formula;
};

enum class KvPart { key, value };  // which of the two cache formats stores the entry; a latent is stored as a key

struct CacheEntry {       // elements that one token adds to the cache of one layer
  std::string_view name;  // "k", "v", "latent", "rope_key", "kv", "k_a", "k_b", "v_a", "v_b"
  KvPart part = KvPart::key;
  std::int64_t n_rows = 0;  // rows per token (n_kv_heads, 1 for a latent); of cache[0]: what split_kv_heads splits
  std::int64_t row_elements = 0;  // elements of one row; block formats round each row up
  Sharding sharding = Sharding::split_kv_heads;
  std::string_view formula;  // "n_kv_heads * d_head"
};

// What a multiply-add count is proportional to.
enum class MacPer {
  new_token,      // each token that this step adds
  context_token,  // each token in the cache after this step, new ones included (MLA expanding latents, TPA factors)
  pair,           // each (query, key) pair that is computed
};

struct MacTerm {
  std::string_view name;  // "q", "scores", "values", "k_up" ...
  MacPer per = MacPer::new_token;
  std::int64_t macs = 0;
  std::string_view formula;  // "n_heads * d_head"
};

// One way of computing the attention of one layer. MHA, MQA, GQA, GTA and MFA have one; MLA, GLA and TPA have two with
// the same result: expanded, and one that works on what is cached.
struct ComputePath {
  std::string_view name;  // "direct"; "expanded", "absorbed"; "expanded", "factored"
  StaticVector<MacTerm, 12> terms;
  // Scratch elements that the path writes and reads again per context token (MLA expanded: the expanded K and V).
  std::int64_t scratch_per_context_token = 0;
};

struct AttentionPlan {
  StaticVector<WeightMatrix, 8> matrices;
  StaticVector<NormVector, 4> norms;
  StaticVector<CacheEntry, 4> cache;
  StaticVector<ComputePath, 2> paths;
  std::int64_t attention_width = 0;  // a: n_heads * d_head (MLA, GLA: n_heads * d_nope), what the quality prior calls a
  std::int64_t kv_width = 0;         // w: n_kv_heads * d_head, one of K or V (MLA, GLA: the latent width)
};

// ---- Variants --------------------------------------------------------------------------------------------------------

// Values to enumerate for one d_model. An axis that the request pins has one value. All are sorted and unique.
struct AxisValues {
  std::int64_t d_model = 0;
  bool coupled = true;  // n_heads * d_head (MLA: n_heads * d_nope) must equal d_model
  std::vector<std::int64_t> n_heads, n_kv_heads /* empty: every divisor */, d_head, d_value /* empty: d_head */;
  std::vector<std::int64_t> d_kv_latent, d_q_latent, d_nope, d_rope;
  std::vector<std::int64_t> n_latents, rank_kv, rank_q;
  ProjectionBias bias;
  bool qk_norm = false;
};

// Why a layout is not a layout (n_heads 12 with n_kv_heads 5).
struct LayoutProblem {
  std::string code;  // "kv-heads-divide"
  std::string what;
  std::string hint;
};

// One row of the table of variants; lib/attention/variants/<id>.cpp defines it. To add one: that file and its row in
// lib/attention/variants.cpp, the oracle and its row in lib/kernel/oracle.cpp.
struct Variant {
  std::string_view id;    // "gqa"
  std::string_view name;  // "grouped-query attention"
  std::string_view help;  // one line
  bool latent = false;    // caches latents that heads expand; d_head = d_nope + d_rope
  // Structural validity; empty when the layout is one of this variant.
  std::optional<LayoutProblem> (*check)(const Layout& layout, std::int64_t d_model) = nullptr;
  // Appends every valid layout over the axes, in a fixed order.
  void (*enumerate)(const AxisValues& axes, std::vector<Layout>& out) = nullptr;
  // Total on layouts that pass check.
  AttentionPlan (*lower)(const Layout& layout, std::int64_t d_model) = nullptr;
  std::string (*notation)(const Layout& layout) = nullptr;
  // A request that names no variants searches those by default; the others are searched when it names them, or `all`.
  bool by_default = false;
  // No kernel for grouped heads or for latents computes it: one that does names the variant in rules/kernels.
  bool own_kernel = false;
  // Fields of Layout (and of a request's pins) that it has beside heads and widths: "d_kv_latent". The rest is empty.
  std::array<std::string_view, 5> fields{};

  [[nodiscard]] bool has(std::string_view field) const {
    for (const std::string_view own : fields)
      if (!own.empty() && own == field) return true;
    return false;
  }
};

// The table, in fixed order: mha, mqa, gqa, mla, which are searched by default, and gta, gla, mfa, tpa.
[[nodiscard]] const std::vector<const Variant*>& variants();
[[nodiscard]] const Variant* find_variant(std::string_view id);  // nullptr: no such variant

// Convenience: the plan of a layout that is known to be valid.
[[nodiscard]] AttentionPlan lower(const Layout& layout, std::int64_t d_model);

}  // namespace mha
