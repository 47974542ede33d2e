#include <cmath>
#include <doctest/doctest.h>

#include "report/induction.hpp"
#include "report/initialisation.hpp"
#include "support/layouts.hpp"
#include "unit/report/fixture.hpp"

using namespace mha;
using namespace mha::report;
using namespace mha::report_test;

TEST_CASE("weights start at fan-in scale and the output projection is scaled by depth") {
  const ModelShape shape{4096, 32, 14336, 128256, false, true, NormKind::rms};
  const auto rows = initialisation(lower(grouped_layout("gqa", 32, 8, 128), 4096), shape);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].matrix == "W_q");
  CHECK(rows[1].std_dev == doctest::Approx(1.0 / 64));
  CHECK(rows[2].std_dev == doctest::Approx(1.0 / 64));
  CHECK(rows[3].matrix == "W_o");
  CHECK(rows[3].std_dev == doctest::Approx(1.0 / 64 / 8));
}

TEST_CASE("a latent's up-projections start at the scale of their own rank") {
  const ModelShape shape{4096, 32, 14336, 128256, false, true, NormKind::rms};
  for (const InitRow& row : initialisation(lower(latent_layout(), 4096), shape)) {
    if (row.matrix == "W_k_up" || row.matrix == "W_v_up") CHECK(row.std_dev == doctest::Approx(1 / std::sqrt(512.0)));
    if (row.matrix == "W_q_up") CHECK(row.std_dev == doctest::Approx(1 / std::sqrt(1536.0)));
  }
}

TEST_CASE("the small model of the induction task is a valid layout of the same variant and ratio") {
  for (const Layout& layout :
       {grouped_layout("mha", 32, 32, 128), grouped_layout("gqa", 32, 8, 128), grouped_layout("gqa", 64, 8, 64),
        grouped_layout("mqa", 16, 1, 128), latent_layout(), testing::gta(32, 8, 128),
        testing::gla(32, 2, 512, 64, 128, 1536), testing::gla(33, 3, 384, 64, 128, 0), testing::mfa(16, 256, 2048),
        testing::tpa(32, 128, 2, 6)}) {
    const InductionTask task = induction_task(layout, 4096);
    CHECK(task.layout.variant == layout.variant);
    CHECK(task.layout.group_size() == layout.group_size());
    CHECK(task.ratio_kept);
    CHECK(task.layout.n_heads <= 16);
    CHECK(!layout.variant->check(task.layout, task.d_model));
  }
}

TEST_CASE("a ratio too large for a small model is reduced and said so") {
  const InductionTask task = induction_task(grouped_layout("mqa", 128, 1, 64), 8192);
  CHECK(task.layout.n_heads == 16);
  CHECK(task.layout.n_kv_heads == 1);
  CHECK(!task.ratio_kept);
}

TEST_CASE("chance levels of the induction task") {
  const InductionTask task = induction_task(grouped_layout("gqa", 32, 8, 128), 4096);
  CHECK(task.seq_len() == 96);
  CHECK(task.chance_uniform == doctest::Approx(1.0 / 128));
  double harmonic = 0;  // H(32) - H(16)
  for (int i = 17; i <= 32; ++i) harmonic += 1.0 / i;
  CHECK(task.chance_unbound == doctest::Approx(harmonic / 16));
}
