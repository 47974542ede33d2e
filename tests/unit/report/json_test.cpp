#include <doctest/doctest.h>
#include <limits>
#include <rapidjson/document.h>
#include <rapidjson/pointer.h>

#include "report/json_out.hpp"
#include "support/layouts.hpp"
#include "unit/report/fixture.hpp"

using namespace mha;
using namespace mha::report_test;

namespace {

std::string json_of(const Recommendation& r) {
  return find_writer("json")->write(r, {});
}

rapidjson::Document parsed(const std::string& text) {
  rapidjson::Document doc;
  doc.Parse<rapidjson::kParseFullPrecisionFlag>(text.c_str());
  REQUIRE(!doc.HasParseError());
  return doc;
}

const rapidjson::Value* at(const rapidjson::Document& doc, const char* pointer) {
  return rapidjson::Pointer(pointer).Get(doc);
}

}  // namespace

TEST_CASE("every key of the first JSON contract is there with its type") {
  const rapidjson::Document doc = parsed(json_of(recommendation()));
  for (const char* pointer : {"/schema_version",
                              "/decision/n_heads",
                              "/decision/n_kv_heads",
                              "/decision/d_head",
                              "/decision/d_value",
                              "/model/d_model",
                              "/model/n_layers",
                              "/model/d_ff",
                              "/model/vocab_size",
                              "/cost/params/total",
                              "/cost/params/attention",
                              "/cost/params/ffn",
                              "/cost/params/embedding",
                              "/cost/flops/prefill",
                              "/cost/flops/decode_per_token",
                              "/cost/flops/training_per_token",
                              "/cost/kv_cache/bytes_per_token_per_layer",
                              "/cost/kv_cache/bytes_per_token",
                              "/cost/kv_cache/bytes_per_sequence",
                              "/cost/kv_cache/bytes_batch",
                              "/alternatives/0/rank",
                              "/alternatives/0/n_heads",
                              "/alternatives/0/cost/params/total",
                              "/ties/0",
                              "/rejected/0/count",
                              "/counts/enumerated",
                              "/ladder/0/n_ctx",
                              "/tensor_parallel/0/degree",
                              "/request/params"}) {
    const rapidjson::Value* value = at(doc, pointer);
    CHECK_MESSAGE((value != nullptr && value->IsInt64()), pointer);
  }
  for (const char* pointer : {"/tool/name",
                              "/tool/version",
                              "/decision/variant",
                              "/decision/reason",
                              "/cost/flops/convention",
                              "/cost/kv_cache/dtype",
                              "/cost/time/mode",
                              "/quality/preset",
                              "/alternatives/0/variant",
                              "/alternatives/0/why_not",
                              "/rejected/0/rule",
                              "/rejected/0/example",
                              "/warnings/0/code",
                              "/warnings/0/message",
                              "/validation/status",
                              "/sources/0/text",
                              "/request/target",
                              "/request/reproduce",
                              "/pareto/0/notation",
                              "/preset_winners/0/preset",
                              "/kernels/0/kernel"}) {
    const rapidjson::Value* value = at(doc, pointer);
    CHECK_MESSAGE((value != nullptr && value->IsString()), pointer);
  }
  for (const char* pointer :
       {"/cost/time/prefill_s/low", "/cost/time/prefill_s/high", "/cost/time/decode_per_token_s/low",
        "/cost/time/decode_per_token_s/high", "/quality/delta_loss_nats/value", "/quality/delta_loss_nats/low",
        "/quality/delta_loss_nats/high", "/quality/slack_nats"}) {
    const rapidjson::Value* value = at(doc, pointer);
    CHECK_MESSAGE((value != nullptr && value->IsNumber()), pointer);
  }
  for (const char* pointer : {"/alternatives", "/ties", "/rejected", "/warnings", "/validation/rows", "/sources"}) {
    const rapidjson::Value* value = at(doc, pointer);
    CHECK_MESSAGE((value != nullptr && value->IsArray()), pointer);
  }
  CHECK(at(doc, "/model/tied_embeddings")->IsBool());
  CHECK(std::string(at(doc, "/validation/status")->GetString()) == "not run");
  CHECK(at(doc, "/validation/rows")->Empty());
  CHECK(at(doc, "/cost/params/total")->GetInt64() == 8'030'261'248);
  CHECK(at(doc, "/cost/kv_cache/bytes_per_token")->GetInt64() == 131'072);
  CHECK(at(doc, "/ties/0")->GetInt() == 2);
  CHECK(at(doc, "/ties")->Size() == 1);
}

TEST_CASE("latent widths are null without a latent and numbers with one") {
  const rapidjson::Document gqa = parsed(json_of(recommendation()));
  const rapidjson::Document mla = parsed(json_of(recommendation(latent_layout())));
  for (const char* pointer :
       {"/decision/d_kv_latent", "/decision/d_q_latent", "/decision/d_nope", "/decision/d_rope"}) {
    CHECK(at(gqa, pointer)->IsNull());
    CHECK(at(mla, pointer)->IsInt64());
  }
  CHECK(at(mla, "/decision/d_kv_latent")->GetInt64() == 512);
}

TEST_CASE("fields of a variant are numbers in it and null in the others") {
  const auto decision = [](const Layout& layout, const char* key) {
    return parsed(json_of(recommendation(layout)))["decision"][key].IsNull();
  };
  CHECK(decision(latent_layout(), "n_latents"));
  CHECK(decision(testing::mfa(32, 128, 1024), "d_kv_latent"));
  CHECK_FALSE(decision(testing::mfa(32, 128, 1024), "d_q_latent"));
  CHECK_FALSE(decision(testing::gta(32, 8, 128), "d_rope"));
  CHECK_FALSE(decision(testing::gla(32, 2, 512, 64, 128, 0), "n_latents"));
  CHECK_FALSE(decision(testing::tpa(32, 128, 2, 0), "rank_q"));  // 0: queries are projected whole
}

TEST_CASE("128-bit integers are written digit for digit") {
  Recommendation r = recommendation();
  r.validation = validation(r.winner().layout, i128{1} << 100);
  const std::string text = json_of(r);
  CHECK(text.find("\"analytic\": 1267650600228229401496703205377,") != std::string::npos);
  CHECK(text.find("\"counted\": 1267650600228229401496703205376,") != std::string::npos);
  CHECK(text.find("\"status\": \"mismatch\"") != std::string::npos);
  parsed(text);
}

TEST_CASE("JSON escapes control characters and repairs text that is not UTF-8") {
  Recommendation r = recommendation();
  r.reason = std::string("quote \" tab \t bad \xff\xc3 good \xc3\xa9 zero ") + '\0';
  const rapidjson::Document doc = parsed(json_of(r));
  const rapidjson::Value* reason = at(doc, "/decision/reason");
  CHECK(std::string(reason->GetString(), reason->GetStringLength()) ==
        std::string("quote \" tab \t bad \xef\xbf\xbd\xef\xbf\xbd good \xc3\xa9 zero ") + '\0');
}

TEST_CASE("doubles read back as the same double and what is not finite is null") {
  report::Json json;
  json.object([&] {
    json.real("third", 1.0 / 3);
    json.real("tiny", 5e-324);
    json.real("none", std::numeric_limits<double>::infinity());
  });
  const rapidjson::Document doc = parsed(json.finish());
  CHECK(at(doc, "/third")->GetDouble() == 1.0 / 3);
  CHECK(at(doc, "/tiny")->GetDouble() == 5e-324);
  CHECK(at(doc, "/none")->IsNull());
}

TEST_CASE("overlong forms and surrogates are not UTF-8") {
  CHECK(report::valid_utf8("\xc0\xaf") == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(report::valid_utf8("\xed\xa0\x80").find("\xed") == std::string::npos);
  CHECK(report::valid_utf8("\xf0\x9f\x98\x80") == "\xf0\x9f\x98\x80");
}
