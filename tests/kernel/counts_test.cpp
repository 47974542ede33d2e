// What the kernel counts against what the cost model says: equal, without a tolerance.
#include <doctest/doctest.h>

#include "mha/cost.hpp"
#include "mha/validate.hpp"

#include "layouts.hpp"

using namespace mha;
using namespace mha::test;

TEST_CASE("the tables of variants and of oracles have the same ids and the same compute paths") {
  REQUIRE(variants().size() == oracle::oracles().size());
  Random random(11);
  for (const Variant* variant : variants()) {
    CAPTURE(variant->id);
    const oracle::Oracle* own = oracle::find_oracle(variant->id);
    REQUIRE(own != nullptr);
    const AttentionPlan plan = lower(random_layout(*variant, random), 64);
    REQUIRE(own->paths.size() == plan.paths.size());
    for (std::size_t i = 0; i < plan.paths.size(); ++i) CHECK(own->paths[i].name == plan.paths[i].name);
  }
}

TEST_CASE("counted equals analytic for random layouts of every variant") {
  constexpr int kLayouts = 80;  // of each variant
  for (const Variant* variant : variants()) {
    Random random(0x5eed + variant->id.size() + static_cast<unsigned char>(variant->id[1]));
    for (int i = 0; i < kLayouts; ++i) {
      const Layout layout = random_layout(*variant, random);
      const std::int64_t d_model = random.between(1, 80);
      ValidationBounds bounds;
      bounds.max_tokens = random.between(1, 9);
      bounds.seed = static_cast<std::uint64_t>(i);
      const Validation validation = validate(layout, d_model, bounds);
      CAPTURE(notation(layout));
      CAPTURE(variant->id);
      CAPTURE(d_model);
      CHECK(validation.d_model == d_model);
      CHECK(validation.n_tokens == bounds.max_tokens);
      CHECK(validation.rows.size() >= 20);
      for (const ValidationRow& row : validation.rows) {
        CAPTURE(row.quantity);
        CHECK(to_decimal(row.analytic) == to_decimal(row.counted));
      }
      for (const ToleranceRow& row : validation.tolerances) {
        CAPTURE(row.quantity);
        CHECK(row.difference <= 1.0);
      }
      CHECK(validation.exact());
    }
  }
}

TEST_CASE("one exponential is taken for each head and each pair of query and visible key") {
  const Layout layout = grouped_layout("gqa", 6, 2, 8, 5);
  const oracle::Oracle& own = *oracle::find_oracle("gqa");
  const oracle::Weights weights = own.draw(layout, 24, 1);
  oracle::Cache cache;
  oracle::Counts counts;
  (void)own.paths[0].forward(weights, layout, oracle::draw_tokens(5, 24, 1), cache, counts);
  CHECK(counts.exponentials == 6 * 15);
  (void)own.paths[0].forward(weights, layout, oracle::draw_tokens(1, 24, 2), cache, counts);
  CHECK(counts.exponentials == 6 * (15 + 6));
}

TEST_CASE("counts of a layout small enough to count by hand") {
  // d_model 3, 2 heads of 2 sharing one KV head, values of width 1, 2 tokens: 3 pairs.
  const Layout layout = grouped_layout("mqa", 2, 1, 2, 1);
  const oracle::Oracle& own = *oracle::find_oracle("mqa");
  const oracle::Weights weights = own.draw(layout, 3, 1);
  oracle::Cache cache;
  oracle::Counts counts;
  (void)own.paths[0].forward(weights, layout, oracle::draw_tokens(2, 3, 1), cache, counts);
  CHECK(counts.multiply_adds ==
        oracle::Tally{{"q", 24}, {"k", 12}, {"v", 6}, {"scores", 12}, {"values", 6}, {"o", 12}});
  CHECK(counts.weights_read == oracle::Tally{{"q", 12}, {"k", 6}, {"v", 3}, {"o", 6}});
  CHECK(cache.resident() == oracle::Tally{{"k", 4}, {"v", 2}});
}

TEST_CASE("expanding pays for each cached token at each step and absorbing only for new ones") {
  const Layout layout = mla_layout(2, 3, 0, 4, 2, 5);
  const oracle::Oracle& own = *oracle::find_oracle("mla");
  const oracle::Weights weights = own.draw(layout, 6, 1);
  for (const oracle::Path& path : own.paths) {
    oracle::Cache cache;
    oracle::Counts counts;
    for (std::uint64_t t = 0; t < 3; ++t)
      (void)path.forward(weights, layout, oracle::draw_tokens(1, 6, t), cache, counts);
    if (path.name == "expanded") {
      CHECK(counts.multiply_adds["k_up"] == 3 * 2 * 4 * (1 + 2 + 3));
      CHECK(counts.multiply_adds["v_up"] == 3 * 2 * 5 * (1 + 2 + 3));
    } else {
      CHECK(counts.multiply_adds["q_absorb"] == 3 * 2 * 4 * 3);
      CHECK(counts.multiply_adds["v_up"] == 3 * 2 * 5 * 3);
    }
    CHECK(cache.resident() == oracle::Tally{{"latent", 9}, {"rope_key", 6}});
  }
}

