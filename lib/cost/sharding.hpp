// What the most loaded rank of a tensor-parallel group holds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mha/attention.hpp"

namespace mha {

// KV heads are split down to one a rank and then replicated.
[[nodiscard]] inline std::int64_t kv_heads_per_rank(std::int64_t n_kv_heads, std::int64_t tensor_parallel) {
  return std::max<std::int64_t>(1, (n_kv_heads + tensor_parallel - 1) / tensor_parallel);
}

// What tensor parallelism splits of keys and values: KV heads, or latents, which count as heads of the cache.
[[nodiscard]] inline std::int64_t cache_heads(const Layout& layout) {
  if (layout.variant->latent) return std::max<std::int64_t>(1, layout.n_latents);
  return layout.n_kv_heads;
}

// Copies of what is cached, over all ranks: 1 when each row lies on one of them. A rotary key that heads share does not
// count: it is small, and has no heads to split.
[[nodiscard]] inline std::int64_t cache_copies(const AttentionPlan& plan, std::int64_t tensor_parallel) {
  std::int64_t copies = 1;
  for (const CacheEntry& entry : plan.cache) {
    if (entry.name == "rope_key" || entry.sharding == Sharding::split_heads) continue;
    const std::int64_t parts = entry.sharding == Sharding::replicated ? 1 : entry.n_rows;
    copies = std::max(copies, tensor_parallel / parts);
  }
  return copies;
}

// Rounded up. Without tensor parallelism, which most searches have, there is nothing to divide.
[[nodiscard]] inline i128 split(i128 total, std::int64_t ranks) {
  return ranks == 1 ? total : (total + ranks - 1) / ranks;
}

// Share of `total` (elements, or columns) that one rank holds; `n_kv_heads` is the number of KV heads `total` is made of.
[[nodiscard]] inline i128 on_one_rank(i128 total, Sharding sharding, std::int64_t n_kv_heads,
                                      std::int64_t tensor_parallel) {
  switch (sharding) {
    case Sharding::split_heads:
      return split(total, tensor_parallel);
    case Sharding::split_kv_heads:
      return tensor_parallel == 1 ? total : total / n_kv_heads * kv_heads_per_rank(n_kv_heads, tensor_parallel);
    case Sharding::replicated:
      return total;
  }
  return total;
}

}  // namespace mha
