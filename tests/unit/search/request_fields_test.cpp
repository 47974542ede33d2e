#include <doctest/doctest.h>
#include <set>

#include "mha/request.hpp"

using namespace mha;

namespace {

Diagnostics set(Request& request, std::string_view key, std::string_view text) {
  const RequestField* field = find_request_field(key);
  REQUIRE(field != nullptr);
  return field->set(request, text);
}

std::string get(const Request& request, std::string_view key) {
  return find_request_field(key)->get(request);
}

// A value for every field, in canonical spelling.
std::string sample(const RequestField& field) {
  if (field.key == "gated_ffn") return "false";
  if (field.key == "norm") return "layer";
  if (field.key == "variants") return "mla,gqa";
  if (field.key == "bias") return "q,k,v";
  if (field.key == "dtype") return "fp8";
  if (field.key == "kv_dtypes") return "bf16,q8_0";
  if (field.key == "k_dtype" || field.key == "v_dtype") return "q4_0";
  switch (field.kind) {
    case ValueKind::count:
      return field.key == "params" ? "1.3B" : "48";
    case ValueKind::length:
      return "32k";
    case ValueKind::real:
      return "0.0125";
    case ValueKind::boolean:
      return "true";
    case ValueKind::assertion:
      return "kv_bytes_per_token <= 64KiB,n_kv_heads >= 2";
    case ValueKind::text:
    case ValueKind::list:
      return "some-name";
  }
  return {};
}

}  // namespace

TEST_CASE("request fields have unique keys and all of their parts") {
  std::set<std::string_view> keys;
  for (const RequestField& field : request_fields()) {
    CAPTURE(field.key);
    CHECK(keys.insert(field.key).second);
    CHECK(!field.help.empty());
    CHECK(!field.value_name.empty());
    CHECK(!field.group.empty());
    CHECK((field.set != nullptr && field.get != nullptr));
  }
}

TEST_CASE("every field prints what it has read and is silent at its default") {
  for (const RequestField& field : request_fields()) {
    CAPTURE(field.key);
    CHECK(field.get(Request()).empty());
    Request request;
    const std::string text = sample(field);
    CHECK(field.set(request, " " + text + " ").empty());
    CHECK(field.get(request) == text);
    // Only this field has changed.
    for (const RequestField& other : request_fields()) {
      CAPTURE(other.key);
      CHECK((other.key == field.key || other.get(request).empty()));
    }
  }
}

TEST_CASE("a refused value leaves the request as it was") {
  for (const RequestField& field : request_fields()) {
    CAPTURE(field.key);
    Request request;
    CHECK(field.set(request, sample(field)).empty());
    const Diagnostics problems = field.set(request, "");
    REQUIRE(!problems.empty());
    CHECK(!problems.front().what.empty());
    CHECK(field.get(request) == sample(field));
  }
}

TEST_CASE("counts are spelt short only when that is exact") {
  Request request;
  for (const std::string_view text : {"1.3B", "350M", "70B", "8.03B", "1T", "1300000001", "125500", "8030261248"}) {
    CAPTURE(text);
    CHECK(set(request, "params", text).empty());
    CHECK(get(request, "params") == text);
  }
  CHECK(set(request, "seq_len", "1M").empty());
  CHECK(get(request, "seq_len") == "1024k");
  CHECK(set(request, "seq_len", "128_000").empty());
  CHECK(get(request, "seq_len") == "125k");
  CHECK(set(request, "seq_len", "1000").empty());
  CHECK(get(request, "seq_len") == "1000");
}

TEST_CASE("numbers outside their limits are refused") {
  Request request;
  for (const auto& [key, text] : std::vector<std::pair<std::string, std::string>>{{"n_heads", "0"},
                                                                                  {"n_heads", "16385"},
                                                                                  {"n_layers", "4097"},
                                                                                  {"batch", "0"},
                                                                                  {"seq_len", "0"},
                                                                                  {"seq_len", "1025M"},
                                                                                  {"params", "1e30"},
                                                                                  {"params", "99999"},
                                                                                  {"d_kv_latent", "0"},
                                                                                  {"quality_slack", "-0.1"},
                                                                                  {"quality_slack", "1.1"},
                                                                                  {"quality_slack", "nan"}}) {
    CAPTURE(key);
    CAPTURE(text);
    CHECK(!set(request, key, text).empty());
  }
  CHECK(set(request, "d_q_latent", "0").empty());
  CHECK(request.d_q_latent == 0);
}

TEST_CASE("lists replace, name nothing twice, and limits add up") {
  Request request;
  CHECK(set(request, "variants", "mha, gqa").empty());
  CHECK(set(request, "variants", "mqa").empty());
  CHECK(request.variants == std::vector<std::string>{"mqa"});
  CHECK(set(request, "variants", "mqa,mqa").front().code == "duplicate-value");
  CHECK(set(request, "variants", "mqa,").front().code == "unknown-name");
  CHECK(set(request, "variants", "gta,all").front().code == "contradiction");
  CHECK(set(request, "variants", "all").empty());
  CHECK(get(request, "variants") == "all");
  CHECK(requested_variants(request) == variants());
  request.variants.clear();
  for (const Variant* variant : requested_variants(request)) CHECK(variant->by_default);
  request.variants = {"tpa", "gta"};  // in the order of the table
  CHECK(requested_variants(request) == std::vector<const Variant*>{find_variant("gta"), find_variant("tpa")});
  CHECK(set(request, "limit", "n_heads >= 2").empty());
  CHECK(set(request, "limit", "n_heads <= 64").empty());
  CHECK(request.limits.size() == 2);
  CHECK(set(request, "bias", "q,k,v,o").empty());
  CHECK(request.bias == ProjectionBias{true, true, true, true});
  CHECK(set(request, "bias", "none").empty());
  CHECK(request.bias == ProjectionBias{});
  CHECK(set(request, "bias", "q,none").front().code == "contradiction");
}

TEST_CASE("texts hold no control characters") {
  Request request;
  CHECK(set(request, "target", "h100\n").front().code == "bad-character");
  CHECK(set(request, "d_head_reason", "\x1b[31m").front().code == "bad-character");
}

TEST_CASE("flags are keys with dashes") {
  CHECK(flag_name("n_kv_heads") == "--n-kv-heads");
  CHECK(find_request_field("n-kv-heads") == nullptr);
}
