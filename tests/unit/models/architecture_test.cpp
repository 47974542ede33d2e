// An Architecture describes itself, refuses what cannot be, and lowers each part to the tensors that checkpoints have.
#include <doctest/doctest.h>

#include "mha/model_readers.hpp"

#include "support/models.hpp"

namespace mha::testing {
namespace {

std::string code_of(const std::string& yaml) {
  const Expected<Architecture> model = read_model_yaml(yaml, "model.yaml");
  return model ? std::string("none") : model.error()[0].code;
}

i128 params(const Architecture& model) {
  return count_params(model, lower(model)).total.value();
}

const char* const kFull = "  full:\n    attention: {n_heads: 4, n_kv_heads: 2, d_head: 16}\n";

TEST_CASE("patterns are said shortly") {
  CHECK(layer_pattern(catalogue("deepseek-v3")) == "3 dense, then 58 moe");
  CHECK(layer_pattern(catalogue("gemma-3-27b")) == "10 x (5 window, 1 full), then 2 window");
  CHECK(layer_pattern(catalogue("gpt-oss-20b")) == "12 x (1 window, 1 full)");
  CHECK(layer_pattern(catalogue("llama-3-8b")) == "32 full");
}

TEST_CASE("a model file is refused with the place of what is wrong") {
  struct Case {
    std::string yaml;
    const char* code;
    int line;
  };
  const std::string head =
      "name: x\nd_model: 64\nvocab_size: 10\ntied_embeddings: true\nnorm: rms\nn_layers: 2\nlayers:\n";
  for (const Case& c : {
           Case{head + "  full:\n    attention: {n_heads: 4, n_kv_heads: 3, d_head: 16}\n", "kv-heads-divide", 9},
           Case{head + "  full:\n    attention: {n_heads: 4, d_head: 16}\n", "missing-key", 9},
           Case{head + "  full:\n    attention: {n_heads: 4, n_kv_heads: 2}\n", "missing-key", 9},
           Case{head + "  full:\n    attention: {n_heads: 4, n_kv_heads: 2, d_head: 16, window: 0}\n", "out-of-range",
                9},
           Case{head + "  full:\n    attention: {n_heads: 4, n_kv_heads: 2, d_head: 16, window: 8, chunk: 8}\n",
                "two-spans", 9},
           Case{head + "  full:\n    attention: {n_heads: 4, n_kv_heads: 2, d_head: 16, window: 8, encoder: true}\n",
                "two-spans", 9},
           Case{head + "  full:\n    attention: {n_heads: 4, n_kv_heads: 2, d_head: 16, o_groups: 2, d_o_latent: 8}\n",
                "no-compression", 9},
           Case{head + "  full:\n    attention: {n_heads: 4, n_kv_heads: 2, d_head: 16}\nkv_owner: [0, 0]\n",
                "owner-differs", 10},
           Case{head + "  full:\n    linear: {kind: rg-lru, n_heads: 4, d_value: 4, d_conv: 4, full_gate: true}\n",
                "no-gate", 9},
           Case{head + "  full:\n    attention: {n_heads: 4, n_kv_heads: 2, d_head: 16, bias: [q, w]}\n",
                "unknown-name", 9},
           Case{head + "  full:\n    attention: {n_heads: 4, n_kv_heads: 2, d_head: 16, shares_kv: true}\n",
                "no-kv-owner", 8},
           Case{head + "  full:\n    linear: {kind: mamba3, n_heads: 4, d_value: 4}\n", "unknown-name", 9},
           Case{head + "  full:\n    linear: {kind: rg-lru, n_heads: 4, d_value: 4}\n", "out-of-range", 9},
           Case{head + "  full:\n    feed_forward: {gated: true, n_experts: 4, top_k: 5, d_ff_expert: 8}\n",
                "out-of-range", 9},
           Case{head + "  full: {}\n", "empty-layer", 8},
           Case{head + "  a: {feed_forward: {gated: true, d_ff: 4}}\n  b: {feed_forward: {gated: true, d_ff: 4}}\n",
                "missing-key", 1},
           Case{head + "  a: {feed_forward: {gated: true, d_ff: 4}}\npattern: [b]\n", "unknown-layer-kind", 9},
           Case{head + "  a: {feed_forward: {gated: true, d_ff: 4}}\npattern: [a*3]\n", "wrong-length", 9},
           Case{head + "  a: {feed_forward: {gated: true, d_ff: 4}}\npattern: [a*x]\n", "bad-pattern", 9},
           Case{head + "  a: {feed_forward: {gated: true, d_ff: 4}}\nwidth: 3\n", "unknown-key", 9},
       }) {
    CAPTURE(c.yaml);
    const Expected<Architecture> model = read_model_yaml(c.yaml, "model.yaml");
    REQUIRE_FALSE(model);
    CHECK(model.error()[0].code == c.code);
    CHECK(model.error()[0].where.file == "model.yaml");
    CHECK(model.error()[0].where.line == c.line);
  }
}

TEST_CASE("compression ratios must have a common multiple, so that the slope is a whole number of bytes") {
  CHECK(
      code_of(model_yaml(
          "  a:\n    attention: {n_heads: 4, n_kv_heads: 1, d_head: 16, compression: {ratio: 999999937, window: 8}}\n"
          "  b:\n    attention: {n_heads: 4, n_kv_heads: 1, d_head: 16, compression: {ratio: 999999929, window: 8}}\n",
          2, "pattern: [a, b]\n")) == "ratios-do-not-meet");
}

TEST_CASE("each feature has its parameters") {
  const Architecture base = from_yaml(model_yaml(kFull));
  const auto with = [&](auto change) {
    Architecture model = base;
    change(model, std::get<Attention>(model.specs[0].mixers[0]));
    return params(model) - params(base);
  };
  // d_model 64, 4 heads of 16, 2 KV heads, vocabulary 100.
  CHECK(with([](Architecture&, Attention& a) { a.sinks = true; }) == 4);
  CHECK(with([](Architecture&, Attention& a) { a.output_gate = true; }) == 64 * 64);
  CHECK(with([](Architecture&, Attention& a) { a.head_gate = true; }) == 64 * 4);
  CHECK(with([](Architecture&, Attention& a) { a.tied_values = true; }) == -64 * 32);
  CHECK(with([](Architecture&, Attention& a) { a.layout.bias = {true, true, true, true}; }) == 64 + 32 + 32 + 64);
  CHECK(with([](Architecture&, Attention& a) { a.qk_norm = QkNorm::full; }) == 64 + 32);
  CHECK(with([](Architecture&, Attention& a) {
          a.qk_norm = QkNorm::per_head;
          a.layout.qk_norm = true;
        }) == 2 * 16);
  CHECK(with([](Architecture&, Attention& a) { a.d_q_latent = 8; }) == 64 * 8 + 8 + 8 * 64 - 64 * 64);
  CHECK(with([](Architecture& m, Attention&) { m.embedding_norm = true; }) == 64);
  CHECK(with([](Architecture& m, Attention&) { m.learned_positions = 50; }) == 50 * 64);
  CHECK(with([](Architecture& m, Attention&) { m.type_vocab = 2; }) == 2 * 64);
  CHECK(with([](Architecture& m, Attention&) { m.tied_embeddings = false; }) == 100 * 64);
  CHECK(with([](Architecture& m, Attention&) { m.lm_head_bias = true; }) == 100);
  CHECK(with([](Architecture& m, Attention&) { m.norm = NormKind::layer; }) == 3 * 64);
  CHECK(with([](Architecture& m, Attention&) { m.norm = NormKind::none; }) == -3 * 64);
  CHECK(with([](Architecture& m, Attention&) { m.specs[0].norms = 4; }) == 2 * 64);
  CHECK(with([](Architecture& m, Attention&) { m.d_embedding = 8; }) == 100 * 8 + 2 * 64 * 8 - 100 * 64);
}

TEST_CASE("a runtime that caches no latents reserves the keys and values of every head") {
  const Architecture model = catalogue("deepseek-v3");
  const ModelPlan plan = lower(model);
  AllocationInput input;
  input.n_ctx = 4096;
  const Expected<RuntimeRule> runtime = rule_store().runtime("transformers");
  REQUIRE(runtime);
  const Allocation expanded = allocate(model, plan, cache_format("bf16"), *runtime, input);
  CHECK(expanded.total == Bytes(i128{61} * 128 * (192 + 128) * 2 * 4096));
  CHECK(expanded.payload == Bytes(i128{61} * 576 * 2 * 4096));
  input.parallel.tensor = 8;
  CHECK(allocate(model, plan, cache_format("bf16"), *runtime, input).total * 8 == expanded.total);
}

TEST_CASE("an audit of cross attention says that its source is not counted until its length is given") {
  const Expected<Architecture> model =
      read_model(MHA_SOURCE_DIR "/tests/data/configs/llama-3.2-11b-vision.json", rule_store());
  REQUIRE(model);
  ModelQuery query = query_at(8192);
  const Audit without = audit(*model, query, audit_rules());
  CHECK(finds(without, "no-source"));
  query.n_source = 6404;  // an image: 4 tiles of 1,601 patches
  const Audit with = audit(*model, query, audit_rules());
  CHECK_FALSE(finds(with, "no-source"));
  CHECK(with.cache.per_sequence - without.cache.per_sequence == Bytes(i128{8} * 2 * 8 * 128 * 2 * 6404));
}

TEST_CASE("grouped latents go to ranks with their heads, and replicate beyond") {
  const Architecture model =
      from_yaml(model_yaml("  full:\n    attention: {variant: gla, n_heads: 6, d_kv_latent: 64, d_value: 16, "
                           "d_nope: 16, d_rope: 8, n_latents: 2}\n"));
  CHECK(legal_tensor_parallel(model, 8) == std::vector<std::int64_t>{1, 2, 6});
}

TEST_CASE("experts: total, active and what a router adds") {
  Architecture model = from_yaml(model_yaml(
      "  moe:\n    feed_forward: {gated: true, n_experts: 8, top_k: 2, d_ff_expert: 10, d_ff_shared: 20, shared_gate: "
      "true, router_bias: true, correction_bias: true}\n"));
  const ModelParams p = count_params(model, lower(model));
  // embedding 6400, final norm 64 and 2 norms; 8 experts of 3 x 64 x 10, shared 3 x 64 x 20, router 64 x 8 + 8 + 8 + 64.
  CHECK(p.total == Params(6400 + 3 * 64 + 8 * 1920 + 3840 + 512 + 16 + 64));
  CHECK(p.total - p.active == Params(6 * 1920));
}

TEST_CASE("the four variants that are not searched by default can be described, too") {
  const Architecture step3 = from_yaml(
      "name: step3\nd_model: 7168\nvocab_size: 100\ntied_embeddings: true\nnorm: rms\nn_layers: 61\nlayers:\n"
      "  mfa:\n    attention: {variant: mfa, n_heads: 64, n_kv_heads: 1, d_head: 256, d_q_latent: 2048}\n");
  CHECK(cache_at(step3, 1).growing_elements == Elements(31232));  // Step-3 report
  for (const char* attention :
       {"{variant: gta, n_heads: 8, n_kv_heads: 2, d_head: 16}",
        "{variant: gla, n_heads: 8, d_kv_latent: 32, n_latents: 2, d_nope: 16, d_rope: 8, d_value: 16}",
        "{variant: tpa, n_heads: 8, n_kv_heads: 8, d_head: 16, rank_kv: 2, rank_q: 4}"}) {
    CAPTURE(attention);
    const Architecture model = from_yaml(model_yaml(std::string("  a:\n    attention: ") + attention + "\n"));
    CHECK(to_yaml(from_yaml(to_yaml(model))) == to_yaml(model));
    CHECK(cache_at(model, 1).growing_elements > Elements(0));
  }
}

}  // namespace
}  // namespace mha::testing
