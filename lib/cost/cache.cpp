// KV-cache payload: elements of the plan's entries, stored row by row in the K or the V format.
#include "mha/cost.hpp"

#include "cost/sharding.hpp"

namespace mha {

CacheSize cache_size(const ModelShape& shape, const AttentionPlan& plan, CacheFormats formats, std::int64_t n_ctx,
                     std::int64_t batch, std::int64_t tensor_parallel) {
  CacheSize size;
  Bytes per_rank_layer;
  for (const CacheEntry& entry : plan.cache) {
    const StorageFormat& format = entry.part == KvPart::key ? *formats.key : *formats.value;
    const Bytes row = format.row_bytes(entry.row_elements);
    const i128 rows_on_rank = on_one_rank(entry.n_rows, entry.sharding, entry.n_rows, tensor_parallel);
    size.elements_per_token_per_layer += Elements(i128{entry.n_rows} * entry.row_elements);
    size.per_token_per_layer += row * entry.n_rows;
    per_rank_layer += row * rows_on_rank;
  }
  size.per_token = size.per_token_per_layer * shape.n_layers;
  size.per_sequence = size.per_token * n_ctx;
  size.batch = size.per_sequence * batch;
  size.per_rank_per_token = per_rank_layer * shape.n_layers;
  size.per_rank_batch = size.per_rank_per_token * n_ctx * batch;
  return size;
}

}  // namespace mha
