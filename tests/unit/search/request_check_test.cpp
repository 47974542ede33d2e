#include <doctest/doctest.h>
#include <tuple>

#include "mha/recommend.hpp"

using namespace mha;

namespace {

Request complete() {
  Request request;
  request.params = 1'300'000'000;
  request.seq_len = 32'768;
  request.target = "h100-sxm";
  return request;
}

// "code at flag" of every problem.
std::vector<std::string> found(const Request& request) {
  std::vector<std::string> all;
  for (const Diagnostic& problem : check_request(request)) {
    CHECK(!problem.hint.empty());
    all.push_back(problem.code + " at " + problem.where.key);
  }
  return all;
}

using Found = std::vector<std::string>;

}  // namespace

TEST_CASE("a complete request has no problem") {
  CHECK(found(complete()).empty());
}

TEST_CASE("all gaps of an empty request are reported") {
  CHECK(found(Request()) ==
        Found{"missing-field at --params", "missing-field at --seq-len", "missing-field at --target"});
}

TEST_CASE("the whole shape stands in for a budget") {
  Request request = complete();
  request.params.reset();
  request.d_model = 4096;
  request.n_layers = 32;
  request.d_ff = 11008;
  CHECK(check_request(request).front().hint.find("missing: --vocab-size") != std::string::npos);
  request.vocab_size = 32000;
  CHECK(found(request).empty());
}

TEST_CASE("heads that do not divide name the divisors") {
  Request request = complete();
  request.n_heads = 12;
  request.n_kv_heads = 5;
  CHECK(found(request) == Found{"kv-heads-divide at --n-kv-heads"});
  CHECK(check_request(request).front().hint == "n_kv_heads for 12 heads: 1, 2, 3, 4, 6, 12");
}

TEST_CASE("pinned heads must suit one of the variants") {
  Request request = complete();
  request.n_heads = 16;
  request.n_kv_heads = 4;
  CHECK(found(request).empty());
  request.variants = {"gqa"};
  CHECK(found(request).empty());
  request.variants = {"mha", "gqa"};
  CHECK(found(request).empty());
  for (const std::string_view variant : {"mha", "mqa", "mla"}) {
    CAPTURE(variant);
    request.variants = {std::string(variant)};
    REQUIRE(found(request).size() == 1);
    CHECK(check_request(request).front().where.key == "--n-kv-heads");
  }
  request.n_kv_heads = 16;
  CHECK(found(request).empty());
}

TEST_CASE("a width that does not split names the nearest that do") {
  Request request = complete();
  request.d_model = 510;
  request.n_heads = 8;
  CHECK(found(request) == Found{"width-does-not-split at --d-model"});
  const std::string hint = check_request(request).front().hint;
  CHECK(hint.find("504 or 512") != std::string::npos);
  CHECK(hint.find("--decoupled") != std::string::npos);
  request.decoupled = true;
  CHECK(found(request).empty());
  request.decoupled = false;
  request.d_model = 5;
  CHECK(check_request(request).front().hint.find("does: 8,") != std::string::npos);
}

TEST_CASE("pinned head widths must fill the model's width unless decoupled") {
  Request request = complete();
  request.d_model = 2048;
  request.n_heads = 16;
  request.d_head = 64;
  CHECK(found(request) == Found{"width-mismatch at --d-head"});
  request.decoupled = true;
  CHECK(found(request).empty());
  request.decoupled = false;
  request.d_head = 128;
  CHECK(found(request).empty());
  request.n_heads.reset();
  request.d_head = 96;
  CHECK(found(request) == Found{"width-does-not-split at --d-head"});
  // In a latent variant d_head is d_nope + d_rope, and d_nope fills the width.
  request.variants = {"mla"};
  CHECK(found(request).empty());
  request.n_heads = 16;
  request.d_nope = 64;
  CHECK(found(request) == Found{"width-mismatch at --d-nope"});
  request.d_nope = 128;
  request.d_rope = 64;
  request.d_head = 192;
  CHECK(found(request).empty());
  request.d_head = 128;
  CHECK(found(request) == Found{"latent-widths at --d-head"});
}

