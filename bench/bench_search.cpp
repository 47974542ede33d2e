// Candidates per second on one core: lowered, costed in full (parameters, FLOPs in both conventions, cache, traffic, time),
// constrained, priced by every quality preset, ranked and put on the Pareto front. `items_per_second` is the figure.
#include <benchmark/benchmark.h>

#include "mha/recommend.hpp"
#include "mha/rules_loader.hpp"

namespace {

void recommend_space(benchmark::State& state, bool decoupled, std::int64_t d_model, std::int64_t params) {
  const auto rules = mha::RuleStore().load("h100-sxm");
  mha::Request request;
  request.params = params;
  request.d_model = d_model;
  request.seq_len = 32768;
  request.batch = 4;
  request.target = "h100-sxm";
  request.decoupled = decoupled;
  request.kv_dtypes = {"bf16", "fp8"};
  std::int64_t candidates = 0;
  for (auto _ : state) {
    const auto found = mha::recommend(request, *rules);
    if (!found) {
      state.SkipWithError("no feasible layout");
      return;
    }
    candidates += found->counts.enumerated;
  }
  state.SetItemsProcessed(candidates);
  state.counters["candidates"] = static_cast<double>(candidates) / static_cast<double>(state.iterations());
}

void load_embedded_rules(benchmark::State& state) {
  for (auto _ : state) {
    auto rules = mha::RuleStore().load("h100-sxm");
    benchmark::DoNotOptimize(rules);
  }
}

}  // namespace

BENCHMARK_CAPTURE(recommend_space, coupled_2048, false, 2048, 1'300'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(recommend_space, decoupled_2048, true, 2048, 1'300'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(recommend_space, decoupled_4096, true, 4096, 8'030'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(load_embedded_rules)->Unit(benchmark::kMicrosecond);

BENCHMARK_MAIN();
