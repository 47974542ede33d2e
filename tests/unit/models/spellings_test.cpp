// The same model as config.json, as GGUF metadata and as our own YAML: equal to the byte in every figure.
#include <doctest/doctest.h>
#include <functional>

#include "mha/model_readers.hpp"
#include "mha/model_report.hpp"

#include "support/gguf_builder.hpp"
#include "support/models.hpp"

namespace mha::testing {
namespace {

Architecture config(const std::string& name) {
  Expected<Architecture> model = read_model(MHA_SOURCE_DIR "/tests/data/configs/" + name + ".json", rule_store());
  if (!model) FAIL(to_string(model.error()[0]));
  return *std::move(model);
}

Architecture gguf(const GgufBuilder& builder) {
  static const std::vector<FamilyRule> families = *rule_store().families();
  const std::string bytes = builder.bytes();
  Expected<Architecture> model = read_gguf_bytes(as_bytes(bytes), "model.gguf", families);
  if (!model) FAIL(to_string(model.error()[0]));
  return *std::move(model);
}

// Everything an audit says but where the model came from.
std::string figures(Architecture model) {
  model.id = model.name = model.family = model.origin = model.note = "";
  model.source = {};
  model.notes.clear();
  model.stored.clear();
  model.max_context = 0;
  const Audit a = audit(model, query_at(20000, 3), audit_rules({"vllm", "llama-cpp"}));
  return write_audit(a, "", "json") + write_model_explain(a, explain(a), "json");
}

struct Keys {
  std::uint64_t n, d, heads, kv, head, ff, vocab;
};

GgufBuilder builder(const std::string& architecture, const Keys& k) {
  GgufBuilder b(architecture);
  b.count(".block_count", k.n).count(".embedding_length", k.d).count(".attention.head_count", k.heads);
  b.count(".attention.head_count_kv", k.kv).count(".attention.key_length", k.head);
  b.count(".attention.value_length", k.head).count(".vocab_size", k.vocab).count(".context_length", 32768);
  if (k.ff > 0) b.count(".feed_forward_length", k.ff);
  b.real(".attention.layer_norm_rms_epsilon", 1e-6F);
  return b;
}

struct Twin {
  const char* config;
  GgufBuilder file;
};

std::vector<Twin> twins() {
  std::vector<Twin> out;
  out.push_back({"llama-3-8b", builder("llama", {32, 4096, 32, 8, 128, 14336, 128256})});
  out.push_back({"qwen3-32b", builder("qwen3", {64, 5120, 64, 8, 128, 25600, 151936})});
  GgufBuilder gemma2 = builder("gemma2", {42, 3584, 16, 8, 256, 14336, 256000});
  gemma2.count(".attention.sliding_window", 4096);
  out.push_back({"gemma-2-9b", gemma2});
  GgufBuilder gemma3 = builder("gemma3", {62, 5376, 32, 16, 128, 21504, 262208});
  gemma3.count(".attention.sliding_window", 1024);
  out.push_back({"gemma-3-27b", gemma3});
  GgufBuilder oss = builder("gpt-oss", {24, 2880, 64, 8, 64, 2880, 201088});
  oss.count(".expert_count", 32).count(".expert_used_count", 4).count(".expert_feed_forward_length", 2880);
  oss.count(".attention.sliding_window", 128);
  out.push_back({"gpt-oss-20b", oss});
  GgufBuilder moe = builder("qwen3moe", {94, 4096, 64, 4, 128, 12288, 151936});
  moe.count(".expert_count", 128).count(".expert_used_count", 8).count(".expert_feed_forward_length", 1536);
  out.push_back({"qwen3-235b-a22b", moe});
  GgufBuilder mla("deepseek2");
  mla.count(".block_count", 61).count(".embedding_length", 7168).count(".feed_forward_length", 18432);
  mla.count(".attention.head_count", 128).count(".attention.head_count_kv", 1).count(".attention.key_length", 576);
  mla.count(".attention.value_length", 512).count(".attention.key_length_mla", 192);
  mla.count(".attention.value_length_mla", 128).count(".attention.q_lora_rank", 1536);
  mla.count(".attention.kv_lora_rank", 512).count(".rope.dimension_count", 64).count(".leading_dense_block_count", 3);
  mla.count(".expert_count", 256).count(".expert_used_count", 8).count(".expert_shared_count", 1);
  mla.count(".expert_feed_forward_length", 2048).count(".context_length", 163840).count(".vocab_size", 129280);
  mla.count(".expert_gating_func", 2).real(".attention.layer_norm_rms_epsilon", 1e-6F);
  out.push_back({"deepseek-v3", mla});
  return out;
}

TEST_CASE("spellings: config.json, GGUF and YAML give the same bytes") {
  for (const Twin& twin : twins()) {
    CAPTURE(twin.config);
    Architecture from_config = config(twin.config), from_gguf = gguf(twin.file);
    from_config.mtp = from_gguf.mtp = {};  // GGUF files leave the draft layers out, or count them apart
    CHECK(figures(from_config) == figures(from_gguf));
    Architecture again = from_yaml(to_yaml(from_config));
    CHECK(figures(again) == figures(from_config));
  }
}

TEST_CASE("spellings: every config is the same model as YAML") {
  for (const char* name :
       {"qwen3.5-27b", "gemma-4-26b-a4b", "gemma-4-31b", "gemma-3n-e4b", "kimi-k3", "deepseek-v4-flash", "glm-5",
        "nemotron-3-nano-30b-a3b", "mimo-v2-flash", "minimax-m3", "step-3.7-flash", "llama-4-scout", "jamba-v0.1",
        "falcon-h1-small", "recurrentgemma-2b", "lfm2-1.2b", "llama-3.2-11b-vision", "bloom-3b", "deepseek-v3.2"}) {
    CAPTURE(name);
    const Architecture model = config(name);
    CHECK(figures(from_yaml(to_yaml(model))) == figures(model));
  }
}

TEST_CASE("spellings: catalogue and config.json agree on the models that both have") {
  for (const char* name :
       {"llama-3-8b", "qwen3-32b", "gemma-2-9b", "gemma-3-27b", "gpt-oss-20b", "qwen3-235b-a22b", "deepseek-v2-lite",
        "mixtral-8x7b", "kimi-k2", "mistral-7b-v0.3", "olmo-3-7b", "starcoder2-7b", "phi-3-medium-4k", "apertus-8b",
        "smollm3-3b", "pythia-12b", "opt-125m", "bloom-3b", "phi-2"}) {
    CAPTURE(name);
    const std::string id = std::string(name) == "phi-3-medium-4k" ? "phi-3-medium" : name;
    const Architecture a = catalogue(id), b = config(name);
    CHECK(count_params(a, lower(a)).total == count_params(b, lower(b)).total);
    CHECK(cache_at(a, 65536).per_sequence == cache_at(b, 65536).per_sequence);
  }
}

}  // namespace
}  // namespace mha::testing
