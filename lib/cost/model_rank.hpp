// What one rank of a parallel group holds, shared by payload, allocation and weights.
#pragma once

#include <vector>

#include "mha/model_cost.hpp"

namespace mha {

struct Stage {  // layers [first, end) of one pipeline stage
  std::int64_t first = 0, end = 0;
};
[[nodiscard]] std::vector<Stage> pipeline_stages(std::int64_t n_layers, std::int64_t stages);

// Layers of each kind within a stage.
[[nodiscard]] std::vector<LayerGroup> groups_of(const Architecture& architecture, const Stage& stage);

[[nodiscard]] Bytes row_bytes_on_rank(const CacheComponent& component, const ModelFormats& formats,
                                      const Parallel& parallel);

// Decode-context parallelism cuts the caches that every token adds to; windows, states, compressed entries and index keys
// stay whole on each rank.
[[nodiscard]] bool cut_along_tokens(const CacheComponent& component);

[[nodiscard]] i128 elements_on_rank(const Tensor& tensor, const Parallel& parallel);

}  // namespace mha
