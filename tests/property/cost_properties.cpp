// Laws that hold for every layout, tried on random ones of every variant.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "mha/quality.hpp"
#include "mha/rules_loader.hpp"

#include "support/layouts.hpp"

using namespace mha;
using namespace mha::testing;

namespace {

std::int64_t in_range(int low, int high) {
  return *rc::gen::inRange<int>(low, high + 1);
}

Layout random_grouped() {
  const std::int64_t kv = in_range(1, 16), group = in_range(1, 16), width = 8 * in_range(1, 32);
  Layout l = grouped(kv * group, kv, width);
  l.d_value = 8 * in_range(1, 32);
  l.bias = {*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>(),
            *rc::gen::arbitrary<bool>()};
  l.qk_norm = *rc::gen::arbitrary<bool>();
  return l;
}

Layout random_latent() {
  return latent(in_range(1, 64), 32 * in_range(1, 32), 2 * in_range(0, 64), 8 * in_range(1, 32), 8 * in_range(1, 32),
                32 * in_range(0, 64));
}

Layout random_other() {  // GTA, GLA, MFA, TPA
  switch (in_range(0, 3)) {
    case 0: {
      const std::int64_t kv = in_range(1, 16);
      return gta(kv * in_range(1, 16), kv, 8 * in_range(1, 32));
    }
    case 1: {
      const std::int64_t latents = in_range(2, 8);
      return gla(latents * in_range(1, 16), latents, latents * 32 * in_range(1, 8), 2 * in_range(0, 64),
                 8 * in_range(1, 32), 32 * in_range(0, 64));
    }
    case 2:
      return mfa(in_range(1, 128), 8 * in_range(1, 32), 32 * in_range(1, 64));
    default:
      return tpa(in_range(1, 128), 8 * in_range(1, 32), in_range(1, 8), in_range(0, 12));
  }
}

Layout random_layout() {
  switch (in_range(0, 2)) {
    case 0:
      return random_grouped();
    case 1:
      return random_latent();
    default:
      return random_other();
  }
}

ModelShape random_shape() {
  return {64 * in_range(1, 128),
          in_range(2, 126),
          64 * in_range(1, 400),
          in_range(256, 200000),
          *rc::gen::arbitrary<bool>(),
          *rc::gen::arbitrary<bool>(),
          *rc::gen::arbitrary<bool>() ? NormKind::rms : NormKind::layer};
}

}  // namespace

TEST_CASE("parts of the parameter count add up to the total for every layout") {
  CHECK(rc::check([] {
    const Layout l = random_layout();
    const ModelShape s = random_shape();
    RC_ASSERT(!l.variant->check(l, s.d_model).has_value());
    const ParamCount p = count_params(s, lower(l, s.d_model));
    RC_ASSERT(p.embedding + p.lm_head + p.attention + p.ffn + p.norms == p.total);
    RC_ASSERT(p.attention == p.attention_per_layer * s.n_layers);
  }));
}

TEST_CASE("cache grows in proportion to layers, tokens and sequences") {
  CHECK(rc::check([] {
    const Layout l = random_layout();
    ModelShape s = random_shape();
    const AttentionPlan plan = lower(l, s.d_model);
    const std::int64_t n = in_range(1, 100000), batch = in_range(1, 64);
    const CacheSize size = cache_size(s, plan, formats("bf16", "q8_0"), n, batch, 1);
    RC_ASSERT(size.batch == size.per_token_per_layer * s.n_layers * n * batch);
    RC_ASSERT(size.per_rank_batch == size.batch);
  }));
}

TEST_CASE("MQA caches no more than GQA and GQA no more than MHA, in every format") {
  CHECK(rc::check([] {
    const ModelShape s = random_shape();
    const std::int64_t kv = in_range(2, 16), group = in_range(2, 16), width = 32 * in_range(1, 8);
    for (const StorageFormat& format : storage_formats()) {
      const Bytes mqa = cache_per_token(s, grouped(kv * group, 1, width), format.id),
                  gqa = cache_per_token(s, grouped(kv * group, kv, width), format.id),
                  mha = cache_per_token(s, grouped(kv * group, kv * group, width), format.id);
      RC_ASSERT(mqa * kv == gqa);
      RC_ASSERT(gqa * group == mha);
    }
  }));
}

