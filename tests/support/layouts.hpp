// Layouts and shapes that tests share. Not for the library.
#pragma once

#include "mha/attention.hpp"
#include "mha/cost.hpp"

namespace mha::testing {

inline Layout grouped(std::int64_t n_heads, std::int64_t n_kv_heads, std::int64_t d_head) {
  Layout l;
  l.variant = find_variant(n_kv_heads == n_heads ? "mha" : n_kv_heads == 1 ? "mqa" : "gqa");
  l.n_heads = n_heads;
  l.n_kv_heads = n_kv_heads;
  l.d_head = l.d_value = d_head;
  return l;
}

inline Layout latent(std::int64_t n_heads, std::int64_t d_kv_latent, std::int64_t d_rope, std::int64_t d_nope,
                     std::int64_t d_value, std::int64_t d_q_latent) {
  Layout l;
  l.variant = find_variant("mla");
  l.n_heads = l.n_kv_heads = n_heads;
  l.d_kv_latent = d_kv_latent;
  l.d_q_latent = d_q_latent;
  l.d_nope = d_nope;
  l.d_rope = d_rope;
  l.d_head = d_nope + d_rope;
  l.d_value = d_value;
  return l;
}

// GLA: n_latents latents that are d_kv_latent wide together.
inline Layout gla(std::int64_t n_heads, std::int64_t n_latents, std::int64_t d_kv_latent, std::int64_t d_rope,
                  std::int64_t d_nope, std::int64_t d_q_latent) {
  Layout l = latent(n_heads, d_kv_latent, d_rope, d_nope, d_nope, d_q_latent);
  l.variant = find_variant("gla");
  l.n_latents = n_latents;
  return l;
}

inline Layout gta(std::int64_t n_heads, std::int64_t n_kv_heads, std::int64_t d_head) {
  Layout l = grouped(n_heads, n_kv_heads, d_head);
  l.variant = find_variant("gta");
  l.d_nope = l.d_rope = d_head / 2;
  return l;
}

inline Layout mfa(std::int64_t n_heads, std::int64_t d_head, std::int64_t d_q_latent) {
  Layout l = grouped(n_heads, 1, d_head);
  l.variant = find_variant("mfa");
  l.d_q_latent = d_q_latent;
  return l;
}

inline Layout tpa(std::int64_t n_heads, std::int64_t d_head, std::int64_t rank_kv, std::int64_t rank_q) {
  Layout l = grouped(n_heads, n_heads, d_head);
  l.variant = find_variant("tpa");
  l.rank_kv = rank_kv;
  l.rank_q = rank_q;
  return l;
}

inline CacheFormats formats(std::string_view key, std::string_view value) {
  return {find_format(key), find_format(value)};
}

inline Params total_params(const ModelShape& shape, const Layout& layout) {
  return count_params(shape, lower(layout, shape.d_model)).total;
}

inline Bytes cache_per_token(const ModelShape& shape, const Layout& layout, std::string_view format = "bf16") {
  return cache_size(shape, lower(layout, shape.d_model), formats(format, format), 1, 1, 1).per_token;
}

// A round machine: 1 TB/s, 100 TFLOP/s, 80 GiB.
inline Target round_target() {
  Target t;
  t.id = "round";
  t.name = "Round machine";
  t.kind = "gpu";
  t.memory.value = Bytes(i128{80} << 30);
  t.reserve.value = Bytes(i128{1} << 30);
  t.bandwidth_per_s.value = 1e12;
  t.peaks_per_s["bf16"].value = 1e14;
  t.peaks_per_s["f32"].value = 1e13;
  t.tensor_parallel = {1, 2, 4, 8};
  t.decode_efficiency_low.value = 0.5;
  t.prefill_efficiency_low.value = 0.5;
  return t;
}

inline Workload workload(std::int64_t n_ctx, std::int64_t batch, std::int64_t tensor_parallel = 1) {
  return {n_ctx, batch, tensor_parallel, find_format("bf16"), formats("bf16", "bf16")};
}

}  // namespace mha::testing
