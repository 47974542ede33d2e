#include <cmath>
#include <doctest/doctest.h>

#include "mha/quality.hpp"
#include "mha/rules_loader.hpp"

#include "support/layouts.hpp"

using namespace mha;
using namespace mha::testing;

namespace {

QualityPreset preset(const std::string& id) {
  const auto rules = RuleStore().load("h100-sxm");
  REQUIRE(rules.has_value());
  for (const QualityPreset& p : rules->presets)
    if (p.id == id) return p;
  FAIL("no such preset");
  return {};
}

double predicted(const QualityPreset& p, const Layout& l, std::int64_t d_model, double n) {
  const Params params(static_cast<i128>(n));
  return predict_loss(p, l, lower(l, d_model), d_model, params, params).total();
}

}  // namespace

TEST_CASE("the reference layout is at zero") {
  for (const char* id : {"optimistic", "default", "conservative"})
    CHECK(predicted(preset(id), grouped(16, 16, 128), 2048, 1e9) == 0);
}

TEST_CASE("the default preset predicts the published ablations as its documentation says") {
  const QualityPreset p = preset("default");
  // CLA 1B, MHA to 1 KV head of 64: 5 halvings of w and the narrow-KV guard; documented +0.042 with size scaling off.
  CHECK(predicted(p, grouped(32, 1, 64), 2048, 1e9) == doctest::Approx(5 * 0.004 + p.narrow_kv_penalty).epsilon(1e-9));
  // 8B, MHA to 8 KV heads of 128: two halvings, scaled by (8)^-0.2.
  CHECK(predicted(p, grouped(32, 8, 128), 4096, 8e9) == doctest::Approx(2 * 0.004 * std::pow(8.0, -0.2)));
}

TEST_CASE("attention width below d_model costs a halving each and above it is clipped at twice") {
  const QualityPreset p = preset("default");
  CHECK(predicted(p, grouped(8, 8, 128), 2048, 1e9) == doctest::Approx(0.028 + 0.004));
  const double at_2 = predicted(p, grouped(32, 16, 128), 2048, 1e9),
               at_4 = predicted(p, grouped(64, 16, 128), 2048, 1e9);
  CHECK(at_2 == doctest::Approx(-0.008));
  CHECK(at_4 == doctest::Approx(at_2));
}

TEST_CASE("narrow heads and single heads are guarded against") {
  const QualityPreset p = preset("default");
  CHECK(predicted(p, grouped(64, 64, 32), 2048, 1e9) == doctest::Approx(0.018));
  CHECK(predicted(p, grouped(128, 128, 16), 2048, 1e9) == doctest::Approx(0.048));
  CHECK(predicted(p, grouped(1, 1, 64), 64, 1e8) == doctest::Approx(0.07));
}

TEST_CASE("fewer parameters than the budget are priced by the scaling law") {
  const QualityPreset p = preset("default");
  const Layout l = grouped(16, 16, 128);
  const AttentionPlan plan = lower(l, 2048);
  // One percent of 1B is 0.0012 nats.
  CHECK(predict_loss(p, l, plan, 2048, Params(990'000'000), Params(1'000'000'000)).params ==
        doctest::Approx(0.0012).epsilon(0.05));
}

TEST_CASE("every variant has an offset in every preset, the costly end in the conservative one") {
  for (const Variant* v : variants()) {
    CAPTURE(v->id);
    const std::string id(v->id);
    const double low = preset("optimistic").variant_offset.at(id), middle = preset("default").variant_offset.at(id),
                 high = preset("conservative").variant_offset.at(id);
    CHECK(low <= middle);
    CHECK(middle <= high);
  }
}

TEST_CASE("offsets of TPA, MFA, GLA and GTA are those of the studies") {
  const QualityPreset p = preset("conservative");
  // MLRA at 2.9B, mean perplexity of seven corpora: TPA 13.985 and MHA 13.860; MFA 9.506 and MHA 9.434 on FineWeb-Edu; GLA-2
  // 13.779 and MLA 13.727, beside MLA's own 0.024.
  CHECK(p.variant_offset.at("tpa") == doctest::Approx(std::log(13.985 / 13.860)).epsilon(0.01));
  CHECK(p.variant_offset.at("mfa") == doctest::Approx(std::log(9.506 / 9.434)).epsilon(0.06));
  CHECK(p.variant_offset.at("gla") == doctest::Approx(0.024 + std::log(13.779 / 13.727)).epsilon(0.01));
  // Own-paper gains count 0.3: GTA-4 11.232 and GQA-4 11.340; GLA-2 12.456 and MLA 12.561; TPA -0.033 at most.
  const QualityPreset o = preset("optimistic");
  CHECK(o.variant_offset.at("gta") >= 0.3 * std::log(11.232 / 11.340) - 0.0005);
  CHECK(o.variant_offset.at("gla") >= o.variant_offset.at("mla") + 0.3 * std::log(12.456 / 12.561) - 0.0005);
  CHECK(o.variant_offset.at("tpa") >= 0.3 * -0.033 - 0.0005);
}

TEST_CASE("GLA is priced as a latent, GTA and MFA by their KV width, TPA as full width") {
  const QualityPreset p = preset("default");
  // 1B, d_model 2048, a = d_model. Two latents of 2 d_nope are the full width; four of d_nope are one halving short.
  CHECK(predicted(p, gla(16, 2, 512, 64, 128, 0), 2048, 1e9) == doctest::Approx(0));
  CHECK(predicted(p, gla(16, 2, 256, 64, 128, 0), 2048, 1e9) == doctest::Approx(0.004));
  CHECK(predicted(p, gla(16, 4, 512, 64, 128, 0), 2048, 1e9) == doctest::Approx(0.004));
  CHECK(predicted(p, gta(16, 4, 128), 2048, 1e9) == doctest::Approx(2 * 0.004 + p.variant_offset.at("gta")));
  // One KV head of 256: three halvings; of 128: four, and below the narrowest of released models.
  CHECK(predicted(p, mfa(8, 256, 1024), 2048, 1e9) == doctest::Approx(3 * 0.004 + 0.004));
  CHECK(predicted(p, mfa(16, 128, 1024), 2048, 1e9) == doctest::Approx(4 * 0.004 + 0.004 + p.narrow_kv_penalty));
  CHECK(predicted(p, tpa(16, 128, 2, 6), 2048, 1e9) == doctest::Approx(-0.005));
}

TEST_CASE("MLA enters at the conservative upper end of its spread") {
  CHECK(predict_loss(preset("conservative"), latent(16, 512, 64, 128, 128, 0),
                     lower(latent(16, 512, 64, 128, 128, 0), 2048), 2048, Params(1'000'000'000), Params(1'000'000'000))
            .total() == doctest::Approx(0.024));
  CHECK(predicted(preset("default"), latent(16, 256, 64, 128, 128, 0), 2048, 1e9) == doctest::Approx(0.004));
}
