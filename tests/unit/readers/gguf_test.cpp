// GGUF files of released models, with all their tensors, as whole models. The families here are bare: what the configs
// leave unsaid must come from the tensors. Expected parameter counts are the published ones of
// tests/data/ground_truth.yaml.
#include <cstdio>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <variant>
#include <vector>

#include "mha/model_cost.hpp"
#include "mha/model_readers.hpp"

#include "support/gguf_builder.hpp"

using namespace mha;
using mha::testing::as_bytes;
using mha::testing::GgufBuilder;

namespace {

const std::vector<FamilyRule>& families() {
  static const std::vector<FamilyRule> rules = [] {
    std::vector<FamilyRule> out;
    for (const char* name : {"llama", "qwen2", "gemma3", "deepseek2", "gpt-oss", "qwen3moe", "nemotron_h"}) {
      FamilyRule rule;
      rule.id = rule.name = name;
      rule.gguf = {name};
      rule.model_types = {std::string("type_") + name};
      out.push_back(std::move(rule));
    }
    return out;
  }();
  return rules;
}

Expected<Architecture> read(const GgufBuilder& builder) {
  const std::string bytes = builder.bytes();
  return read_gguf_bytes(as_bytes(bytes), "model.gguf", families());
}

// The model, which must be sound and agree with its tensors.
Architecture whole(const GgufBuilder& builder) {
  Expected<Architecture> model = read(builder);
  if (!model) {
    for (const Diagnostic& problem : model.error()) MESSAGE(to_string(problem));
  }
  REQUIRE(model);
  for (const Diagnostic& problem : check_architecture(*model)) FAIL_CHECK(to_string(problem));
  for (const Diagnostic& note : model->notes) {
    if (note.code == "tensor-total") FAIL_CHECK(to_string(note));
  }
  CHECK(model->origin == "model.gguf");
  return *model;
}

std::string total(const Architecture& model) {
  return to_decimal(count_params(model, lower(model)).total.value());
}

const Attention& attention(const Architecture& model, std::size_t layer) {
  return std::get<Attention>(model.specs.at(model.layers.at(layer)).mixers.at(0));
}

bool noted(const Architecture& model, std::string_view code) {
  for (const Diagnostic& note : model.notes) {
    if (note.code == code) return true;
  }
  return false;
}

// Widths of one model; `n` layers of the usual tensors.
struct Widths {
  std::uint64_t n, d, heads, kv, head, ff, vocab;
};

void put_keys(GgufBuilder& b, const Widths& w) {
  b.count(".block_count", w.n)
      .count(".embedding_length", w.d)
      .count(".feed_forward_length", w.ff)
      .count(".attention.head_count", w.heads)
      .count(".attention.head_count_kv", w.kv)
      .count(".attention.key_length", w.head)
      .count(".attention.value_length", w.head)
      .count(".context_length", 32768)
      .real(".attention.layer_norm_rms_epsilon", 1e-6F);
}

void put_attention(GgufBuilder& b, const Widths& w) {
  b.layer_tensor("attn_q.weight", w.n, {w.d, w.heads * w.head})
      .layer_tensor("attn_k.weight", w.n, {w.d, w.kv * w.head});
  b.layer_tensor("attn_v.weight", w.n, {w.d, w.kv * w.head})
      .layer_tensor("attn_output.weight", w.n, {w.heads * w.head, w.d});
  b.layer_tensor("attn_norm.weight", w.n, {w.d});
}

void put_ffn(GgufBuilder& b, const Widths& w, std::uint64_t first = 0) {
  b.layer_tensor("ffn_gate.weight", w.n, {w.d, w.ff}, first).layer_tensor("ffn_up.weight", w.n, {w.d, w.ff}, first);
  b.layer_tensor("ffn_down.weight", w.n, {w.ff, w.d}, first);
}

void put_once(GgufBuilder& b, const Widths& w, bool head) {
  b.tensor("token_embd.weight", {w.d, w.vocab}).tensor("output_norm.weight", {w.d});
  if (head) b.tensor("output.weight", {w.d, w.vocab});
}

GgufBuilder llama(std::uint32_t version = 3) {
  const Widths w{32, 4096, 32, 8, 128, 14336, 128256};
  GgufBuilder b("llama", version);
  put_keys(b, w);
  b.text("general.name", "Meta Llama 3.1 8B").texts("tokenizer.ggml.tokens", w.vocab, "tok");
  put_once(b, w, true);
  put_attention(b, w);
  put_ffn(b, w);
  b.layer_tensor("ffn_norm.weight", w.n, {w.d}).tensor("rope_freqs.weight", {64}, 0);
  return b;
}

GgufBuilder deepseek_v3(bool absorbed) {
  const Widths w{61, 7168, 128, 1, 576, 18432, 129280};
  GgufBuilder b("deepseek2");
  b.count(".block_count", w.n).count(".embedding_length", w.d).count(".feed_forward_length", w.ff);
  b.count(".attention.head_count", 128).count(".attention.head_count_kv", absorbed ? 1 : 128);
  b.count(".attention.key_length", absorbed ? 576 : 192).count(".attention.value_length", absorbed ? 512 : 128);
  if (absorbed) b.count(".attention.key_length_mla", 192).count(".attention.value_length_mla", 128);
  b.count(".attention.q_lora_rank", 1536).count(".attention.kv_lora_rank", 512).count(".rope.dimension_count", 64);
  b.count(".leading_dense_block_count", 3).count(".expert_count", 256).count(".expert_used_count", 8);
  b.count(".expert_shared_count", 1).count(".expert_feed_forward_length", 2048).count(".context_length", 163840);
  b.real(".attention.layer_norm_rms_epsilon", 1e-6F).count(".vocab_size", w.vocab);
  put_once(b, w, true);
  b.layer_tensor("attn_norm.weight", 61, {w.d}).layer_tensor("ffn_norm.weight", 61, {w.d});
  b.layer_tensor("attn_q_a.weight", 61, {w.d, 1536}).layer_tensor("attn_q_a_norm.weight", 61, {1536});
  b.layer_tensor("attn_q_b.weight", 61, {1536, 128 * 192}).layer_tensor("attn_kv_a_mqa.weight", 61, {w.d, 576});
  b.layer_tensor("attn_kv_a_norm.weight", 61, {512}).layer_tensor("attn_output.weight", 61, {128 * 128, w.d});
  if (absorbed) {
    b.layer_tensor("attn_k_b.weight", 61, {128, 512, 128}).layer_tensor("attn_v_b.weight", 61, {512, 128, 128});
  } else {
    b.layer_tensor("attn_kv_b.weight", 61, {512, 128 * 256});
  }
  b.layer_tensor("ffn_gate.weight", 3, {w.d, w.ff}).layer_tensor("ffn_up.weight", 3, {w.d, w.ff});
  b.layer_tensor("ffn_down.weight", 3, {w.ff, w.d});
  b.layer_tensor("ffn_gate_inp.weight", 61, {w.d, 256}, 3).layer_tensor("exp_probs_b.bias", 61, {256}, 3);
  for (const char* part : {"ffn_gate", "ffn_up"}) {
    b.layer_tensor(std::string(part) + "_exps.weight", 61, {w.d, 2048, 256}, 3);
    b.layer_tensor(std::string(part) + "_shexp.weight", 61, {w.d, 2048}, 3);
  }
  b.layer_tensor("ffn_down_exps.weight", 61, {2048, w.d, 256}, 3)
      .layer_tensor("ffn_down_shexp.weight", 61, {2048, w.d}, 3);
  return b;
}

GgufBuilder gpt_oss() {
  const Widths w{24, 2880, 64, 8, 64, 2880, 201088};
  GgufBuilder b("gpt-oss");
  put_keys(b, w);
  b.count(".expert_count", 32).count(".expert_used_count", 4).count(".expert_feed_forward_length", 2880);
  b.count(".attention.sliding_window", 128);
  put_once(b, w, true);
  put_attention(b, w);
  b.layer_tensor("attn_q.bias", w.n, {4096})
      .layer_tensor("attn_k.bias", w.n, {512})
      .layer_tensor("attn_v.bias", w.n, {512});
  b.layer_tensor("attn_output.bias", w.n, {w.d}).layer_tensor("attn_sinks.weight", w.n, {64}, 0, 0);
  b.layer_tensor("post_attention_norm.weight", w.n, {w.d});
  b.layer_tensor("ffn_gate_inp.weight", w.n, {w.d, 32}).layer_tensor("ffn_gate_inp.bias", w.n, {32});
  for (const char* part : {"ffn_gate", "ffn_up", "ffn_down"}) {
    b.layer_tensor(std::string(part) + "_exps.weight", w.n, {w.d, w.d, 32}, 0, 39);  // mxfp4
    b.layer_tensor(std::string(part) + "_exps.bias", w.n, {w.d, 32});
  }
  return b;
}

}  // namespace

