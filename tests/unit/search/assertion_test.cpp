#include <doctest/doctest.h>

#include "mha/recommend.hpp"

using namespace mha;

TEST_CASE("assertions read values in the unit of their metric") {
  struct Case {
    std::string_view text, metric, op;
    double value;
    std::int64_t exact;
  };
  for (const Case& c :
       {Case{"kv_bytes_per_token <= 64KiB", "kv_bytes_per_token", "<=", 65536, 65536},
        Case{"kv_bytes_per_token<64KB", "kv_bytes_per_token", "<", 64000, 64000},
        Case{"  n_heads==32 ", "n_heads", "==", 32, 32}, Case{"params != 1.3B", "params", "!=", 1.3e9, 1'300'000'000},
        Case{"prefill_flops >= 1.2T", "prefill_flops", ">=", 1.2e12, 1'200'000'000'000},
        Case{"prefill_flops > 3 PFLOP", "prefill_flops", ">", 3e15, 3'000'000'000'000'000},
        Case{"decode_seconds < 20ms", "decode_seconds", "<", 0.02, 0},
        Case{"decode_seconds < 300us", "decode_seconds", "<", 0.0003, 0},
        Case{"decode_seconds < 1.5 s", "decode_seconds", "<", 1.5, 0},
        Case{"delta_loss <= -0.01", "delta_loss", "<=", -0.01, 0}}) {
    CAPTURE(c.text);
    const Expected<Assertion> assertion = parse_assertion(c.text);
    REQUIRE(assertion);
    CHECK(assertion->metric == c.metric);
    CHECK(assertion->op == c.op);
    CHECK(assertion->value == doctest::Approx(c.value).epsilon(1e-15));
    CHECK(assertion->exact == i128{c.exact});
  }
}

TEST_CASE("flops beyond 64 bits are read") {
  const Expected<Assertion> assertion = parse_assertion("prefill_flops <= 1e21");
  REQUIRE(assertion);
  CHECK(assertion->exact == i128{1'000'000'000} * 1'000'000'000 * 1000);
}

TEST_CASE("what is no assertion is refused with the form or the nearest name") {
  for (const std::string_view text :
       {"", "n_heads", "n_heads =", "n_heads = 3", "n_heads =< 3", "n_heads <== 3", "n_heads <= <= 3", "<= 3",
        "n_heads <=", "n_head <= 3", "n_heads <= x", "n_heads <= -1", "kv_bytes_per_token <= 3s", "decode_seconds < 5",
        "decode_seconds < 5KiB", "delta_loss < nan"}) {
    CAPTURE(text);
    const Expected<Assertion> assertion = parse_assertion(text);
    REQUIRE(!assertion);
    CHECK(!assertion.error().front().what.empty());
  }
  CHECK(parse_assertion("n_head <= 3").error().front().hint.find("n_heads") != std::string::npos);
}

TEST_CASE("every metric takes an assertion") {
  for (const Metric& metric : metrics()) {
    CAPTURE(metric.id);
    const char* value = metric.unit == MetricUnit::seconds ? " <= 3s" : " <= 3";
    CHECK(parse_assertion(std::string(metric.id) + value).has_value());
  }
}