TEST_CASE("counts of small layouts of GTA, GLA, MFA and TPA by hand: one prompt of 2 tokens, 3 pairs") {
  struct Expected {
    Layout layout;
    std::size_t path;
    oracle::Tally multiply_adds, weights_read, resident;
  };
  const Expected cases[] = {
      // d_model 3, 2 heads of 4 on one tied state, rotary half 2.
      {gta_layout(2, 1, 4),
       0,
       {{"q", 2 * 3 * 8},
        {"kv", 2 * 3 * 4},
        {"k_rope", 2 * 3 * 2},
        {"scores", 3 * 8},
        {"values", 3 * 8},
        {"o", 2 * 8 * 3}},
       {{"q", 24}, {"kv", 12}, {"k_rope", 6}, {"o", 24}},
       {{"kv", 2 * 4}, {"rope_key", 2 * 2}}},
      // 2 heads, 2 latents of 3, d_nope 2, d_rope 2, d_value 1.
      {gla_layout(2, 2, 6, 0, 2, 2, 1),
       0,
       {{"q", 2 * 3 * 8},
        {"kv_down", 2 * 3 * 6},
        {"k_rope", 2 * 3 * 2},
        {"k_up", 2 * 2 * 3 * 2},
        {"v_up", 2 * 2 * 3 * 1},
        {"scores", 3 * 2 * 4},
        {"values", 3 * 2 * 1},
        {"o", 2 * 2 * 3}},
       {{"q", 24}, {"kv_down", 18}, {"k_rope", 6}, {"k_up", 12}, {"v_up", 6}, {"kv_latent_norm", 6}, {"o", 6}},
       {{"latent", 2 * 6}, {"rope_key", 2 * 2}}},
      {gla_layout(2, 2, 6, 0, 2, 2, 1),
       1,
       {{"q", 2 * 3 * 8},
        {"kv_down", 2 * 3 * 6},
        {"k_rope", 2 * 3 * 2},
        {"q_absorb", 2 * 2 * 2 * 3},
        {"scores", 3 * 2 * (3 + 2)},
        {"values", 3 * 2 * 3},
        {"v_up", 2 * 2 * 3 * 1},
        {"o", 2 * 2 * 3}},
       {{"q", 24}, {"kv_down", 18}, {"k_rope", 6}, {"k_up", 12}, {"v_up", 6}, {"kv_latent_norm", 6}, {"o", 6}},
       {{"latent", 2 * 6}, {"rope_key", 2 * 2}}},
      // 2 heads of 4, values of 1, query latent 5.
      {mfa_layout(2, 4, 1, 5),
       0,
       {{"q_down", 2 * 3 * 5},
        {"q_up", 2 * 5 * 8},
        {"k", 2 * 3 * 4},
        {"v", 2 * 3 * 1},
        {"scores", 3 * 2 * 4},
        {"values", 3 * 2 * 1},
        {"o", 2 * 2 * 3}},
       {{"q_down", 15}, {"q_up", 40}, {"q_latent_norm", 5}, {"k", 12}, {"v", 3}, {"o", 6}},
       {{"k", 2 * 4}, {"v", 2 * 1}}},
      // 2 heads of 4, values of 1, rank 3 for keys and values, 2 for queries.
      {tpa_layout(2, 4, 1, 3, 2),
       0,
       {{"q_a", 2 * 3 * 4},
        {"q_b", 2 * 3 * 8},
        {"q_mix", 2 * 2 * 2 * 4},
        {"k_a", 2 * 3 * 6},
        {"k_b", 2 * 3 * 12},
        {"v_a", 2 * 3 * 6},
        {"v_b", 2 * 3 * 3},
        {"k_mix", 2 * 2 * 3 * 4},
        {"v_mix", 2 * 2 * 3 * 1},
        {"scores", 3 * 2 * 4},
        {"values", 3 * 2 * 1},
        {"o", 2 * 2 * 3}},
       {{"q_a", 12}, {"q_b", 24}, {"k_a", 18}, {"k_b", 36}, {"v_a", 18}, {"v_b", 9}, {"o", 6}},
       {{"k_a", 2 * 6}, {"k_b", 2 * 12}, {"v_a", 2 * 6}, {"v_b", 2 * 3}}},
      {tpa_layout(2, 4, 1, 3, 2),
       1,
       {{"q_a", 2 * 3 * 4},
        {"q_b", 2 * 3 * 8},
        {"q_mix", 2 * 2 * 2 * 4},
        {"k_a", 2 * 3 * 6},
        {"k_b", 2 * 3 * 12},
        {"v_a", 2 * 3 * 6},
        {"v_b", 2 * 3 * 3},
        {"scores", 3 * 2 * 3 * 4},
        {"score_mix", 3 * 2 * 3},
        {"value_mix", 3 * 2 * 3},
        {"values", 3 * 2 * 3 * 1},
        {"o", 2 * 2 * 3}},
       {{"q_a", 12}, {"q_b", 24}, {"k_a", 18}, {"k_b", 36}, {"v_a", 18}, {"v_b", 9}, {"o", 6}},
       {{"k_a", 2 * 6}, {"k_b", 2 * 12}, {"v_a", 2 * 6}, {"v_b", 2 * 3}}},
  };
  for (const Expected& expected : cases) {
    CAPTURE(notation(expected.layout));
    CAPTURE(expected.path);
    REQUIRE(!expected.layout.variant->check(expected.layout, 3));
    const oracle::Oracle& own = *oracle::find_oracle(expected.layout.variant->id);
    oracle::Cache cache;
    oracle::Counts counts;
    (void)own.paths[expected.path].forward(own.draw(expected.layout, 3, 1), expected.layout,
                                           oracle::draw_tokens(2, 3, 1), cache, counts);
    CHECK(counts.multiply_adds == expected.multiply_adds);
    CHECK(counts.weights_read == expected.weights_read);
    CHECK(cache.resident() == expected.resident);
    CHECK(counts.exponentials == 2 * 3);
  }
}

