// GTA, GLA, MFA and TPA: published sizes, per-rank loads, and what is not a layout of each.
#include <cmath>
#include <doctest/doctest.h>

#include "cost/sharding.hpp"
#include "support/layouts.hpp"

using namespace mha;
using namespace mha::testing;

namespace {

i128 cached(const Layout& layout, std::int64_t d_model) {  // elements per token and layer
  const ModelShape shape{d_model, 1, 64, 256, false, true, NormKind::rms};
  return cache_size(shape, lower(layout, d_model), formats("bf16", "bf16"), 1, 1, 1)
      .elements_per_token_per_layer.value();
}

// Elements per token and layer on one rank, in units of d_head or d_nope (128).
double on_rank(const Layout& layout, std::int64_t tensor_parallel) {
  const ModelShape shape{8192, 1, 64, 256, false, true, NormKind::rms};
  const Bytes bytes =
      cache_size(shape, lower(layout, 8192), formats("bf16", "bf16"), 1, 1, tensor_parallel).per_rank_per_token;
  return bytes.as_double() / 2 / 128;
}

// Multiply-adds per query-key pair.
i128 per_pair(const Layout& layout, std::size_t path, std::int64_t d_model) {
  const AttentionPlan plan = lower(layout, d_model);
  i128 macs = 0;
  for (const MacTerm& term : plan.paths[path].terms)
    if (term.per == MacPer::pair) macs += term.macs;
  return macs;
}

std::string code(const Layout& layout) {
  const auto problem = layout.variant->check(layout, 4096);
  return problem ? problem->code : "";
}

}  // namespace

TEST_CASE("the search covers MHA, MQA, GQA and MLA by default") {
  std::vector<std::string> by_default;
  for (const Variant* v : variants())
    if (v->by_default) by_default.emplace_back(v->id);
  CHECK(by_default == std::vector<std::string>{"mha", "mqa", "gqa", "mla"});
}

