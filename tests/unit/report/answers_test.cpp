#include <doctest/doctest.h>
#include <rapidjson/document.h>

#include "unit/report/fixture.hpp"

using namespace mha;
using namespace mha::report_test;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

rapidjson::Document parsed(const std::string& text) {
  rapidjson::Document doc;
  doc.Parse(text.c_str());
  REQUIRE(!doc.HasParseError());
  REQUIRE(doc.HasMember("schema_version"));
  return doc;
}

const std::vector<ExplainRow> kRows = {
    {"Parameters", "q projection", "d_model * n_heads * d_head", "4096 * 32 * 128", "16,777,216 parameters", ""},
    {"KV cache", "per token", "a * b", "1 * 2", "131,072 B", "paper"}};

std::vector<AssertionResult> checks(bool second) {
  AssertionResult a;
  a.assertion.text = "kv_bytes_per_token <= 256KiB";
  a.assertion.metric = "kv_bytes_per_token";
  a.assertion.op = "<=";
  a.met = true;
  a.actual = "128 KiB";
  a.margin = "128 KiB below the limit";
  AssertionResult b = a;
  b.met = second;
  return {a, b};
}

}  // namespace

TEST_CASE("explain shows each figure as formula, numbers and value under its group") {
  const std::string text = write_explain(recommendation().winner(), kRows, "txt");
  CHECK(has(text, "\nParameters\n"));
  CHECK(has(text, "\nKV cache\n"));
  CHECK(has(text, "4096 * 32 * 128"));
  CHECK(has(text, "16,777,216 parameters"));
  const rapidjson::Document doc = parsed(write_explain(recommendation().winner(), kRows, "json"));
  CHECK(doc["figures"].Size() == 2);
  CHECK(std::string(doc["figures"][1]["source"].GetString()) == "paper");
  CHECK(doc["layout"]["n_heads"].GetInt() == 32);
}

TEST_CASE("validate shows analytic beside counted and names a difference") {
  const Layout layout = grouped_layout("gqa", 32, 8, 128);
  const Validation good = validation(layout, (i128{1} << 100) + 1);
  const Validation bad = validation(layout, 7);
  CHECK(has(write_validation(good, "txt"), "Validation of GQA 32/8/128: exact"));
  CHECK(!has(write_validation(good, "txt"), "DIFFERS"));
  CHECK(has(write_validation(bad, "txt"), "mismatch"));
  CHECK(has(write_validation(bad, "txt"), "DIFFERS"));
  CHECK(has(write_validation(good, "txt"), "reduced from 4,096"));
  const rapidjson::Document doc = parsed(write_validation(bad, "json"));
  CHECK(std::string(doc["validation"]["status"].GetString()) == "mismatch");
  CHECK(doc["validation"]["rows"][0]["counted"].GetInt() == 7);
}

TEST_CASE("check says which assertions hold") {
  const Candidate candidate = recommendation().winner();
  CHECK(has(write_checks(candidate, checks(true), "txt"), "All checks are met."));
  CHECK(has(write_checks(candidate, checks(false), "txt"), "FAILED"));
  CHECK(has(write_checks(candidate, checks(false), "txt"), "A check failed."));
  CHECK(parsed(write_checks(candidate, checks(true), "json"))["met"].GetBool());
  const rapidjson::Document doc = parsed(write_checks(candidate, checks(false), "json"));
  CHECK(!doc["met"].GetBool());
  CHECK(std::string(doc["checks"][1]["margin"].GetString()) == "128 KiB below the limit");
}
