#include <doctest/doctest.h>

#include "cost/sharding.hpp"
#include "support/layouts.hpp"

using namespace mha;
using namespace mha::testing;

namespace {
const ModelShape kShape{4096, 32, 14336, 128256, false, true, NormKind::rms};
}

TEST_CASE("units of different kinds do not add") {
  // Written as a requirement so that a mix-up would fail to satisfy it rather than fail to build.
  const auto adds = [](auto a, auto b) {
    return requires {
      a + b;
    };
  };
  CHECK(adds(Bytes(1), Bytes(2)));
  CHECK_FALSE(adds(Bytes(1), Flops(2)));
  CHECK_FALSE(adds(Params(1), Elements(2)));
}

TEST_CASE("KV heads split down to one a rank and then replicate while a latent is replicated") {
  CHECK(kv_heads_per_rank(8, 1) == 8);
  CHECK(kv_heads_per_rank(8, 8) == 1);
  CHECK(kv_heads_per_rank(8, 16) == 1);
  const auto per_rank = [&](const Layout& l, std::int64_t tp) {
    return cache_size(kShape, lower(l, 4096), formats("bf16", "bf16"), 1, 1, tp).per_rank_per_token;
  };
  CHECK(per_rank(grouped(32, 8, 128), 8) * 8 == per_rank(grouped(32, 8, 128), 1));
  CHECK(per_rank(grouped(32, 1, 128), 8) == per_rank(grouped(32, 1, 128), 1));
  CHECK(per_rank(grouped(32, 1, 128), 8) ==
        per_rank(grouped(32, 8, 128), 8));  // MQA at TP 8 saves nothing over 8 KV heads
  CHECK(per_rank(latent(32, 512, 64, 128, 128, 0), 8) == per_rank(latent(32, 512, 64, 128, 128, 0), 1));
}

TEST_CASE("the saving of grouped heads survives in decode traffic") {
  const Target target = round_target();
  const Cost mha = compute_cost(kShape, lower(grouped(32, 32, 128), 4096), workload(8192, 16), target);
  const Cost gqa = compute_cost(kShape, lower(grouped(32, 8, 128), 4096), workload(8192, 16), target);
  CHECK(mha.decode.traffic.cache_read == gqa.decode.traffic.cache_read * 4);
  // Sharing saves memory, not arithmetic: scores and values run over query heads.
  CHECK(attention_macs(lower(grouped(32, 32, 128), 4096).paths[0], {0, 64}, FlopConvention::causal).value() -
            attention_macs(lower(grouped(32, 8, 128), 4096).paths[0], {0, 64}, FlopConvention::causal).value() ==
        i128{64} * 2 * 4096 * (4096 - 1024));  // only the K and V projections differ
}

TEST_CASE("parts add up to totals") {
  const Cost cost = compute_cost(kShape, lower(grouped(32, 8, 128), 4096), workload(8192, 16, 2), round_target());
  const ParamCount& p = cost.params;
  CHECK(p.embedding + p.lm_head + p.attention + p.ffn + p.norms == p.total);
  CHECK(p.attention == p.attention_per_layer * 32);
  const Traffic& t = cost.decode.traffic;
  CHECK(t.total() == t.weights + t.cache_read + t.cache_write + t.scratch);
  CHECK(cost.cache.batch == cost.cache.per_token * 8192 * 16);
  CHECK(cost.memory_per_rank == cost.weights_per_rank + cost.cache.per_rank_batch);
  CHECK(cost.decode.bound_s == doctest::Approx(cost.decode.weights_s + cost.decode.attention_s));
}

TEST_CASE("roofline time of a memory-bound decode is bytes over bandwidth") {
  const Cost cost = compute_cost(kShape, lower(grouped(32, 8, 128), 4096), workload(8192, 1), round_target());
  CHECK(cost.decode.memory_bound);
  const Traffic& t = cost.decode.traffic;
  CHECK(cost.decode.bound_s == doctest::Approx(t.total().as_double() / 1e12));
  CHECK(cost.decode.high_s == doctest::Approx(2 * cost.decode.bound_s));
  // Weights are read once, the embedding table only looked up.
  CHECK(t.weights == Bytes((cost.params.total - cost.params.embedding).value() * 2));
}

