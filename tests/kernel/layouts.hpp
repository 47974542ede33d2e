// Random layouts of any row of the table of variants, and short ways to run an oracle.
#pragma once

#include <algorithm>
#include <random>

#include "mha/attention.hpp"

#include "kernel/compare.hpp"
#include "kernel/oracle.hpp"

namespace mha::test {

// std::mt19937_64 is specified bit by bit; the standard distributions are not, so draws are taken modulo.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool coin() { return between(0, 1) == 1; }

 private:
  std::mt19937_64 engine_;
};

// Through the variant's own enumeration, so that a new row of the table is covered without a line here.
inline Layout random_layout(const Variant& variant, Random& random) {
  for (;;) {
    AxisValues axes;
    axes.coupled = false;
    axes.d_model = 64;
    axes.n_heads = {random.between(1, 12)};
    axes.d_head = {random.coin() ? random.between(1, 24) : 4 * random.between(1, 6)};  // the latter suits GTA
    if (random.coin()) axes.d_value = {random.between(1, 24)};
    axes.d_kv_latent = {random.between(1, 40)};
    axes.d_q_latent = {random.coin() ? random.between(1, 40) : 0};
    axes.d_nope = {random.between(1, 24)};
    axes.d_rope = {2 * random.between(0, 6)};
    axes.n_latents = {random.between(2, 4)};
    axes.rank_kv = {random.between(1, 4)};
    axes.rank_q = {random.coin() ? random.between(1, 6) : 0};
    axes.bias = {random.coin(), random.coin(), random.coin(), random.coin()};
    axes.qk_norm = random.coin();
    std::vector<Layout> layouts;
    variant.enumerate(axes, layouts);
    if (!layouts.empty())
      return layouts[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(layouts.size()) - 1))];
  }
}

inline Layout grouped_layout(const char* id, std::int64_t n_heads, std::int64_t n_kv_heads, std::int64_t d_head,
                             std::int64_t d_value) {
  Layout layout;
  layout.variant = find_variant(id);
  layout.n_heads = n_heads;
  layout.n_kv_heads = n_kv_heads;
  layout.d_head = d_head;
  layout.d_value = d_value;
  return layout;
}

inline Layout mla_layout(std::int64_t n_heads, std::int64_t d_kv_latent, std::int64_t d_q_latent, std::int64_t d_nope,
                         std::int64_t d_rope, std::int64_t d_value) {
  Layout layout = grouped_layout("mla", n_heads, n_heads, d_nope + d_rope, d_value);
  layout.d_kv_latent = d_kv_latent;
  layout.d_q_latent = d_q_latent;
  layout.d_nope = d_nope;
  layout.d_rope = d_rope;
  return layout;
}

inline Layout gla_layout(std::int64_t n_heads, std::int64_t n_latents, std::int64_t d_kv_latent,
                         std::int64_t d_q_latent, std::int64_t d_nope, std::int64_t d_rope, std::int64_t d_value) {
  Layout layout = mla_layout(n_heads, d_kv_latent, d_q_latent, d_nope, d_rope, d_value);
  layout.variant = find_variant("gla");
  layout.n_latents = n_latents;
  return layout;
}

inline Layout gta_layout(std::int64_t n_heads, std::int64_t n_kv_heads, std::int64_t d_head) {
  Layout layout = grouped_layout("gta", n_heads, n_kv_heads, d_head, d_head);
  layout.d_nope = layout.d_rope = d_head / 2;
  return layout;
}

inline Layout mfa_layout(std::int64_t n_heads, std::int64_t d_head, std::int64_t d_value, std::int64_t d_q_latent) {
  Layout layout = grouped_layout("mfa", n_heads, 1, d_head, d_value);
  layout.d_q_latent = d_q_latent;
  return layout;
}

inline Layout tpa_layout(std::int64_t n_heads, std::int64_t d_head, std::int64_t d_value, std::int64_t rank_kv,
                         std::int64_t rank_q) {
  Layout layout = grouped_layout("tpa", n_heads, n_heads, d_head, d_value);
  layout.rank_kv = rank_kv;
  layout.rank_q = rank_q;
  return layout;
}

// A layout of each variant that is large enough for every part to matter.
inline Layout usual_layout(std::string_view id) {
  if (id == "mla") return mla_layout(4, 32, 24, 16, 8, 16);
  if (id == "gla") return gla_layout(4, 2, 32, 24, 16, 8, 16);
  if (id == "gta") return gta_layout(4, 2, 16);
  if (id == "mfa") return mfa_layout(4, 16, 16, 24);
  if (id == "tpa") return tpa_layout(4, 16, 16, 2, 3);
  Layout layout = grouped_layout("gqa", 4, id == "mha" ? 4 : id == "mqa" ? 1 : 2, 16, 16);
  layout.variant = find_variant(id);
  return layout;
}

inline oracle::Rows prefill(const oracle::Path& path, const oracle::Weights& weights, const Layout& layout,
                            const oracle::Rows& x) {
  oracle::Cache cache;
  oracle::Counts counts;
  return path.forward(weights, layout, x, cache, counts);
}

// In chunks of `chunk` tokens; 1 is decode.
inline oracle::Rows in_chunks(const oracle::Path& path, const oracle::Weights& weights, const Layout& layout,
                              const oracle::Rows& x, std::int64_t chunk) {
  oracle::Cache cache;
  oracle::Counts counts;
  oracle::Rows output(0, x.width);
  for (std::int64_t from = 0; from < x.n; from += chunk)
    output.append(path.forward(weights, layout, oracle::rows_of(x, from, std::min(chunk, x.n - from)), cache, counts));
  return output;
}

inline oracle::Matrix& matrix(oracle::Weights& weights, std::string_view name) {
  return const_cast<oracle::Matrix&>(weights.matrix(name));
}

}  // namespace mha::test
