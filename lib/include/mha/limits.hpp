// Largest request that the tool accepts. The loader refuses more, with the limit in the message; inside, every product of
// these fits 127 bits (proved below), so the cost model has no overflow path.
#pragma once

#include "mha/units.hpp"

namespace mha::limits {

inline constexpr std::int64_t kMaxLayers = std::int64_t{1} << 12;
inline constexpr std::int64_t kMaxModelWidth = std::int64_t{1} << 18;  // d_model, and every d_* of a head
inline constexpr std::int64_t kMaxHeads = std::int64_t{1} << 14;
inline constexpr std::int64_t kMaxHeadWidth = std::int64_t{1} << 14;  // d_head, d_value, d_nope, d_rope
inline constexpr std::int64_t kMaxLatent = std::int64_t{1} << 16;     // d_kv_latent, d_q_latent
inline constexpr std::int64_t kMaxRank = std::int64_t{1} << 10;       // rank_kv, rank_q
inline constexpr std::int64_t kMaxFeedForward = std::int64_t{1} << 24;
inline constexpr std::int64_t kMaxVocab = std::int64_t{1} << 28;
inline constexpr std::int64_t kMaxContext = std::int64_t{1} << 30;  // tokens
inline constexpr std::int64_t kMaxBatch = std::int64_t{1} << 20;
inline constexpr std::int64_t kMaxTensorParallel = std::int64_t{1} << 10;
inline constexpr std::int64_t kMinParams = 100'000;
inline constexpr std::int64_t kMaxParams = 1'000'000'000'000'000;  // 1e15

// Worst FLOP product: layers * context^2 * heads * (latent-wide dot products, 4 of them) * 2 * 3 (training).
static_assert(static_cast<long double>(kMaxLayers) * static_cast<long double>(kMaxContext) *
                  static_cast<long double>(kMaxContext) * static_cast<long double>(kMaxHeads) *
                  static_cast<long double>(kMaxLatent) * 4 * 6 * 16 <
              0x1p127L);
// The same of a tensor product: heads * rank * width, two of them and their weights, in place of the latent-wide ones.
static_assert(static_cast<long double>(kMaxLayers) * static_cast<long double>(kMaxContext) *
                  static_cast<long double>(kMaxContext) * static_cast<long double>(kMaxHeads) *
                  static_cast<long double>(kMaxRank) * static_cast<long double>(kMaxHeadWidth) * 4 * 6 * 16 <
              0x1p127L);
// Worst cache product: layers * context * batch * heads * width * 2 (K and V) * 4 bytes.
static_assert(static_cast<long double>(kMaxLayers) * static_cast<long double>(kMaxContext) *
                  static_cast<long double>(kMaxBatch) * static_cast<long double>(kMaxHeads) *
                  static_cast<long double>(kMaxHeadWidth) * 2 * 4 <
              0x1p127L);

}  // namespace mha::limits
