#include <algorithm>
#include <doctest/doctest.h>
#include <set>

#include "support/layouts.hpp"

using namespace mha;
using namespace mha::testing;

namespace {
AxisValues coupled_axes(std::int64_t d_model) {
  AxisValues axes;
  axes.d_model = d_model;
  for (std::int64_t n = 1; n <= d_model; ++n)
    if (d_model % n == 0) {
      axes.n_heads.push_back(n);
      axes.d_head.push_back(n);
      axes.d_nope.push_back(n);
    }
  axes.d_kv_latent = {64, 512};
  axes.d_q_latent = {0, 96};
  axes.d_rope = {32};
  axes.n_latents = {2, 4};
  axes.rank_kv = {1, 2};
  axes.rank_q = {0, 6};
  return axes;
}
}  // namespace

TEST_CASE("variant ids are unique and found by name") {
  std::set<std::string_view> ids;
  for (const Variant* v : variants()) {
    CHECK(ids.insert(v->id).second);
    CHECK(find_variant(v->id) == v);
    CHECK_FALSE(v->help.empty());
  }
  CHECK(find_variant("gqua") == nullptr);
}

TEST_CASE("every enumerated layout passes its own check, lowers, and has a notation of its own") {
  for (const std::int64_t d_model : {64, 768, 1024}) {
    std::set<std::string> names;
    for (const Variant* v : variants()) {
      std::vector<Layout> layouts;
      v->enumerate(coupled_axes(d_model), layouts);
      CHECK_FALSE(layouts.empty());
      for (const Layout& l : layouts) {
        CHECK_FALSE(v->check(l, d_model).has_value());
        CHECK(lower(l, d_model).attention_width == d_model);
        CHECK(names.insert(notation(l)).second);
      }
    }
  }
}

TEST_CASE("enumeration covers every divisor of n_heads once") {
  AxisValues axes;
  axes.d_model = 768;
  axes.n_heads = {12};
  axes.d_head = {64};
  std::vector<std::int64_t> kv;
  for (const char* id : {"mha", "mqa", "gqa"}) {
    std::vector<Layout> layouts;
    find_variant(id)->enumerate(axes, layouts);
    for (const Layout& l : layouts) kv.push_back(l.n_kv_heads);
  }
  std::sort(kv.begin(), kv.end());
  CHECK(kv == std::vector<std::int64_t>{1, 2, 3, 4, 6, 12});
}

TEST_CASE("KV heads that do not divide the query heads are refused with the list of those that do") {
  Layout l = grouped(12, 4, 64);
  l.n_kv_heads = 5;
  const auto problem = l.variant->check(l, 768);
  REQUIRE(problem.has_value());
  CHECK(problem->code == "kv-heads-divide");
  CHECK(problem->what == "n_kv_heads 5 does not divide n_heads 12");
  CHECK(problem->hint.find("1, 2, 3, 4, 6, 12") != std::string::npos);
}

TEST_CASE("MLA refuses KV heads, odd rotary widths and a free d_head") {
  Layout l = latent(16, 512, 64, 128, 128, 0);
  CHECK_FALSE(l.variant->check(l, 2048).has_value());
  l.n_kv_heads = 4;
  CHECK(l.variant->check(l, 2048)->code == "mla-kv-heads");
  l = latent(16, 512, 63, 128, 128, 0);
  CHECK(l.variant->check(l, 2048)->code == "rope-even");
  l = latent(16, 512, 64, 128, 128, 0);
  l.d_head = 128;
  CHECK(l.variant->check(l, 2048)->code == "mla-head-width");
}

TEST_CASE("GQA with as many KV heads as query heads lowers to the plan of MHA") {
  const Layout mha = grouped(8, 8, 64);
  Layout gqa = mha;
  gqa.variant = find_variant("gqa");
  const ModelShape shape{512, 4, 2048, 1000, false, true, NormKind::rms};
  CHECK(total_params(shape, mha) == total_params(shape, gqa));
  CHECK(cache_per_token(shape, mha) == cache_per_token(shape, gqa));
  const Step step{100, 7};
  CHECK(attention_macs(lower(mha, 512).paths[0], step, FlopConvention::causal) ==
        attention_macs(lower(gqa, 512).paths[0], step, FlopConvention::causal));
}

TEST_CASE("notation is the documented one") {
  CHECK(notation(grouped(64, 8, 128)) == "64/8/128");
  CHECK(notation(latent(128, 512, 64, 128, 128, 0)) == "mla:128/512+64");
  CHECK(notation(latent(128, 512, 64, 128, 128, 1536)) == "mla:128/512+64 q1536");
  CHECK(notation(latent(64, 512, 64, 192, 256, 2048)) == "mla:64/512+64 d192 v256 q2048");
}

TEST_CASE("biases count one per output column and only where asked") {
  Layout l = grouped(16, 2, 128);
  const Params without = attention_params(lower(l, 2048));
  l.bias = {true, true, true, false};
  CHECK(attention_params(lower(l, 2048)) - without == Params(16 * 128 + 2 * 2 * 128));
  l.bias.o = true;
  CHECK(attention_params(lower(l, 2048)) - without == Params(16 * 128 + 2 * 2 * 128 + 2048));
  l.qk_norm = true;
  CHECK(attention_params(lower(l, 2048)) - without == Params(16 * 128 + 2 * 2 * 128 + 2048 + 2 * 128));
}
