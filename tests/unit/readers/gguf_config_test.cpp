// GGUF metadata in the words of a config.json. Values are those of the published models' config.json files, except
// where a comment says otherwise; what the converters write for them is in ggml-org/llama.cpp, conversion/*.py.
#include "readers/gguf_config.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "readers/gguf_keys.hpp"
#include "support/gguf_builder.hpp"

using namespace mha;
using mha::testing::as_bytes;
using mha::testing::GgufBuilder;

namespace {

Expected<GgufConfig> translate(const GgufBuilder& builder) {
  const std::string bytes = builder.bytes();
  const auto file = read_gguf_header(as_bytes(bytes), "model.gguf");
  REQUIRE(file);
  return gguf_config(*file, "some_type");
}

std::string text_of(const Node& node) {
  if (node.kind == Node::Kind::scalar) return node.text;
  std::string out;
  for (const Node& child : node.children) {
    if (!out.empty()) out += ",";
    out += (child.key.empty() ? "" : child.key + "=") + text_of(child);
  }
  return out;
}

// The field's value, "-" when it is not there. A path with a dot goes into `traits`.
std::string field(const Expected<GgufConfig>& config, const std::string& path) {
  REQUIRE(config);
  const Node* map = &config->root;
  std::string rest = path;
  if (path.starts_with("traits.")) {
    rest = path.substr(7);
    map = nullptr;
    for (const Node& child : config->root.children) {
      if (child.key == "traits") map = &child;
    }
    if (map == nullptr) return "-";
  }
  std::string found = "-";
  for (const Node& child : map->children) {
    if (child.key != rest) continue;
    CHECK(found == "-");  // said once
    found = text_of(child);
  }
  return found;
}

// "code|key" of the only problem.
std::string problem(const GgufBuilder& builder) {
  const auto config = translate(builder);
  if (config) return "no problem";
  REQUIRE(config.error().size() == 1);
  CHECK(config.error()[0].where.file == "model.gguf");
  CHECK_FALSE(config.error()[0].hint.empty());
  return config.error()[0].code + "|" + config.error()[0].where.key;
}

GgufBuilder llama_8b() {
  GgufBuilder b("llama");
  b.count(".block_count", 32)
      .count(".embedding_length", 4096)
      .count(".feed_forward_length", 14336)
      .count(".attention.head_count", 32)
      .count(".attention.head_count_kv", 8)
      .count(".context_length", 131072)
      .count(".vocab_size", 128256);
  return b;
}

GgufBuilder small(const std::string& architecture = "llama") {
  GgufBuilder b(architecture);
  b.count(".block_count", 4).count(".embedding_length", 64).count(".feed_forward_length", 256);
  return b;
}

// The widths of DeepSeek-V3, as new converters write them.
GgufBuilder deepseek(std::uint64_t kv_heads = 1, std::uint64_t key = 576, std::uint64_t value = 512) {
  GgufBuilder b("deepseek2");
  b.count(".block_count", 61)
      .count(".embedding_length", 7168)
      .count(".feed_forward_length", 18432)
      .count(".attention.head_count", 128)
      .count(".attention.head_count_kv", kv_heads)
      .count(".attention.q_lora_rank", 1536)
      .count(".attention.kv_lora_rank", 512)
      .count(".attention.key_length", key)
      .count(".attention.value_length", value)
      .count(".rope.dimension_count", 64)
      .count(".leading_dense_block_count", 3);
  return b;
}

void check_deepseek(const Expected<GgufConfig>& config) {
  CHECK(field(config, "num_attention_heads") == "128");
  CHECK(field(config, "num_key_value_heads") == "128");
  CHECK(field(config, "kv_lora_rank") == "512");
  CHECK(field(config, "q_lora_rank") == "1536");
  CHECK(field(config, "qk_nope_head_dim") == "128");  // 192 - 64
  CHECK(field(config, "qk_rope_head_dim") == "64");
  CHECK(field(config, "v_head_dim") == "128");
  CHECK(field(config, "head_dim") == "-");
  CHECK(field(config, "first_k_dense_replace") == "3");
}

}  // namespace