TEST_CASE("a rank never holds more than the whole, and ranks together never less") {
  CHECK(rc::check([] {
    const Layout l = random_layout();
    const ModelShape s = random_shape();
    const AttentionPlan plan = lower(l, s.d_model);
    const std::int64_t tp = std::int64_t{1} << in_range(0, 5);
    const CacheSize size = cache_size(s, plan, formats("bf16", "bf16"), 1, 1, tp);
    RC_ASSERT(size.per_rank_per_token <= size.per_token);
    RC_ASSERT(size.per_rank_per_token * tp >= size.per_token);
  }));
}

TEST_CASE("costs grow with context and the causal triangle never exceeds the square") {
  CHECK(rc::check([] {
    const Layout l = random_layout();
    const ModelShape s = random_shape();
    const AttentionPlan plan = lower(l, s.d_model);
    const std::int64_t n = in_range(2, 100000);
    const FlopCount shorter = count_flops(s, plan, n - 1, FlopConvention::causal),
                    longer = count_flops(s, plan, n, FlopConvention::causal);
    RC_ASSERT(longer.prefill > shorter.prefill);
    RC_ASSERT(longer.decode_per_token >= shorter.decode_per_token);
    const FlopCount square = count_flops(s, plan, n, FlopConvention::full);
    RC_ASSERT(longer.prefill <= square.prefill);
    RC_ASSERT(longer.decode_per_token == square.decode_per_token);
  }));
}

TEST_CASE("a faster target is never slower and a longer context never faster") {
  CHECK(rc::check([] {
    const Layout l = random_layout();
    const ModelShape s = random_shape();
    const AttentionPlan plan = lower(l, s.d_model);
    const std::int64_t n = in_range(2, 50000), batch = in_range(1, 32);
    const Target slow = round_target();
    Target fast = slow;
    fast.bandwidth_per_s.value *= 1 + static_cast<double>(in_range(0, 100)) / 100;
    fast.peaks_per_s["bf16"].value *= 1 + static_cast<double>(in_range(0, 100)) / 100;
    RC_ASSERT(compute_cost(s, plan, workload(n, batch), fast).decode.bound_s <=
              compute_cost(s, plan, workload(n, batch), slow).decode.bound_s);
    RC_ASSERT(compute_cost(s, plan, workload(n, batch), slow).decode.bound_s >=
              compute_cost(s, plan, workload(n - 1, batch), slow).decode.bound_s);
  }));
}

TEST_CASE("the solved d_ff meets the budget to half a step") {
  CHECK(rc::check([] {
    const Layout l = random_layout();
    ModelShape s = random_shape();
    const AttentionPlan plan = lower(l, s.d_model);
    const Params budget = count_params(s, plan).total + Params(in_range(0, 1000000));
    s.d_ff = solve_d_ff(s, plan, budget, 64);
    const i128 step = i128{64} * s.n_layers * s.d_model * (s.gated_ffn ? 3 : 2);
    const i128 off = count_params(s, plan).total.value() - budget.value();
    RC_ASSERT((off < 0 ? -off : off) * 2 <= step);
  }));
}

TEST_CASE("a narrower KV width is never predicted to be better") {
  const auto rules = RuleStore().load("h100-sxm");
  REQUIRE(rules.has_value());
  CHECK(rc::check([&] {
    const std::int64_t kv = in_range(1, 16), group = in_range(2, 8), width = 32 * in_range(1, 8);
    const std::int64_t d_model = kv * group * width;
    const Layout wide = grouped(kv * group, kv * group, width), narrow = grouped(kv * group, kv, width);
    const Params n(1'000'000LL * in_range(100, 100000));
    for (const QualityPreset& preset : rules->presets)
      RC_ASSERT(predict_loss(preset, narrow, lower(narrow, d_model), d_model, n, n).total() >=
                predict_loss(preset, wide, lower(wide, d_model), d_model, n, n).total());
  }));
}
