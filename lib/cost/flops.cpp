// Multiply-adds of attention for one step, and FLOPs of the whole model by phase and convention.
#include "mha/cost.hpp"
#include "mha/limits.hpp"

namespace mha {

i128 pairs(Step step, FlopConvention convention) {
  const i128 past = step.n_past, fresh = step.n_new;
  return convention == FlopConvention::causal ? fresh * past + fresh * (fresh + 1) / 2 : fresh * (past + fresh);
}

MultiplyAdds attention_macs(const ComputePath& path, Step step, FlopConvention convention) {
  const i128 n_pairs = pairs(step, convention), context = i128{step.n_past} + step.n_new;
  i128 total = 0;
  for (const MacTerm& term : path.terms) {
    const i128 times = term.per == MacPer::new_token       ? i128{step.n_new}
                       : term.per == MacPer::context_token ? context
                                                           : n_pairs;
    total += times * term.macs;
  }
  return MultiplyAdds(total);
}

std::size_t cheaper_path(const AttentionPlan& plan, Step step, FlopConvention convention) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < plan.paths.size(); ++i)
    if (attention_macs(plan.paths[i], step, convention) < attention_macs(plan.paths[best], step, convention)) best = i;
  return best;
}

namespace {

// Smallest n in [1, kMaxContext] with cheaper(n), where `cheaper` turns true once and stays true; 0 when it never does.
template <class Predicate>
std::int64_t first_where(Predicate cheaper) {
  std::int64_t low = 1, high = limits::kMaxContext;
  if (!cheaper(high)) return 0;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (cheaper(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace

PathCrossover path_crossover(const AttentionPlan& plan, std::int64_t n_past) {
  PathCrossover crossover;
  if (plan.paths.size() < 2) return crossover;
  const ComputePath &expanded = plan.paths[0], &absorbed = plan.paths[1];
  // Both differences are monotone in the searched length: expanding costs a fixed amount per cached token, absorbing a
  // fixed extra per pair.
  crossover.decode_context = first_where([&](std::int64_t past) {
    const Step step{past, 1};
    return attention_macs(absorbed, step, FlopConvention::causal) <
           attention_macs(expanded, step, FlopConvention::causal);
  });
  crossover.chunk_tokens = first_where([&](std::int64_t fresh) {
    const Step step{n_past, fresh};
    return attention_macs(expanded, step, FlopConvention::causal) <
           attention_macs(absorbed, step, FlopConvention::causal);
  });
  return crossover;
}

FlopCount count_flops(const ModelShape& shape, const AttentionPlan& plan, std::int64_t n_ctx,
                      FlopConvention convention) {
  FlopCount count;
  const Step prefill{0, n_ctx}, decode{n_ctx - 1, 1};
  const i128 layers = shape.n_layers;
  const MultiplyAdds rest = ffn_macs_per_token(shape) * layers + lm_head_macs_per_token(shape);
  // Training runs expanded or absorbed, whichever is cheaper for a whole sequence, as prefill does.
  const MultiplyAdds over_prompt =
      attention_macs(plan.paths[cheaper_path(plan, prefill, convention)], prefill, convention) * layers;
  const MultiplyAdds over_step =
      attention_macs(plan.paths[cheaper_path(plan, decode, convention)], decode, convention) * layers;
  count.prefill_attention = flops_of(over_prompt);
  count.prefill = flops_of(over_prompt + rest * n_ctx);
  count.decode_attention = flops_of(over_step);
  count.decode_per_token = flops_of(over_step + rest);
  count.training_per_token = Flops((3 * count.prefill.value() + n_ctx - 1) / n_ctx);
  return count;
}

}  // namespace mha