TEST_CASE("latent widths need a latent variant") {
  Request request = complete();
  request.d_kv_latent = 512;
  request.d_rope = 64;
  CHECK(found(request).empty());
  request.variants = {"gqa", "mla"};
  CHECK(found(request).empty());
  request.variants = {"gqa", "mha"};
  CHECK(found(request) == Found{"no-latent-variant at --d-kv-latent", "no-latent-variant at --d-rope"});
}

TEST_CASE("a pin that no requested variant has is refused and names those that have it") {
  struct Case {
    std::string_view key;
    std::optional<std::int64_t> Request::*member;
    std::string_view code;
    std::string_view owners;
  };
  const Case cases[] = {{"n-latents", &Request::n_latents, "no-latent-variant", "gla"},
                        {"rank-kv", &Request::rank_kv, "pin-without-variant", "tpa"},
                        {"rank-q", &Request::rank_q, "pin-without-variant", "tpa"},
                        {"d-q-latent", &Request::d_q_latent, "no-latent-variant", "mla or gla or mfa"}};
  for (const Case& one : cases) {
    CAPTURE(one.key);
    Request request = complete();
    request.*one.member = 2;
    request.variants = {"gqa", "gta"};
    CHECK(found(request) == Found{std::string(one.code) + " at --" + std::string(one.key)});
    CHECK(check_request(request).front().hint.find(one.owners) != std::string::npos);
    request.variants = {"all"};
    CHECK(found(request).empty());
  }
  Request request = complete();
  request.rank_kv = 2;  // searched by default are variants without ranks
  CHECK(found(request) == Found{"pin-without-variant at --rank-kv"});
}

TEST_CASE("pinned KV heads suit GTA with any divisor, MFA with one and TPA with all") {
  Request request = complete();
  request.n_heads = 16;
  for (const auto& [variant, kv_heads, suits] :
       std::vector<std::tuple<const char*, std::int64_t, bool>>{{"gta", 4, true},
                                                                {"gta", 16, true},
                                                                {"mfa", 1, true},
                                                                {"mfa", 4, false},
                                                                {"tpa", 16, true},
                                                                {"tpa", 4, false},
                                                                {"gla", 16, true},
                                                                {"gla", 2, false}}) {
    CAPTURE(variant);
    CAPTURE(kv_heads);
    request.variants = {variant};
    request.n_kv_heads = kv_heads;
    CHECK(found(request).empty() == suits);
  }
}

TEST_CASE("a request filled in by hand is held to the limits of each field") {
  Request request = complete();
  request.n_heads = -8;
  request.dtype = "q4_0";
  request.variants = {"gqa", "none"};
  std::vector<std::string> keys;
  for (const Diagnostic& problem : check_request(request)) keys.push_back(problem.where.key);
  CHECK(keys == Found{"--variants", "--n-heads", "--dtype"});
}

TEST_CASE("names that only the rules know are checked against them") {
  RuleSet rules;
  rules.target.id = "board";
  rules.target.peaks_per_s["f16"] = {1e12, {}};
  rules.priorities.push_back({"balanced", 0.015, "decode_time", {}});
  rules.presets.emplace_back();
  rules.presets.back().id = "conservative";
  Request request = complete();
  request.dtype = "f16";
  CHECK(check_request_against(request, rules).empty());
  request.dtype = "bf16";
  request.priority = "balance";
  request.quality_preset = "conservativ";
  const Diagnostics problems = check_request_against(request, rules);
  REQUIRE(problems.size() == 3);
  CHECK(problems[0].where.key == "--priority");
  CHECK(problems[0].hint == "did you mean 'balanced'?");
  CHECK(problems[1].where.key == "--quality-preset");
  CHECK(problems[2].where.key == "--dtype");
  CHECK(problems[2].hint == "dtypes that it computes in: f16");
}