TEST_SUITE("gguf") {
  TEST_CASE("Llama 3.1 8B, version 2 and 3") {
    for (const std::uint32_t version : {2U, 3U}) {
      const Architecture model = whole(llama(version));
      CHECK(total(model) == "8030261248");
      CHECK(model.name == "Meta Llama 3.1 8B");
      CHECK(model.family == "llama");
      CHECK_FALSE(model.tied_embeddings);
      CHECK(notation(attention(model, 0).layout) == "32/8/128");
      CHECK(model.vocab_size == 128256);
      REQUIRE(model.stored.size() == 1);
      CHECK(model.stored[0].elements == 64);
    }
  }

  TEST_CASE("Qwen2.5 0.5B: biases and a tied head, from the tensors") {
    const Widths w{24, 896, 14, 2, 64, 4864, 151936};
    GgufBuilder b("qwen2");
    put_keys(b, w);
    put_once(b, w, false);
    put_attention(b, w);
    b.layer_tensor("attn_q.bias", w.n, {896})
        .layer_tensor("attn_k.bias", w.n, {128})
        .layer_tensor("attn_v.bias", w.n, {128});
    put_ffn(b, w);
    b.layer_tensor("ffn_norm.weight", w.n, {w.d});
    const Architecture model = whole(b);
    CHECK(total(model) == "494032768");
    CHECK(model.tied_embeddings);
    CHECK(attention(model, 0).layout.bias.q);
    CHECK_FALSE(attention(model, 0).layout.bias.o);
  }

  TEST_CASE("Gemma 3 1B: windows, four norms, QK-norm") {
    const Widths w{26, 1152, 4, 1, 256, 6912, 262144};
    GgufBuilder b("gemma3");
    put_keys(b, w);
    b.count(".attention.sliding_window", 512);
    put_once(b, w, false);
    put_attention(b, w);
    put_ffn(b, w);
    b.layer_tensor("attn_q_norm.weight", w.n, {256}).layer_tensor("attn_k_norm.weight", w.n, {256});
    for (const char* norm : {"post_attention_norm", "ffn_norm", "post_ffw_norm"}) {
      b.layer_tensor(std::string(norm) + ".weight", w.n, {w.d});
    }
    const Architecture model = whole(b);
    CHECK(total(model) == "999885952");
    CHECK(attention(model, 0).span == Span{Span::Kind::window, 512});
    CHECK(attention(model, 5).span.kind == Span::Kind::full);
    CHECK(attention(model, 0).qk_norm == QkNorm::per_head);
    CHECK(model.specs.at(0).norms == 4);
  }

  TEST_CASE("DeepSeek-V3: both spellings of MLA are one model") {
    for (const bool absorbed : {true, false}) {
      CAPTURE(absorbed);
      const Architecture model = whole(deepseek_v3(absorbed));
      CHECK(total(model) == "671026419200");
      CHECK(notation(attention(model, 0).layout) == "mla:128/512+64 q1536");
      CHECK(attention(model, 0).layout.d_head == 192);
      CHECK(attention(model, 0).layout.d_value == 128);
      CHECK(model.specs.at(model.layers.at(2)).ffn.d_ff == 18432);
      CHECK(model.specs.at(model.layers.at(3)).ffn.n_experts == 256);
      CHECK(model.specs.at(model.layers.at(3)).ffn.correction_bias);
      // What is cached is the latent and the rotary key, 576 elements a token and layer; 61 layers in bf16: 70,272
      // bytes.
      const Expected<ModelFormats> bf16 = parse_cache_format("bf16");
      REQUIRE(bf16);
      CHECK(to_decimal(cache_of(model, lower(model), *bf16, 1).per_sequence.value()) == "70272");
    }
  }

  TEST_CASE("kv_b beside its halves is stored and no parameter") {
    GgufBuilder b = deepseek_v3(true);
    b.layer_tensor("attn_kv_b.weight", 61, {512, 128 * 256});
    const Architecture model = whole(b);
    CHECK(total(model) == "671026419200");
    REQUIRE(model.stored.size() == 1);
    CHECK(model.stored[0].elements == 61LL * 512 * 128 * 256);
  }

  TEST_CASE("gpt-oss 20B: sinks, all biases, windows in every other layer") {
    const Architecture model = whole(gpt_oss());
    CHECK(total(model) == "20914757184");
    CHECK(attention(model, 0).sinks);
    CHECK(attention(model, 0).span == Span{Span::Kind::window, 128});
    CHECK(attention(model, 1).span.kind == Span::Kind::full);
    CHECK(model.specs.at(0).ffn.router_bias);
    CHECK(model.specs.at(0).ffn.top_k == 4);
  }

  TEST_CASE("Qwen3 30B-A3B") {
    const Widths w{48, 2048, 32, 4, 128, 6144, 151936};
    GgufBuilder b("qwen3moe");
    put_keys(b, w);
    b.count(".expert_count", 128).count(".expert_used_count", 8).count(".expert_feed_forward_length", 768);
    put_once(b, w, true);
    put_attention(b, w);
    b.layer_tensor("attn_q_norm.weight", w.n, {128}).layer_tensor("attn_k_norm.weight", w.n, {128});
    b.layer_tensor("ffn_norm.weight", w.n, {w.d}).layer_tensor("ffn_gate_inp.weight", w.n, {w.d, 128});
    b.layer_tensor("ffn_gate_exps.weight", w.n, {w.d, 768, 128})
        .layer_tensor("ffn_up_exps.weight", w.n, {w.d, 768, 128});
    b.layer_tensor("ffn_down_exps.weight", w.n, {768, w.d, 128});
    CHECK(total(whole(b)) == "30532122624");  // as the model's card says: 30.5 B
  }

  TEST_CASE("Nemotron-H: arrays with zeros") {
    GgufBuilder b("nemotron_h");
    b.count(".block_count", 4)
        .count(".embedding_length", 64)
        .count(".attention.head_count", 4)
        .count(".vocab_size", 100);
    b.counts<int>(".attention.head_count_kv", {0, 0, 2, 0}).counts<int>(".feed_forward_length", {0, 256, 0, 256});
    b.count(".attention.key_length", 16).count(".attention.value_length", 16);
    b.count(".ssm.conv_kernel", 4).count(".ssm.state_size", 8).count(".ssm.group_count", 2);
    b.count(".ssm.time_step_rank", 8).count(".ssm.inner_size", 128).real(".attention.layer_norm_rms_epsilon", 1e-5F);
    b.tensor("token_embd.weight", {64, 100}).tensor("output.weight", {64, 100}).tensor("output_norm.weight", {64});
    b.layer_tensor("attn_norm.weight", 4, {64});
    // Mamba-2: in 64 x (2 * 128 + 2 * 2 * 8 + 8), convolution of 4 taps over 128 + 32 channels with a bias.
    b.tensor("blk.0.ssm_in.weight", {64, 296})
        .tensor("blk.0.ssm_conv1d.weight", {4, 160})
        .tensor("blk.0.ssm_conv1d.bias", {160});
    b.tensor("blk.0.ssm_dt.bias", {8}).tensor("blk.0.ssm_a", {1, 8}).tensor("blk.0.ssm_d", {1, 8});
    b.tensor("blk.0.ssm_norm.weight", {64, 2}).tensor("blk.0.ssm_out.weight", {128, 64});
    b.tensor("blk.2.attn_q.weight", {64, 64})
        .tensor("blk.2.attn_k.weight", {64, 32})
        .tensor("blk.2.attn_v.weight", {64, 32});
    b.tensor("blk.2.attn_output.weight", {64, 64});
    for (const char* layer : {"blk.1.", "blk.3."}) {
      b.tensor(std::string(layer) + "ffn_up.weight", {64, 256})
          .tensor(std::string(layer) + "ffn_down.weight", {256, 64});
    }
    const Architecture model = whole(b);
    REQUIRE(model.n_layers() == 4);
    CHECK(std::holds_alternative<LinearMixer>(model.specs.at(model.layers[0]).mixers.at(0)));
    CHECK(model.specs.at(model.layers[1]).mixers.empty());
    CHECK(notation(attention(model, 2).layout) == "4/2/16");
    CHECK(model.kv_owner[2] == 2);
    CHECK(model.kv_owner[1] == -1);
    CHECK_FALSE(model.specs.at(model.layers[1]).ffn.gated);
  }

  TEST_CASE("tensors that the description does not explain are said") {
    GgufBuilder b = llama();
    const Expected<Architecture> model = read(b.tensor("blk.0.brand_new.weight", {1000}));
    REQUIRE(model);
    REQUIRE(noted(*model, "tensor-total"));
    for (const Diagnostic& note : model->notes) {
      if (note.code == "tensor-total") CHECK(note.what.find("(+1000)") != std::string::npos);
    }
  }

  TEST_CASE("metadata alone are enough") {
    const Widths w{4, 64, 4, 2, 16, 256, 1000};
    GgufBuilder b("llama");
    put_keys(b, w);
    const Expected<Architecture> model = read(b.count(".vocab_size", 1000));
    REQUIRE(model);
    CHECK(model->stored.empty());
    CHECK_FALSE(noted(*model, "tensor-total"));
  }

  TEST_CASE("an unknown architecture is refused with those that are near") {
    const Expected<Architecture> model = read(GgufBuilder("qwen3mo").count(".block_count", 1));
    REQUIRE_FALSE(model);
    CHECK(model.error().at(0).code == "unknown-architecture");
    CHECK(model.error().at(0).where.key == "general.architecture");
    CHECK(model.error().at(0).hint.find("qwen3moe") != std::string::npos);
  }

  TEST_CASE("what the reader of configs misses is named as the file names it") {
    GgufBuilder b("llama");
    b.count(".block_count", 2).count(".embedding_length", 64).count(".attention.head_count", 4);
    const Expected<Architecture> model = read(b.count(".feed_forward_length", 128));  // no vocabulary
    REQUIRE_FALSE(model);
    CHECK(model.error().at(0).where.key == "llama.vocab_size");
    CHECK(model.error().at(0).hint.find("llama.vocab_size") != std::string::npos);
  }

  TEST_CASE("a file is read from its path") {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("mha_gguf_model_" + std::to_string(::getpid()) + ".gguf")).string();
    std::ofstream(path, std::ios::binary) << llama().bytes();
    const Expected<Architecture> model = read_gguf_file(path, families());
    std::remove(path.c_str());
    REQUIRE(model);
    CHECK(model->origin == path);
    const Expected<Architecture> gone = read_gguf_file(path, families());
    REQUIRE_FALSE(gone);
    CHECK(gone.error().at(0).code == "file-not-found");
  }
}
