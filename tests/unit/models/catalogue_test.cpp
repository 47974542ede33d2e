// Cache figures of released models against published ones: bytes a token in bf16, and fixed parts. Sources: logged caches and
// papers in tests/data/ground_truth.yaml, and the arithmetic in the comments.
#include <doctest/doctest.h>

#include "support/models.hpp"

namespace mha::testing {
namespace {

struct Golden {
  const char* id;
  std::int64_t bytes_per_token;
};

// 2 (K and V) * layers * n_kv_heads * d_head * 2 bytes.
constexpr Golden kGolden[] = {
    {"llama-2-7b", 524'288},      {"llama-2-13b", 819'200},    {"llama-2-70b", 327'680},     {"llama-3-8b", 131'072},
    {"llama-3-70b", 327'680},     {"llama-3.1-405b", 516'096}, {"llama-3.2-1b", 32'768},     {"llama-3.2-3b", 114'688},
    {"mistral-7b-v0.3", 131'072}, {"mixtral-8x7b", 131'072},   {"qwen2.5-0.5b", 12'288},     {"qwen2.5-72b", 327'680},
    {"qwen3-0.6b", 114'688},      {"qwen3-1.7b", 114'688},     {"qwen3-4b", 147'456},        {"qwen3-14b", 163'840},
    {"qwen3-235b-a22b", 192'512}, {"gemma-7b", 458'752},       {"gemma-2b", 18'432},         {"phi-3-medium", 204'800},
    {"smollm2-135m", 23'040},     {"deepseek-v2", 69'120},     {"deepseek-v2-lite", 31'104}, {"deepseek-v3", 70'272},
    {"kimi-k2", 70'272},          {"tinyllama-1.1b", 22'528},  {"codellama-34b", 196'608},   {"falcon-180b", 163'840},
    {"glm-4.5", 376'832},         {"bitnet-2b-4t", 76'800},
};

TEST_CASE("catalogue: bytes a token of 30 released models") {
  for (const Golden& golden : kGolden) {
    CAPTURE(golden.id);
    CHECK(bytes_per_token(catalogue(golden.id)) == golden.bytes_per_token);
  }
}

TEST_CASE("catalogue: at least 100 models, each read, checked and written back unchanged") {
  const std::vector<std::string> ids = rule_store().ids("models");
  CHECK(ids.size() >= 100);
  for (const std::string& id : ids) {
    CAPTURE(id);
    const Architecture model = catalogue(id);
    CHECK(model.source.text.size() > 10);
    const Expected<Architecture> again = read_model_yaml(to_yaml(model), id);
    REQUIRE(again);
    CHECK(count_params(*again, lower(*again)).stored == count_params(model, lower(model)).stored);
    CHECK(again->layers == model.layers);
    CHECK(again->kv_owner == model.kv_owner);
    CHECK(cache_at(*again, 8192).per_sequence == cache_at(model, 8192).per_sequence);
    CHECK(to_yaml(*again) == to_yaml(model));
  }
}

// Total of the hub's safetensors metadata: 671,026,419,200 + a 62nd layer + 2 d^2 + 3 d + embedding and head + scales.
TEST_CASE("catalogue: DeepSeek-V3's stored total, multi-token prediction included, to the last digit") {
  const Architecture model = catalogue("deepseek-v3");
  const ModelParams params = count_params(model, lower(model));
  CHECK(params.total == Params(671'026'419'200));
  CHECK(params.active == Params(37'552'297'472));
  CHECK(params.stored == Params(684'531'386'000));
  CHECK(params.resident == Params(684'489'845'504));
}

TEST_CASE("catalogue: stored totals of GLM-4.5, GLM-4.6 and MiMo-7B with their draft layers") {
  const auto stored = [](const char* id) {
    const Architecture model = catalogue(id);
    return count_params(model, lower(model)).stored;
  };
  CHECK(stored("glm-4.5") == Params(358'337'791'296));
  CHECK(stored("glm-4.6") == Params(356'785'898'816));
  CHECK(stored("mimo-7b") == Params(7'833'409'536));
}

}  // namespace
}  // namespace mha::testing
