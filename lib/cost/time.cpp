// Memory traffic and roofline time of one step on one rank. Matrix products over weights and attention over the cache run
// one after the other, so each has its own roofline and the times add. Communication between ranks is not in it.
#include <algorithm>

#include "mha/cost.hpp"

#include "cost/sharding.hpp"

namespace mha {
namespace {

struct RankWeights {
  i128 attention = 0;  // elements of one layer
  i128 total = 0;      // whole model, without the embedding table that is only looked up
  i128 stored = 0;     // with it
};

// Rows of the vocabulary and columns of the feed-forward are split like heads.
RankWeights weights_on_rank(const ModelShape& shape, const AttentionPlan& plan, const ParamCount& params,
                            std::int64_t tp) {
  RankWeights rank;
  for (const WeightMatrix& m : plan.matrices) {
    const i128 elements = i128{m.rows} * m.cols + (m.bias ? m.cols : 0);
    rank.attention += on_one_rank(elements, m.sharding, plan.cache[0].n_rows, tp);
  }
  for (const NormVector& n : plan.norms) rank.attention += n.elements;
  const i128 ffn = on_one_rank(params.ffn.value(), Sharding::split_heads, 1, tp);
  const i128 table = on_one_rank(params.embedding.value(), Sharding::split_heads, 1, tp);
  rank.total = rank.attention * shape.n_layers + ffn + table + params.norms.value();
  rank.stored = rank.total + (shape.tied_embeddings ? 0 : table);
  return rank;
}

struct StepInput {
  const ModelShape& shape;
  const AttentionPlan& plan;
  const Workload& workload;
  const Target& target;
  const RankWeights& rank;
  const CacheSize& cache;
  Step step;
  std::int64_t sequences;
  double efficiency;
  double peak;
};

StepTime step_time(const StepInput& in) {
  StepTime time;
  time.path = cheaper_path(in.plan, in.step, FlopConvention::causal);
  const ComputePath& path = in.plan.paths[time.path];
  const std::int64_t tp = in.workload.tensor_parallel;
  const i128 sequences = in.sequences, layers = in.shape.n_layers;
  const i128 context = i128{in.step.n_past} + in.step.n_new;
  const i128 n_pairs = pairs(in.step, FlopConvention::causal);

  // Work of one rank. Products with replicated matrices are repeated on every rank; the rest divides by the heads.
  i128 products = 0, over_cache = 0;
  for (const MacTerm& term : path.terms) {
    if (term.per == MacPer::pair)
      over_cache += n_pairs * term.macs;
    else if (term.per == MacPer::context_token)
      over_cache += context * term.macs;
    else
      products += i128{in.step.n_new} * term.macs;
  }
  i128 replicated = 0;
  for (const WeightMatrix& m : in.plan.matrices)
    if (m.sharding == Sharding::replicated) replicated += i128{m.rows} * m.cols;
  replicated *= in.step.n_new;
  const i128 rest = (ffn_macs_per_token(in.shape) * layers + lm_head_macs_per_token(in.shape)).value() * in.step.n_new;
  const i128 product_macs = sequences * (layers * replicated + split(layers * (products - replicated) + rest, tp));
  const i128 cache_macs = sequences * split(layers * over_cache, tp);
  time.flops = flops_of(MultiplyAdds(product_macs + cache_macs));

  const StorageFormat& format = *in.workload.weights;
  time.traffic.weights = format.row_bytes(1) * in.rank.total;
  time.traffic.cache_read = in.cache.per_rank_per_token * context * sequences;
  time.traffic.cache_write = in.cache.per_rank_per_token * in.step.n_new * sequences;
  // Written once and read once, by the heads of this rank.
  time.traffic.scratch =
      format.row_bytes(1) * (2 * layers * split(path.scratch_per_context_token * context, tp) * sequences);

  const double bandwidth = in.target.bandwidth_per_s.value, peak = in.peak;
  const Bytes cache_bytes = time.traffic.cache_read + time.traffic.cache_write + time.traffic.scratch;
  const double weights_memory = time.traffic.weights.as_double() / bandwidth;
  const double weights_compute = flops_of(MultiplyAdds(product_macs)).as_double() / peak;
  const double cache_memory = cache_bytes.as_double() / bandwidth;
  const double cache_compute = flops_of(MultiplyAdds(cache_macs)).as_double() / peak;
  time.weights_s = std::max(weights_memory, weights_compute);
  time.attention_s = std::max(cache_memory, cache_compute);
  time.bound_s = time.weights_s + time.attention_s;
  time.high_s = time.bound_s / in.efficiency;
  time.memory_bound = std::max(weights_memory, cache_memory) >= std::max(weights_compute, cache_compute);
  return time;
}

}  // namespace

Cost compute_cost(const ModelShape& shape, const AttentionPlan& plan, const Workload& workload, const Target& target) {
  Cost cost;
  cost.params = count_params(shape, plan);
  cost.flops_causal = count_flops(shape, plan, workload.n_ctx, FlopConvention::causal);
  cost.flops_full = count_flops(shape, plan, workload.n_ctx, FlopConvention::full);
  cost.cache = cache_size(shape, plan, workload.cache, workload.n_ctx, workload.batch, workload.tensor_parallel);
  const RankWeights rank = weights_on_rank(shape, plan, cost.params, workload.tensor_parallel);
  const double peak = *target.peak(workload.weights->compute_peak);
  cost.prefill = step_time({shape, plan, workload, target, rank, cost.cache, Step{0, workload.n_ctx}, 1,
                            target.prefill_efficiency_low.value, peak});
  cost.decode = step_time({shape, plan, workload, target, rank, cost.cache, Step{workload.n_ctx - 1, 1}, workload.batch,
                           target.decode_efficiency_low.value, peak});
  cost.weights_per_rank = workload.weights->row_bytes(1) * rank.stored;
  cost.memory_per_rank = cost.weights_per_rank + cost.cache.per_rank_batch;
  return cost;
}

}  // namespace mha
