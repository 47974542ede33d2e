// Parameters: every tensor once. Attention from the plan; embedding, feed-forward and residual norms from the shape.
#include "mha/cost.hpp"

namespace mha {
namespace {

// Two residual norms a layer and one before the head.
i128 norm_params(const ModelShape& shape) {
  return norm_elements(shape.norm, shape.d_model) * (2 * i128{shape.n_layers} + 1);
}

i128 ffn_matrices(const ModelShape& shape) {
  return shape.gated_ffn ? 3 : 2;
}

}  // namespace

Params attention_params(const AttentionPlan& plan) {
  i128 total = 0;
  for (const WeightMatrix& m : plan.matrices) total += i128{m.rows} * m.cols + (m.bias ? m.cols : 0);
  for (const NormVector& n : plan.norms) total += n.elements;
  return Params(total);
}

ParamCount count_params(const ModelShape& shape, const AttentionPlan& plan) {
  ParamCount count;
  const i128 layers = shape.n_layers;
  count.embedding = Params(i128{shape.vocab_size} * shape.d_model);
  count.lm_head = shape.tied_embeddings ? Params(0) : count.embedding;
  count.attention_per_layer = attention_params(plan);
  count.attention = count.attention_per_layer * layers;
  count.ffn = Params(layers * ffn_matrices(shape) * shape.d_model * shape.d_ff);
  count.norms = Params(norm_params(shape));
  count.total = count.embedding + count.lm_head + count.attention + count.ffn + count.norms;
  return count;
}

std::int64_t solve_d_ff(const ModelShape& shape, const AttentionPlan& plan, Params budget, std::int64_t multiple) {
  ModelShape bare = shape;
  bare.d_ff = 0;
  const i128 left = budget.value() - count_params(bare, plan).total.value();
  const i128 unit = i128{shape.n_layers} * ffn_matrices(shape) * shape.d_model * multiple;
  if (left <= 0 || unit <= 0) return 0;
  const i128 units = (left + unit / 2) / unit;  // nearest
  return static_cast<std::int64_t>(units) * multiple;
}

MultiplyAdds ffn_macs_per_token(const ModelShape& shape) {
  return MultiplyAdds(ffn_matrices(shape) * shape.d_model * shape.d_ff);
}

MultiplyAdds lm_head_macs_per_token(const ModelShape& shape) {
  return MultiplyAdds(i128{shape.vocab_size} * shape.d_model);  // tying changes parameters, never work
}

}  // namespace mha