TEST_CASE("prefill of a long prompt is compute bound and takes FLOPs over peak") {
  const Cost cost = compute_cost(kShape, lower(grouped(32, 8, 128), 4096), workload(8192, 1), round_target());
  CHECK_FALSE(cost.prefill.memory_bound);
  CHECK(cost.prefill.flops == cost.flops_causal.prefill);
  CHECK(cost.prefill.bound_s == doctest::Approx(cost.flops_causal.prefill.as_double() / 1e14));
}

TEST_CASE("tying embeddings changes parameters and never FLOPs") {
  ModelShape tied = kShape;
  tied.tied_embeddings = true;
  const AttentionPlan plan = lower(grouped(32, 8, 128), 4096);
  CHECK(count_params(kShape, plan).total - count_params(tied, plan).total == count_params(kShape, plan).embedding);
  CHECK(count_flops(tied, plan, 512, FlopConvention::causal).prefill ==
        count_flops(kShape, plan, 512, FlopConvention::causal).prefill);
}

TEST_CASE("attention FLOPs are quadratic in length") {
  const AttentionPlan plan = lower(grouped(32, 8, 128), 4096);
  const auto at = [&](std::int64_t s) { return count_flops(kShape, plan, s, FlopConvention::causal).prefill.value(); };
  CHECK(at(3000) - 2 * at(2000) + at(1000) > 0);
}

TEST_CASE("d_ff is solved to the nearest multiple and is 0 when the budget is too small") {
  const AttentionPlan plan = lower(grouped(32, 8, 128), 4096);
  CHECK(solve_d_ff(kShape, plan, Params(8'030'261'248), 64) == 14336);
  CHECK(solve_d_ff(kShape, plan, Params(1'000'000'000), 64) == 0);
}

TEST_CASE("MLA is priced expanded and absorbed with the cheaper one chosen by phase") {
  const AttentionPlan plan = lower(latent(128, 512, 64, 128, 128, 1536), 7168);
  CHECK(plan.paths[cheaper_path(plan, {0, 4096}, FlopConvention::causal)].name == "expanded");
  CHECK(plan.paths[cheaper_path(plan, {4095, 1}, FlopConvention::causal)].name == "absorbed");
  const PathCrossover at_4k = path_crossover(plan, 4096);
  // One query: absorbing saves the expansion of every cached token, so it wins from the first one.
  CHECK(at_4k.decode_context == 1);
  // A chunk of n queries: n (T 768 H + ...) > T 131072 H, about 131072 T / (768 T + 131072) = 164 queries at T = 4096.
  CHECK(at_4k.chunk_tokens > 150);
  CHECK(at_4k.chunk_tokens < 180);
  const Step below{4096, at_4k.chunk_tokens - 1}, at{4096, at_4k.chunk_tokens};
  CHECK(plan.paths[cheaper_path(plan, below, FlopConvention::causal)].name == "absorbed");
  CHECK(plan.paths[cheaper_path(plan, at, FlopConvention::causal)].name == "expanded");
  CHECK(path_crossover(lower(grouped(8, 2, 64), 512), 100).chunk_tokens == 0);
}

TEST_CASE("decode step by step costs as much as prefill on the direct path") {
  const AttentionPlan plan = lower(grouped(12, 4, 64), 768);
  i128 steps = 0;
  for (std::int64_t past = 0; past < 40; ++past)
    steps += attention_macs(plan.paths[0], {past, 1}, FlopConvention::causal).value();
  CHECK(MultiplyAdds(steps) == attention_macs(plan.paths[0], {0, 40}, FlopConvention::causal));
}