namespace {

AttentionPlan right_plan(const Layout& layout, std::int64_t d_model) {
  return find_variant("gqa")->lower(layout, d_model);
}

// Plans that are wrong in one place each.
AttentionPlan wider_matrix(const Layout& layout, std::int64_t d_model) {
  const AttentionPlan right = right_plan(layout, d_model);
  AttentionPlan plan = right;
  plan.matrices = {};
  for (WeightMatrix m : right.matrices) {
    if (m.name == "k") m.cols += 1;
    plan.matrices.push_back(m);
  }
  return plan;
}
AttentionPlan forgotten_norm(const Layout& layout, std::int64_t d_model) {
  AttentionPlan plan = right_plan(layout, d_model);
  plan.norms = {};
  return plan;
}
AttentionPlan scores_of_kv_heads(const Layout& layout, std::int64_t d_model) {
  const AttentionPlan right = right_plan(layout, d_model);
  AttentionPlan plan = right;
  ComputePath path;
  path.name = right.paths[0].name;
  for (MacTerm term : right.paths[0].terms) {
    if (term.name == "scores") term.macs = layout.n_kv_heads * layout.d_head;
    path.terms.push_back(term);
  }
  plan.paths = {};
  plan.paths.push_back(path);
  return plan;
}
AttentionPlan cache_of_all_heads(const Layout& layout, std::int64_t d_model) {
  const AttentionPlan right = right_plan(layout, d_model);
  AttentionPlan plan = right;
  plan.cache = {};
  for (CacheEntry entry : right.cache) {
    if (entry.name == "v") entry.n_rows = layout.n_heads;
    plan.cache.push_back(entry);
  }
  return plan;
}
AttentionPlan renamed_path(const Layout& layout, std::int64_t d_model) {
  AttentionPlan plan = right_plan(layout, d_model);
  ComputePath path = plan.paths[0];
  path.name = "sideways";
  plan.paths = {};
  plan.paths.push_back(path);
  return plan;
}

}  // namespace

TEST_CASE("a cost model that is wrong in one place is found out") {
  Variant variant = *find_variant("gqa");
  Layout layout = grouped_layout("gqa", 6, 2, 8, 5);
  layout.qk_norm = true;
  layout.variant = &variant;
  CHECK(validate(layout, 24).exact());
  for (auto wrong : {wider_matrix, forgotten_norm, scores_of_kv_heads, cache_of_all_heads, renamed_path}) {
    variant.lower = wrong;
    CHECK_FALSE(validate(layout, 24).exact());
  }
}

TEST_CASE("a variant without an oracle does not pass as validated") {
  Variant variant = *find_variant("gqa");
  variant.id = "gqa-of-tomorrow";
  Layout layout = grouped_layout("gqa", 6, 2, 8, 8);
  layout.variant = &variant;
  const Validation validation = validate(layout, 24);
  CHECK_FALSE(validation.exact());
  REQUIRE(validation.rows.size() == 1);
  CHECK(validation.rows[0].counted == 0);
}

TEST_CASE("an outcome without rows or with a difference beyond its bound is not exact") {
  Validation validation;
  CHECK_FALSE(validation.exact());
  validation.rows.push_back({"weights", 3, 3});
  CHECK(validation.exact());
  validation.tolerances.push_back({"decode against prefill", 1.5, 3e-12, 2e-12});
  CHECK_FALSE(validation.exact());
}
