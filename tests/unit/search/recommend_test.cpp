#include "mha/recommend.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <set>

#include "mha/explain.hpp"
#include "mha/rules_loader.hpp"

#include "search/constraints.hpp"
#include "search/rank.hpp"

using namespace mha;

namespace {

RuleSet rules_for(const std::string& target) {
  auto rules = RuleStore().load(target);
  REQUIRE(rules.has_value());
  return *rules;
}

Request shaped(std::int64_t d_model, std::int64_t n_layers, std::int64_t params, std::int64_t tensor_parallel) {
  Request r;
  r.params = params;
  r.d_model = d_model;
  r.n_layers = n_layers;
  r.seq_len = 8192;
  r.batch = 16;
  r.target = "h100-sxm";
  r.tensor_parallel = tensor_parallel;
  return r;
}

Recommendation must(const Request& request, const RuleSet& rules) {
  Expected<Recommendation> r = recommend(request, rules);
  if (!r) {
    for (const Diagnostic& d : r.error()) MESSAGE(to_string(d));
  }
  REQUIRE(r.has_value());
  return *r;
}

std::set<std::string> first_class(const Recommendation& r) {
  std::set<std::string> names;
  for (const Ranked& row : r.ranked)
    if (row.tie_class == 1) names.insert(row.candidate.notation);
  return names;
}

Request small_request() {
  Request r;
  r.params = 1'300'000'000;
  r.seq_len = 32768;
  r.batch = 16;
  r.target = "h100-sxm";
  return r;
}

}  // namespace

