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