TEST_SUITE("gguf config") {
  TEST_CASE("Llama 3.1 8B") {
    const auto config = translate(llama_8b());
    CHECK(field(config, "model_type") == "some_type");
    CHECK(field(config, "num_hidden_layers") == "32");
    CHECK(field(config, "num_nextn_predict_layers") == "0");
    CHECK(field(config, "hidden_size") == "4096");
    CHECK(field(config, "intermediate_size") == "14336");
    CHECK(field(config, "num_attention_heads") == "32");
    CHECK(field(config, "num_key_value_heads") == "8");
    CHECK(field(config, "head_dim") == "128");  // 4096 / 32: no key_length
    CHECK(field(config, "v_head_dim") == "128");
    CHECK(field(config, "vocab_size") == "128256");
    CHECK(field(config, "max_position_embeddings") == "131072");
    CHECK(field(config, "tie_word_embeddings") == "-");  // no tensors: the family's to say
    CHECK(field(config, "traits") == "-");
    CHECK(config->notes.empty());
  }

  TEST_CASE("no KV heads given are as many as heads, and the vocabulary is counted") {
    const auto config = translate(small().count(".attention.head_count", 8).texts("tokenizer.ggml.tokens", 1000, "t"));
    CHECK(field(config, "num_key_value_heads") == "8");
    CHECK(field(config, "vocab_size") == "1000");
  }

  TEST_CASE("any integer type will do") {
    GgufBuilder b("llama");
    b.count(".block_count", 4, GgufType::uint64)
        .count(".embedding_length", 64, GgufType::uint8)
        .count(".attention.head_count", 8, GgufType::int16);
    CHECK(field(translate(b), "num_attention_heads") == "8");
  }

  TEST_CASE("tensors say more than the keys") {
    // Qwen2.5-0.5B: tied, biases of q, k and v; made small.
    GgufBuilder b = small("qwen2").count(".attention.head_count", 4).count(".attention.head_count_kv", 2);
    b.count(".attention.layer_norm_rms_epsilon", 1).count(".vocab_size", 99);
    b.tensor("token_embd.weight", {64, 128}).tensor("output_norm.weight", {64});
    for (const char* name : {"attn_q", "attn_k", "attn_v"}) {
      b.layer_tensor(std::string(name) + ".weight", 4, {64, 64}).layer_tensor(std::string(name) + ".bias", 4, {64});
    }
    b.layer_tensor("attn_output.weight", 4, {64, 64});
    b.layer_tensor("attn_norm.weight", 4, {64}).layer_tensor("ffn_norm.weight", 4, {64});
    for (const char* name : {"ffn_gate", "ffn_up"}) b.layer_tensor(std::string(name) + ".weight", 4, {64, 256});
    b.layer_tensor("ffn_down.weight", 4, {256, 64});
    const auto config = translate(b);
    CHECK(field(config, "tie_word_embeddings") == "true");
    CHECK(field(config, "vocab_size") == "128");
    CHECK(field(config, "traits.bias") == "qkv");
    CHECK(field(config, "traits.qk_norm") == "none");
    CHECK(field(config, "traits.sinks") == "none");
    CHECK(field(config, "traits.gated_ffn") == "true");
    CHECK(field(config, "traits.ffn_bias") == "none");
    CHECK(field(config, "traits.norms") == "2");
    CHECK(field(config, "traits.norm") == "rms");
    CHECK(field(config, "traits.final_norm") == "true");
    CHECK(field(config, "traits.output_gate") == "false");
    REQUIRE(config->notes.size() == 1);
    CHECK(config->notes[0].code == "tensor-differs");  // 99 against 128 rows
  }

  TEST_CASE("norms of queries and keys by their width") {
    const auto with = [](std::uint64_t elements) {
      GgufBuilder b = small().count(".attention.head_count", 4).count(".attention.head_count_kv", 2);
      return translate(b.layer_tensor("attn_q_norm.weight", 4, {elements}));
    };
    CHECK(field(with(16), "traits.qk_norm") == "per_head");  // 64 / 4
    CHECK(field(with(64), "traits.qk_norm") == "full");
    CHECK(field(with(17), "traits.qk_norm") == "-");
    CHECK(field(with(16), "traits.qk_norm_layers") == "all");
  }

  TEST_CASE("an untied head, LayerNorm and learned positions") {
    GgufBuilder b = small("gpt2").count(".attention.head_count", 4).count(".context_length", 100);
    b.tensor("output.weight", {64, 10}).tensor("output.bias", {10}).tensor("position_embd.weight", {64, 102});
    b.layer_tensor("attn_norm.weight", 4, {64}).layer_tensor("attn_norm.bias", 4, {64});
    b.layer_tensor("attn_qkv.bias", 4, {192}).layer_tensor("attn_output.bias", 4, {64});
    b.layer_tensor("ffn_up.weight", 4, {64, 256}).layer_tensor("ffn_up.bias", 4, {256});
    b.layer_tensor("ffn_down.bias", 4, {64});
    const auto config = translate(b);
    CHECK(field(config, "tie_word_embeddings") == "false");
    CHECK(field(config, "traits.lm_head_bias") == "true");
    CHECK(field(config, "traits.learned_positions") == "true");
    CHECK(field(config, "traits.learned_positions_offset") == "2");
    CHECK(field(config, "traits.norm") == "layer");
    CHECK(field(config, "traits.norms") == "1");
    CHECK(field(config, "traits.bias") == "qkvo");
    CHECK(field(config, "traits.ffn_bias") == "both");
    CHECK(field(config, "traits.gated_ffn") == "false");
  }

  TEST_CASE("one part of several says nothing about what is not in it") {
    GgufBuilder b = small().count(".attention.head_count", 4).count("split.count", 3, GgufType::uint16);
    const auto config = translate(b.tensor("token_embd.weight", {64, 128}));
    CHECK(field(config, "tie_word_embeddings") == "-");
    CHECK(field(config, "vocab_size") == "128");
    CHECK(config->notes.at(0).code == "part-of-a-model");
  }

  TEST_CASE("MLA: the absorbed widths and the expanded ones are not mixed") {
    check_deepseek(
        translate(deepseek().count(".attention.key_length_mla", 192).count(".attention.value_length_mla", 128)));
    // Old files: expanded widths, 128 KV heads.
    check_deepseek(translate(deepseek(128, 192, 128)));
    // Kimi's converter writes no value_length.
    GgufBuilder kimi("kimi-linear");
    kimi.count(".block_count", 4).count(".embedding_length", 2304).count(".attention.head_count", 32);
    kimi.counts<int>(".attention.head_count_kv", {0, 0, 0, 1}).count(".kda.head_dim", 128).count(".ssm.conv_kernel", 4);
    kimi.count(".attention.kv_lora_rank", 512).count(".attention.key_length", 576).count(".rope.dimension_count", 64);
    kimi.count(".attention.key_length_mla", 192).count(".attention.value_length_mla", 128);
    const auto config = translate(kimi);
    CHECK(field(config, "num_key_value_heads") == "32");
    CHECK(field(config, "qk_nope_head_dim") == "128");
    CHECK(field(config, "layer_types") == "linear_attention,linear_attention,linear_attention,full_attention");
    CHECK(field(config, "linear_attn_config") == "head_dim=128,num_heads=32,short_conv_kernel_size=4");
  }

  TEST_CASE("MLA: what does not fit together is refused") {
    const std::string arch = "deepseek2.attention.";
    // 192 where 576 belongs, 128 where 512 belongs.
    CHECK(
        problem(
            deepseek(1, 192, 512).count(".attention.key_length_mla", 192).count(".attention.value_length_mla", 128)) ==
        "inconsistent|" + arch + "key_length");
    CHECK(
        problem(
            deepseek(1, 576, 128).count(".attention.key_length_mla", 192).count(".attention.value_length_mla", 128)) ==
        "inconsistent|" + arch + "value_length");
    CHECK(problem(deepseek(128).count(".attention.key_length_mla", 192).count(".attention.value_length_mla", 128)) ==
          "out-of-range|" + arch + "head_count_kv");
    CHECK(problem(deepseek().count(".attention.key_length_mla", 192)) == "missing-field|" + arch + "value_length_mla");
    CHECK(problem(deepseek()) == "missing-field|" + arch + "key_length_mla");
    CHECK(problem(deepseek().count(".attention.key_length_mla", 64).count(".attention.value_length_mla", 128)) ==
          "out-of-range|" + arch + "key_length_mla");
    CHECK(problem(small().count(".attention.head_count", 8).count(".attention.key_length_mla", 192)) ==
          "missing-field|llama.attention.kv_lora_rank");
  }

  TEST_CASE("windows: written, written as a period, and known from llama.cpp") {
    const auto types = [](GgufBuilder b) {
      b.count(".attention.head_count", 4).count(".attention.sliding_window", 16);
      return field(translate(b), "layer_types");
    };
    const std::string f = "full_attention";
    const std::string s = "sliding_attention";
    CHECK(types(small("gemma3n").flags(".attention.sliding_window_pattern", {true, false, true, false})) ==
          s + "," + f + "," + s + "," + f);
    CHECK(types(small("mimo2").counts<int>(".attention.sliding_window_pattern", {0, 1, 1, 1})) ==
          f + "," + s + "," + s + "," + s);
    CHECK(types(small("gemma3").count(".attention.sliding_window_pattern", 2)) == s + "," + f + "," + s + "," + f);
    CHECK(types(small("gpt-oss")) == s + "," + f + "," + s + "," + f);
    CHECK(types(small("cohere2")) == s + "," + s + "," + s + "," + f);
    CHECK(types(small("smallthinker")) == f + "," + s + "," + s + "," + s);
    CHECK(types(small("llama4")) == "chunked_attention,chunked_attention,chunked_attention," + f);
    CHECK(types(small("unheard-of")) == "-");  // the family's to say
  }

  TEST_CASE("Gemma 3 27B: five windows, then one full layer") {
    GgufBuilder b("gemma3");
    b.count(".block_count", 62).count(".embedding_length", 5376).count(".feed_forward_length", 21504);
    b.count(".attention.head_count", 32).count(".attention.head_count_kv", 16).count(".attention.sliding_window", 1024);
    b.count(".attention.key_length", 128).count(".attention.value_length", 128);
    const std::string types = field(translate(b), "layer_types");
    CHECK(types.starts_with(
        "sliding_attention,sliding_attention,sliding_attention,sliding_attention,sliding_attention,full_"));
    std::size_t n_full = 0;
    for (std::size_t at = types.find("full"); at != std::string::npos; at = types.find("full", at + 1)) ++n_full;
    CHECK(n_full == 10);  // 62 / 6
    CHECK(field(translate(b), "head_dim") == "128");
    CHECK(field(translate(b), "sliding_window") == "1024");
  }

  TEST_CASE("a window that llama.cpp ignores is left out, and said") {
    const auto config =
        translate(small("phi3").count(".attention.head_count", 4).count(".attention.sliding_window", 16));
    CHECK(field(config, "sliding_window") == "-");
    CHECK(config->notes.at(0).code == "inactive-window");
  }

  TEST_CASE("Gemma 4: widths of window and full layers") {
    GgufBuilder b = small("gemma4").count(".attention.head_count", 4).count(".attention.sliding_window", 16);
    b.flags(".attention.sliding_window_pattern", {true, true, true, false});
    b.count(".attention.key_length", 512).count(".attention.value_length", 512);
    b.count(".attention.key_length_swa", 256).count(".attention.value_length_swa", 256);
    const auto config = translate(b);
    CHECK(field(config, "head_dim") == "256");
    CHECK(field(config, "global_head_dim") == "512");
    // The second embedding: 0 in the key is said, so that no default takes its place.
    CHECK(field(translate(b.count(".embedding_length_per_layer_input", 0)), "hidden_size_per_layer_input") == "0");
    b.tensor("per_layer_token_embd.weight", {1024, 262144});
    CHECK(field(translate(b), "vocab_size_per_layer_input") == "262144");
  }

  TEST_CASE("Qwen3 30B-A3B") {
    GgufBuilder b("qwen3moe");
    b.count(".block_count", 48).count(".embedding_length", 2048).count(".feed_forward_length", 6144);
    b.count(".attention.head_count", 32).count(".attention.head_count_kv", 4);
    b.count(".attention.key_length", 128).count(".attention.value_length", 128);
    b.count(".expert_count", 128).count(".expert_used_count", 8).count(".expert_feed_forward_length", 768);
    const auto config = translate(b);
    CHECK(field(config, "num_experts") == "128");
    CHECK(field(config, "num_experts_per_tok") == "8");
    CHECK(field(config, "moe_intermediate_size") == "768");
    CHECK(field(config, "head_dim") == "128");
  }

  TEST_CASE("shared experts: one number for all of them") {
    const auto with = [] { return small("deepseek2").count(".attention.head_count", 4).count(".expert_count", 8); };
    CHECK(field(translate(with().count(".expert_shared_count", 2)), "n_shared_experts") == "2");
    // Two experts of 1408: the key holds 2816, and the config's field would be counted twice.
    const auto both =
        translate(with().count(".expert_shared_count", 2).count(".expert_shared_feed_forward_length", 2816));
    CHECK(field(both, "n_shared_experts") == "1");
    CHECK(field(both, "shared_expert_intermediate_size") == "2816");
    const auto tensor =
        translate(with().count(".expert_shared_count", 2).tensor("blk.3.ffn_up_shexp.weight", {64, 96}));
    CHECK(field(tensor, "shared_expert_intermediate_size") == "96");
  }

  TEST_CASE("tensors say which layers have experts") {
    GgufBuilder b = small("ernie4_5-moe").count(".attention.head_count", 4).count(".expert_count", 8);
    b.layer_tensor("ffn_down.weight", 1, {256, 64}).layer_tensor("ffn_gate_inp.weight", 4, {64, 8}, 1);
    CHECK(field(translate(b), "mlp_layer_types") == "dense,sparse,sparse,sparse");
  }

  TEST_CASE("Qwen3-Next: full attention in every fourth layer") {
    GgufBuilder b = small("qwen3next").count(".attention.head_count", 16).count(".attention.head_count_kv", 2);
    b.count(".attention.key_length", 256).count(".attention.value_length", 256).count(".full_attention_interval", 4);
    b.count(".ssm.conv_kernel", 4).count(".ssm.state_size", 128).count(".ssm.group_count", 16);
    b.count(".ssm.time_step_rank", 32).count(".ssm.inner_size", 4096);
    b.tensor("blk.3.attn_q.weight", {64, 2 * 16 * 256});
    const auto config = translate(b);
    CHECK(field(config, "layer_types") == "linear_attention,linear_attention,linear_attention,full_attention");
    CHECK(field(config, "linear_num_key_heads") == "16");
    CHECK(field(config, "linear_num_value_heads") == "32");
    CHECK(field(config, "linear_key_head_dim") == "128");
    CHECK(field(config, "linear_value_head_dim") == "128");  // 4096 / 32
    CHECK(field(config, "traits.output_gate") == "true");
  }

  TEST_CASE("Nemotron-H: a mixer or a feed-forward part in each layer") {
    GgufBuilder b("nemotron_h");
    b.count(".block_count", 4).count(".embedding_length", 4480).count(".attention.head_count", 40);
    b.counts<int>(".attention.head_count_kv", {0, 0, 8, 0}).counts<int>(".feed_forward_length", {0, 15680, 0, 15680});
    b.count(".attention.key_length", 128).count(".attention.value_length", 128);
    b.count(".ssm.conv_kernel", 4).count(".ssm.state_size", 128).count(".ssm.group_count", 8);
    b.count(".ssm.time_step_rank", 128).count(".ssm.inner_size", 10240);
    const auto config = translate(b);
    CHECK(field(config, "hybrid_override_pattern") == "M-*-");
    CHECK(field(config, "layer_types") == "-");
    CHECK(field(config, "intermediate_size") == "15680");
    CHECK(field(config, "num_key_value_heads") == "8");
    CHECK(field(config, "mamba_num_heads") == "128");
    CHECK(field(config, "mamba_head_dim") == "80");  // 10240 / 128
    CHECK(field(config, "mamba_n_groups") == "8");
    CHECK(field(config, "mamba_d_state") == "128");
    CHECK(field(config, "mamba_d_conv") == "4");
  }

  TEST_CASE("layers without KV heads are what the keys say") {
    GgufBuilder lfm = small("lfm2").count(".attention.head_count", 8).count(".shortconv.l_cache", 3);
    lfm.counts<int>(".attention.head_count_kv", {0, 2, 0, 2});
    CHECK(field(translate(lfm), "layer_types") == "conv,full_attention,conv,full_attention");
    GgufBuilder granite = small("granitehybrid").count(".attention.head_count", 8).count(".ssm.conv_kernel", 4);
    granite.counts<int>(".attention.head_count_kv", {0, 0, 0, 2});
    CHECK(field(translate(granite), "layer_types") == "mamba,mamba,mamba,full_attention");
    GgufBuilder falcon = small("falcon-h1").count(".attention.head_count", 8).count(".ssm.conv_kernel", 4);
    CHECK(field(translate(falcon), "layer_types") == "hybrid,hybrid,hybrid,hybrid");
    GgufBuilder deci = small("deci").counts<int>(".attention.head_count", {8, 8, 0, 8});
    CHECK(problem(deci.counts<int>(".attention.head_count_kv", {2, 2, 0, 2})) ==
          "unsupported-layer|deci.attention.head_count_kv");
  }

  TEST_CASE("Mamba has no attention and no feed-forward part") {
    GgufBuilder b("mamba");
    b.count(".block_count", 2).count(".embedding_length", 768).count(".attention.head_count", 0);
    b.count(".feed_forward_length", 0).count(".ssm.conv_kernel", 4).count(".ssm.state_size", 16);
    b.count(".ssm.inner_size", 1536).count(".ssm.time_step_rank", 48);
    const auto config = translate(b);
    CHECK(field(config, "layer_types") == "mamba,mamba");
    CHECK(field(config, "intermediate_size") == "-");
    CHECK(field(config, "num_attention_heads") == "-");
    CHECK(field(config, "mamba_intermediate_size") == "1536");
    CHECK(field(config, "mamba_dt_rank") == "48");  // no groups: a rank, not a number of heads
    CHECK(field(config, "mamba_num_heads") == "-");
  }

  TEST_CASE("multi-token-prediction layers are counted in block_count, and are no layers") {
    GgufBuilder b("glm4moe");
    b.count(".block_count", 47).count(".nextn_predict_layers", 1).count(".embedding_length", 4096);
    b.count(".attention.head_count", 96).count(".attention.head_count_kv", 8);
    b.count(".attention.key_length", 128).count(".attention.value_length", 128);
    const auto config = translate(b);
    CHECK(field(config, "num_hidden_layers") == "46");
    CHECK(field(config, "num_nextn_predict_layers") == "1");
    CHECK(field(translate(b.tensor("blk.46.nextn.enorm.weight", {4096})), "traits.mtp_own_embeddings") == "false");
    CHECK(field(translate(b.tensor("blk.46.nextn.embed_tokens.weight", {4096, 9})), "traits.mtp_own_embeddings") ==
          "true");
    CHECK(problem(GgufBuilder("x").count(".block_count", 1).count(".nextn_predict_layers", 1)) ==
          "out-of-range|x.block_count");
  }

  TEST_CASE("different heads in each layer stay different") {
    GgufBuilder b("openelm");
    b.count(".block_count", 3).count(".embedding_length", 1280).counts<int>(".attention.head_count", {12, 16, 20});
    b.counts<int>(".attention.head_count_kv", {3, 4, 5}).counts<int>(".feed_forward_length", {768, 1024, 1280});
    b.count(".attention.key_length", 64).count(".attention.value_length", 64);
    const auto config = translate(b);
    CHECK(field(config, "num_attention_heads") == "12,16,20");
    CHECK(field(config, "num_key_value_heads") == "3,4,5");
    CHECK(field(config, "intermediate_size") == "768,1024,1280");
  }

  TEST_CASE("what cannot be is refused with its key") {
    const auto heads = [](const std::vector<int>& kv) {
      return small().count(".attention.head_count", 8).counts<int>(".attention.head_count_kv", kv);
    };
    CHECK(problem(heads({2, 2, 2})) == "wrong-length|llama.attention.head_count_kv");
    CHECK(problem(heads({2, 2, 2, 2, 2})) == "wrong-length|llama.attention.head_count_kv");
    CHECK(problem(heads({0, 0, 0, 0})) == "out-of-range|llama.attention.head_count_kv");
    CHECK(problem(heads({2, -2, 2, 2})) == "out-of-range|llama.attention.head_count_kv");
    CHECK(problem(small().count(".attention.head_count", 8).count(".attention.head_count_kv", 0)) ==
          "out-of-range|llama.attention.head_count_kv");
    CHECK(problem(small().count(".attention.head_count_kv", 8)) == "missing-field|llama.attention.head_count");
    CHECK(problem(small().text(".attention.head_count", "8")) == "wrong-type|llama.attention.head_count");
    CHECK(problem(small().real(".attention.head_count", 8)) == "wrong-type|llama.attention.head_count");
    CHECK(problem(small().count(".attention.head_count", 7)) == "missing-field|llama.attention.key_length");
    CHECK(problem(small().count(".attention.head_count", ~std::uint64_t{0}, GgufType::uint64)) ==
          "out-of-range|llama.attention.head_count");
    CHECK(problem(GgufBuilder("llama").count(".block_count", 0)) == "out-of-range|llama.block_count");
    CHECK(problem(GgufBuilder("llama").count(".block_count", 5000)) == "out-of-range|llama.block_count");
    CHECK(problem(GgufBuilder("llama").flag(".block_count", true)) == "wrong-type|llama.block_count");
    CHECK(problem(GgufBuilder("llama")) == "missing-field|llama.block_count");
    CHECK(problem(GgufBuilder("llama").count(".block_count", 2)) == "missing-field|llama.embedding_length");
    CHECK(problem(GgufBuilder("").count("a.b", 1)) == "missing-field|general.architecture");
    CHECK(problem(GgufBuilder("").count("general.architecture", 1)) == "wrong-type|general.architecture");
    CHECK(problem(GgufBuilder("l\xFFlama")) == "out-of-range|general.architecture");
    CHECK(problem(GgufBuilder("llama").text("general.type", "adapter")) == "not-a-model|general.type");
  }

  TEST_CASE("keys of the architecture that nothing uses are noted") {
    const auto config = translate(llama_8b().count(".attention.brand_new", 1).count(".rope.scaling.brand_new", 1));
    REQUIRE(config);
    REQUIRE(config->notes.size() == 1);
    CHECK(config->notes[0].where.key == "llama.attention.brand_new");
  }

  TEST_CASE("the table of keys names each once, and back") {
    const auto keys = gguf_keys();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      for (std::size_t k = i + 1; k < keys.size(); ++k) CHECK(keys[i].gguf != keys[k].gguf);
      CHECK(keys[i].config.empty() == (keys[i].form == GgufKeyRow::Form::unused));
    }
    CHECK(gguf_key("num_hidden_layers", "llama") == "llama.block_count");
    CHECK(gguf_key("num_key_value_heads[3]", "qwen2") == "qwen2.attention.head_count_kv");
    CHECK(gguf_key("rope_theta", "llama").empty());
  }

  TEST_CASE("what is stored beside the parameters") {
    GgufBuilder b = small().tensor("rope_freqs.weight", {64}).tensor("blk.0.ffn_up.scale", {1});
    b.tensor("blk.0.attn_kv_b.weight", {512, 10}).tensor("blk.0.attn_k_b.weight", {512, 4});
    const std::string bytes = b.bytes();
    const auto file = read_gguf_header(as_bytes(bytes), "model.gguf");
    REQUIRE(file);
    const auto stored = gguf_stored(*file);
    REQUIRE(stored.size() == 3);
    CHECK(stored[0].elements == 64);
    CHECK(stored[1].elements == 1);
    CHECK(stored[2].elements == 5120);
  }
}