TEST_CASE("balanced on H100 picks the released layouts of 8B, 14.8B and 70B models") {
  const RuleSet rules = rules_for("h100-sxm");
  struct Row {
    Request request;
    const char* layout;
  };
  const Row rows[] = {
      {shaped(4096, 32, 8'030'000'000, 1), "32/8/128"},
      {shaped(8192, 80, 70'600'000'000, 8), "64/8/128"},
      {shaped(5120, 40, 14'800'000'000, 1), "40/8/128"},
  };
  for (const Row& row : rows) {
    const Recommendation r = must(row.request, rules);
    CHECK(r.winner().notation == row.layout);
    CHECK(first_class(r).count(row.layout) == 1);
    CHECK(r.slack_relaxed_by == 0);
  }
}

TEST_CASE("every ranked candidate meets the parameter budget within 1 percent") {
  for (const std::int64_t params : {20'000'000LL, 125'000'000LL, 350'000'000LL, 1'300'000'000LL, 7'000'000'000LL,
                                    30'000'000'000LL, 70'000'000'000LL, 400'000'000'000LL}) {
    Request request = small_request();
    request.params = params;
    request.seq_len = 2048;
    request.batch = 1;
    request.tensor_parallel = params > 100'000'000'000 ? 64 : params > 20'000'000'000 ? 8 : 1;
    request.target = params > 100'000'000'000 ? "gb200" : "h100-sxm";
    const RuleSet rules = rules_for(request.target);
    if (std::find(rules.target.tensor_parallel.begin(), rules.target.tensor_parallel.end(), request.tensor_parallel) ==
        rules.target.tensor_parallel.end())
      request.tensor_parallel = rules.target.tensor_parallel.back();
    INFO(params);
    const Recommendation r = must(request, rules);
    for (const Ranked& row : r.ranked) {
      const double off = row.candidate.cost.params.total.as_double() / static_cast<double>(params) - 1;
      CHECK(std::abs(off) <= 0.01);
      CHECK(row.candidate.shape.d_ff % 64 == 0);
    }
  }
}

TEST_CASE("what a layout saves in keys and values goes to the feed-forward") {
  const Recommendation r = must(shaped(4096, 32, 8'030'000'000, 1), rules_for("h100-sxm"));
  const Candidate& gqa = r.winner();
  Request pinned = r.request;
  pinned.variants = {"mha"};
  pinned.d_head = 128;
  const Expected<Candidate> mha = evaluate(pinned, rules_for("h100-sxm"));
  REQUIRE(mha.has_value());
  CHECK(gqa.shape.d_ff > mha->shape.d_ff);
  CHECK(std::abs(gqa.cost.params.total.as_double() / mha->cost.params.total.as_double() - 1) < 0.002);
}

TEST_CASE("a request without a feasible layout says which rules dropped how many") {
  Request request = small_request();
  request.params = 70'000'000'000;
  request.target = "rpi5";
  request.dtype = "f16";
  const Expected<Recommendation> r = recommend(request, rules_for("rpi5"));
  REQUIRE_FALSE(r.has_value());
  CHECK(r.error().front().code == "no-feasible-layout");
  CHECK(std::any_of(r.error().begin(), r.error().end(),
                    [](const Diagnostic& d) { return d.code == "memory-fits" && d.severity == Severity::note; }));
}

TEST_CASE("a pinned head of 24 is refused by the standing rule and says so") {
  Request request = small_request();
  request.d_model = 1536;
  request.d_head = 24;
  request.n_heads = 64;
  const Expected<Recommendation> r = recommend(request, rules_for("h100-sxm"));
  REQUIRE_FALSE(r.has_value());
  CHECK(std::any_of(r.error().begin(), r.error().end(), [](const Diagnostic& d) { return d.code == "d-head-min"; }));
}

TEST_CASE("a head wider than 256 needs a stated reason") {
  Request request = small_request();
  request.d_model = 2048;
  request.d_head = 512;
  const RuleSet rules = rules_for("h100-sxm");
  CHECK_FALSE(recommend(request, rules).has_value());
  request.d_head_reason = "the runtime's only kernel is 512 wide";
  CHECK(recommend(request, rules).has_value());
}

TEST_CASE("MLA is not proposed below 1B parameters unless asked for") {
  Request request = small_request();
  request.params = 350'000'000;
  request.priority = "inference";
  const RuleSet rules = rules_for("h100-sxm");
  const Recommendation free_choice = must(request, rules);
  for (const Ranked& row : free_choice.ranked) CHECK(row.candidate.layout.variant->id != "mla");
  request.variants = {"mla"};
  CHECK(must(request, rules).winner().layout.variant->id == "mla");
}

TEST_CASE("variants beyond the default are searched when named or all are asked for, and by pins within all") {
  const RuleSet rules = rules_for("h100-sxm");
  const auto ids = [&](const Request& request) {
    std::set<std::string> found;
    for (const Ranked& row : must(request, rules).ranked) found.emplace(row.candidate.layout.variant->id);
    return found;
  };
  Request request = small_request();
  for (const std::string& id : ids(request)) CHECK(find_variant(id)->by_default);
  request.variants = {"gta", "mfa"};
  CHECK(ids(request) == std::set<std::string>{"gta", "mfa"});
  request.variants = {"all"};
  CHECK(ids(request).size() == variants().size());
  request.n_latents = 4;
  CHECK(ids(request) == std::set<std::string>{"gla"});
  request.n_latents.reset();
  request.d_q_latent = 1024;
  CHECK(ids(request) == std::set<std::string>{"mla", "gla", "mfa"});
  request.d_q_latent.reset();
  request.n_kv_heads = 4;
  CHECK(ids(request) == std::set<std::string>{"gqa", "gta"});
}

TEST_CASE("no kernel takes a variant that needs one of its own unless its rules name it, and MFA runs as MQA") {
  RuleSet rules = rules_for("h100-sxm");
  for (const char* id : {"gta", "gla", "tpa"}) {
    CAPTURE(id);
    Request request = small_request();
    request.variants = {id};
    const Recommendation r = must(request, rules);
    const Layout& layout = r.winner().layout;
    for (const KernelSupport& kernel : rules.kernels) CHECK_FALSE(kernel_takes(kernel, layout));
    bool said = false;
    for (const Warning& warning : r.warnings)
      said = said || (warning.code == "kernel-support" && warning.message.find(id) != std::string::npos);
    CHECK(said);
    for (const KernelRow& row : r.kernels) CHECK(row.why == "has no kernel for " + std::string(id));
  }
  Layout gla;
  gla.variant = find_variant("gla");
  gla.n_heads = gla.n_kv_heads = 64;
  gla.d_nope = gla.d_value = 128;
  gla.d_rope = 64;
  gla.d_head = 192;
  gla.d_kv_latent = 512;
  gla.n_latents = 2;
  KernelSupport kernel;
  kernel.latent = {"512+64", "256+64"};  // of one latent: says nothing about two
  CHECK_FALSE(kernel_takes(kernel, gla));
  kernel.variants = {"gla"};
  CHECK_FALSE(kernel_takes(kernel, gla));
  kernel.latent = {"2x256+64"};
  CHECK(kernel_takes(kernel, gla));
  Request request = small_request();
  request.variants = {"mfa"};
  Layout mqa = must(request, rules).winner().layout;
  const Layout mfa = mqa;
  mqa.variant = find_variant("mqa");
  mqa.d_q_latent = 0;
  for (const KernelSupport& row : rules.kernels) CHECK(kernel_takes(row, mfa) == kernel_takes(row, mqa));
}

TEST_CASE("latents split over devices that divide or are divided by their number") {
  Layout gla;
  gla.variant = find_variant("gla");
  gla.n_heads = gla.n_kv_heads = 24;
  gla.n_latents = 2;
  for (const std::int64_t degree : {1, 2, 4, 8}) CHECK(tensor_parallel_legal(gla, degree));
  gla.n_latents = 3;
  CHECK_FALSE(tensor_parallel_legal(gla, 2));
  CHECK(tensor_parallel_legal(gla, 6));
}

TEST_CASE("GLA is not proposed below 1B parameters unless named") {
  const RuleSet rules = rules_for("h100-sxm");
  Request request = small_request();
  request.params = 350'000'000;
  request.variants = {"all"};
  for (const Ranked& row : must(request, rules).ranked) CHECK_FALSE(row.candidate.layout.variant->latent);
  request.variants = {"gla"};
  CHECK(must(request, rules).winner().layout.variant->id == "gla");
}

TEST_CASE("MHA with more than 16 heads beyond 32K states its cache and names the alternative") {
  Request request = shaped(4096, 32, 8'030'000'000, 1);
  request.variants = {"mha"};
  request.seq_len = 65536;
  request.batch = 1;
  const Recommendation r = must(request, rules_for("h100-sxm"));
  const auto warning =
      std::find_if(r.warnings.begin(), r.warnings.end(), [](const Warning& w) { return w.code == "mha-long-context"; });
  REQUIRE(warning != r.warnings.end());
  CHECK(warning->message.find("GQA") != std::string::npos);
  CHECK(warning->message.find("GiB") != std::string::npos);
}

TEST_CASE("training keeps more KV width than balanced and inference keeps less") {
  const RuleSet rules = rules_for("h100-sxm");
  std::vector<i128> width;
  for (const char* priority : {"training", "balanced", "inference"}) {
    Request request = shaped(4096, 32, 8'030'000'000, 1);
    request.priority = priority;
    width.push_back(must(request, rules).winner().cost.cache.per_token.value());
  }
  CHECK(width[0] >= width[1]);
  CHECK(width[1] > width[2]);
}

TEST_CASE("the quality slack is relaxed step by step when nothing inside it fits") {
  Request request = shaped(4096, 32, 8'030'000'000, 1);
  request.seq_len = 131072;
  request.batch = 24;
  const Recommendation r = must(request, rules_for("h100-sxm"));
  CHECK(r.slack_relaxed_by > 0);
  CHECK(r.winner().cost.memory_per_rank < Bytes(i128{80} << 30));
  CHECK(std::any_of(r.warnings.begin(), r.warnings.end(), [](const Warning& w) { return w.code == "slack-relaxed"; }));
}

TEST_CASE("limits of the request drop what misses them") {
  Request request = shaped(4096, 32, 8'030'000'000, 1);
  const auto limit = parse_assertion("kv_bytes_per_token <= 64KiB");
  REQUIRE(limit.has_value());
  request.limits = {*limit};
  const Recommendation r = must(request, rules_for("h100-sxm"));
  for (const Ranked& row : r.ranked) CHECK(row.candidate.cost.cache.per_token <= Bytes(64 * 1024));
  CHECK(r.rejected.back().rule.find("kv_bytes_per_token") != std::string::npos);
}

TEST_CASE("the Pareto front holds no dominated point and its count is the reported one") {
  const Recommendation r = must(small_request(), rules_for("h100-sxm"));
  std::int64_t on_front = 0;
  for (const ParetoPoint& a : r.pareto) {
    if (!a.front) continue;
    on_front += a.same;
    for (const ParetoPoint& b : r.pareto) {
      const bool no_worse = b.loss <= a.loss && b.decode_s <= a.decode_s && b.kv_per_sequence <= a.kv_per_sequence;
      const bool better = b.loss < a.loss || b.decode_s < a.decode_s || b.kv_per_sequence < a.kv_per_sequence;
      CHECK_FALSE((no_worse && better));
    }
  }
  CHECK(on_front == r.counts.pareto);
}

TEST_CASE("all cache formats asked for are searched and block formats reject heads that they do not divide") {
  Request request = small_request();
  request.kv_dtypes = {"bf16", "fp8", "q8_0"};
  const RuleSet rules = rules_for("h100-sxm");
  const Recommendation r = must(request, rules);
  Request single = small_request();
  CHECK(r.counts.enumerated == 3 * must(single, rules).counts.enumerated);
  CHECK(r.winner().kv_format != "bf16");  // at equal predicted loss the smaller cache is cheaper
}

TEST_CASE("a target without a peak for the type is a diagnostic that names those it has") {
  Request request = small_request();
  request.target = "t4";
  const Expected<Recommendation> r = recommend(request, rules_for("t4"));
  REQUIRE_FALSE(r.has_value());
  CHECK(r.error().front().code == "missing-peak");
  CHECK(r.error().front().hint.find("f16") != std::string::npos);
}

TEST_CASE("constraint table and rules agree and ids are unique") {
  const RuleSet rules = rules_for("h100-sxm");
  CHECK(activate(rules).has_value());
  std::set<std::string_view> ids;
  for (const Constraint& row : constraints()) CHECK(ids.insert(row.id).second);
  RuleSet broken = rules;
  broken.constraints.pop_back();
  CHECK_FALSE(activate(broken).has_value());
  broken = rules;
  broken.constraints.push_back(broken.constraints.front());
  broken.constraints.back().id = "no-such-rule";
  CHECK_FALSE(activate(broken).has_value());
}

TEST_CASE("every preset is tried and a changed winner is said") {
  const Recommendation r = must(small_request(), rules_for("h100-sxm"));
  CHECK(r.preset_winners.size() == 3);
  for (const PresetWinner& w : r.preset_winners) {
    const bool warned = std::any_of(r.warnings.begin(), r.warnings.end(), [&](const Warning& warning) {
      return warning.code == "preset-changes-winner" && warning.message.find(w.preset) != std::string::npos;
    });
    CHECK(warned == !w.same);
  }
}

TEST_CASE("explained parts add up to the explained total") {
  const RuleSet rules = rules_for("h100-sxm");
  const Recommendation r = must(small_request(), rules);
  const auto rows = explain(r.winner(), r.workload, r.target, r.preset);
  CHECK(rows.size() > 30);
  for (const ExplainRow& row : rows) {
    CHECK_FALSE(row.formula.empty());
    CHECK_FALSE(row.substituted.empty());
    CHECK_FALSE(row.value.empty());
  }
}

TEST_CASE("the same request gives the same recommendation") {
  const RuleSet rules = rules_for("h100-sxm");
  const Recommendation a = must(small_request(), rules), b = must(small_request(), rules);
  REQUIRE(a.ranked.size() == b.ranked.size());
  for (std::size_t i = 0; i < a.ranked.size(); ++i)
    CHECK(a.ranked[i].candidate.notation == b.ranked[i].candidate.notation);
}

TEST_CASE("the cheapest of a tie class is never dearer than the class behind it") {
  const Recommendation r = must(shaped(4096, 32, 8'030'000'000, 1), rules_for("h100-sxm"));
  for (std::size_t i = 1; i < r.ranked.size(); ++i) {
    CHECK(r.ranked[i].tie_class >= r.ranked[i - 1].tie_class);
    CHECK_FALSE(r.ranked[i].why_not.empty());
  }
  for (const Ranked& row : r.ranked)
    if (row.tie_class == 1)
      CHECK(row.candidate.cost.decode.bound_s <= r.winner().cost.decode.bound_s * (1 + 2 * kCostTieBand));
}