TEST_CASE("parameters equal those of the models that a study matched to MHA of 2.9B") {
  // SongtaoLiu0823/MLRA, config/train_*.py: d_model 3072, 24 heads of 128, SwiGLU; the feed-forward width makes each model
  // as large as MHA with 8192. One layer of MHA: 4 * 3072^2 + 3 * 3072 * 8192 = 113,246,208.
  const double mha = 4.0 * 3072 * 3072 + 3.0 * 3072 * 8192;
  struct Row {
    Layout layout;
    std::int64_t d_ff;
    std::int64_t attention;  // by hand, from the matrices of model/*.py
  };
  const Row rows[] = {
      // q 3072^2 + kv 3072 * 768 + rope 3072 * 64 + o 3072^2
      {gta(24, 6, 128), 9960, 9'437'184 + 2'359'296 + 196'608 + 9'437'184},
      // q 3072 * 1024, norm 1024, 1024 * 24 * 192; down 3072 * 576; norms 512; up 2 * (256 * 3072); o 3072^2
      {gla(24, 2, 512, 64, 128, 1024), 10048, 3'145'728 + 1'024 + 4'718'592 + 1'769'472 + 512 + 1'572'864 + 9'437'184},
      // q 3072 * 2048, norm 2048, 2048 * 24 * 256; k and v 3072 * 256 each; o 24 * 256 * 3072
      {mfa(24, 256, 2048), 8024, 6'291'456 + 2'048 + 12'582'912 + 2 * 786'432 + 18'874'368},
      // q 3072 * 6 * (24 + 128); k and v 3072 * 2 * (24 + 128) each; o 3072^2
      {tpa(24, 128, 2, 6), 10760, 2'801'664 + 2 * 933'888 + 9'437'184},
  };
  for (const Row& row : rows) {
    CAPTURE(notation(row.layout));
    const Params attention = attention_params(lower(row.layout, 3072));
    CHECK(to_decimal(attention.value()) == to_decimal(i128{row.attention}));
    const double layer = attention.as_double() + 3.0 * 3072 * static_cast<double>(row.d_ff);
    CHECK(std::abs(layer / mha - 1) < 0.0005);
  }
}

TEST_CASE("Step-3 caches 31,232 elements a token and does 128 FLOP for each byte of an 8-bit cache") {
  const Layout step3 = mfa(64, 256, 2048);
  const ModelShape shape{7168, 61, 18432, 128815, false, true, NormKind::rms};
  CHECK(cache_per_token(shape, step3, "fp8") == Bytes(31'232));  // 61 * 2 * 256
  // 8-bit cache of 8192 tokens: 2.56e8 bytes (Step-3 report, table of decode costs).
  const CacheSize size = cache_size(shape, lower(step3, 7168), formats("fp8", "fp8"), 8192, 1, 1);
  CHECK(size.per_sequence == Bytes(255'852'544));
  // 2 FLOP * 64 heads * 256 for scores and for values, over 512 bytes.
  CHECK(2 * per_pair(step3, 0, 7168) / (2 * 256) == 128);
  // q 7168 * 2048, norm, 2048 * 16384; k and v 7168 * 256 each; o 16384 * 7168.
  CHECK(attention_params(lower(step3, 7168)) == Params(14'680'064 + 2'048 + 33'554'432 + 2 * 1'835'008 + 117'440'512));
}

TEST_CASE("per-rank loads are those of the MLRA paper, in units of a head's width, at 1, 2, 4 and 8 ranks") {
  const Layout gla_2 = gla(64, 2, 512, 64, 128, 0), mla = latent(64, 512, 64, 128, 128, 0), gqa = grouped(64, 8, 128);
  const double expected_gla[] = {4.5, 2.5, 2.5, 2.5}, expected_gqa[] = {16, 8, 4, 2};
  for (int i = 0; i < 4; ++i) {
    CHECK(on_rank(gla_2, 1 << i) == expected_gla[i]);
    CHECK(on_rank(mla, 1 << i) == 4.5);
    CHECK(on_rank(gqa, 1 << i) == expected_gqa[i]);
  }
  CHECK(on_rank(gla(64, 4, 512, 64, 128, 0), 4) == 1.5);  // four latents of 128, one a rank, and the rotary key
  // GTA: 8 states of a head's width split as KV heads do, and half a width of rotary key on each rank.
  CHECK(on_rank(gta(64, 8, 128), 1) == 8.5);
  CHECK(on_rank(gta(64, 8, 128), 8) == 1.5);
  CHECK(on_rank(gta(64, 8, 128), 16) == 1.5);
  CHECK(on_rank(mfa(64, 128, 1024), 8) == 2);  // one KV head, copied
  // TPA: 2 * 2 * 64 coefficients split with the heads, 2 * 2 factors of a head's width copied.
  CHECK(on_rank(tpa(64, 128, 2, 6), 1) == 6);
  CHECK(on_rank(tpa(64, 128, 2, 6), 8) == 4.25);
}

TEST_CASE("copies over ranks count the state and not the shared rotary key") {
  const auto copies = [](const Layout& layout, std::int64_t degree) {
    return cache_copies(lower(layout, 8192), degree);
  };
  CHECK(copies(grouped(64, 8, 128), 8) == 1);
  CHECK(copies(grouped(64, 8, 128), 16) == 2);
  CHECK(copies(latent(64, 512, 64, 128, 128, 0), 8) == 8);
  CHECK(copies(gla(64, 2, 512, 64, 128, 0), 2) == 1);
  CHECK(copies(gla(64, 2, 512, 64, 128, 0), 8) == 4);
  CHECK(copies(gta(64, 8, 128), 8) == 1);
  CHECK(copies(mfa(64, 256, 2048), 8) == 8);
  CHECK(copies(tpa(64, 128, 2, 6), 8) == 8);  // the factors over width
}

TEST_CASE("cached elements of the studied layouts") {
  CHECK(cached(gta(24, 6, 128), 3072) == 6 * 128 + 64);  // GQA-6: 1536, so about half
  CHECK(cached(gla(24, 2, 512, 64, 128, 1024), 3072) == 576);
  CHECK(cached(mfa(24, 256, 2048), 3072) == 512);
  CHECK(cached(tpa(24, 128, 2, 6), 3072) == (2 + 2) * (24 + 128));
}

TEST_CASE("GLA-2 does half of MLA's work a cached byte: about the number of heads, in bf16") {
  const auto intensity = [](const Layout& layout) {  // FLOP a byte of one decode step on a long cache
    return 2 * static_cast<double>(per_pair(layout, 1, 8192)) / (2 * static_cast<double>(cached(layout, 8192)));
  };
  // 2 * 128 * (256 + 64 + 256) / (2 * 576) = 128; 2 * 128 * (512 + 64 + 512) / (2 * 576) = 241.8.
  CHECK(intensity(gla(128, 2, 512, 64, 128, 0)) == doctest::Approx(128));
  CHECK(intensity(latent(128, 512, 64, 128, 128, 0)) == doctest::Approx(241.78).epsilon(1e-4));
}

TEST_CASE("factored decode of TPA is cheaper than rebuilding at any length, and a long prompt is cheaper expanded") {
  // A decode step on n tokens: both multiply 2 * H * R * h for each; rebuilding adds 2 * H * h of plain attention, weighing
  // 2 * H * R.
  const AttentionPlan plan = lower(tpa(24, 128, 2, 6), 3072);
  const auto macs = [&](std::size_t path, Step step) {
    return attention_macs(plan.paths[path], step, FlopConvention::causal).value();
  };
  for (const std::int64_t past : {0, 1, 1000, 100000})
    CHECK(macs(0, {past, 1}) - macs(1, {past, 1}) == i128{past + 1} * (2 * 24 * 128 - 2 * 24 * 2));
  CHECK(path_crossover(plan, 4096).decode_context == 1);
  CHECK(cheaper_path(plan, {0, 4096}, FlopConvention::causal) == 0);
  CHECK(cheaper_path(plan, {4095, 1}, FlopConvention::causal) == 1);
}

TEST_CASE("what is not a layout is refused with what would be one") {
  CHECK(code(gta(32, 8, 128)).empty());
  CHECK(code(gta(32, 8, 66)) == "gta-rope-even");  // half of it, 33, is odd
  CHECK(code(gta(32, 5, 128)) == "kv-heads-divide");
  Layout l = gta(32, 8, 128);
  l.d_value = 64;
  CHECK(code(l) == "gta-value-width");
  l = gta(32, 8, 128);
  l.d_rope = 32;
  CHECK(code(l) == "gta-halves");
  l = gta(32, 8, 128);
  l.qk_norm = true;
  CHECK(code(l) == "gta-qk-norm");

  CHECK(code(gla(32, 2, 512, 64, 128, 0)).empty());
  CHECK(code(gla(32, 1, 512, 64, 128, 0)) == "gla-latents");
  CHECK(code(gla(32, 3, 512, 64, 128, 0)) == "latents-divide-heads");
  CHECK(code(gla(33, 3, 512, 64, 128, 0)) == "latents-divide-width");
  CHECK(code(gla(32, 2, 512, 63, 128, 0)) == "rope-even");
  l = gla(32, 2, 512, 64, 128, 0);
  l.n_kv_heads = 2;
  CHECK(code(l) == "gla-kv-heads");
  l = latent(32, 512, 64, 128, 128, 0);
  l.n_latents = 2;
  CHECK(code(l) == "mla-latents");

  CHECK(code(mfa(64, 256, 2048)).empty());
  CHECK(code(mfa(64, 256, 0)) == "mfa-query-latent");
  l = mfa(64, 256, 2048);
  l.n_kv_heads = 2;
  CHECK(code(l) == "mfa-kv-heads");

  CHECK(code(tpa(24, 128, 2, 0)).empty());
  CHECK(code(tpa(24, 128, 0, 6)) == "tpa-rank");
  l = tpa(24, 128, 2, 6);
  l.n_kv_heads = 8;
  CHECK(code(l) == "tpa-kv-heads");
  l = grouped(32, 8, 128);
  l.rank_kv = 2;
  CHECK(code(l) == "field-without-variant");
  l = grouped(32, 8, 128);
  l.n_latents = 2;
  CHECK(code(l) == "field-without-variant");
}

TEST_CASE("notation of GTA, GLA, MFA and TPA is the documented one") {
  CHECK(notation(gta(32, 8, 128)) == "gta:32/8/128");
  CHECK(notation(gla(128, 2, 512, 64, 128, 0)) == "gla:128/2x256+64");
  CHECK(notation(gla(24, 2, 512, 64, 96, 1024)) == "gla:24/2x256+64 d96 q1024");
  CHECK(notation(mfa(64, 256, 2048)) == "mfa:64/256 q2048");
  CHECK(notation(tpa(24, 128, 2, 6)) == "tpa:24/128 r2 q6");
  CHECK(notation(tpa(24, 128, 2, 0)) == "tpa:24/128 r2");
}
