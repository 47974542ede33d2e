// Figures that others published; our own derivation must give the same integers.
#include <doctest/doctest.h>

#include "support/layouts.hpp"

using namespace mha;
using namespace mha::testing;

TEST_CASE("whole-model parameters equal published counts") {
  struct Row {
    const char* name;
    ModelShape shape;
    Layout layout;
    i128 params;
  };
  Layout qwen3_small = grouped(16, 8, 128), qwen3_4b = grouped(32, 8, 128), qwen25_72b = grouped(64, 8, 128);
  qwen3_small.qk_norm = qwen3_4b.qk_norm = true;
  qwen25_72b.bias = {true, true, true, false};
  const Row rows[] = {
      {"Llama-2-7B", {4096, 32, 11008, 32000, false, true, NormKind::rms}, grouped(32, 32, 128), 6'738'415'616},
      {"Llama-2-13B", {5120, 40, 13824, 32000, false, true, NormKind::rms}, grouped(40, 40, 128), 13'015'864'320},
      {"Llama-3-8B", {4096, 32, 14336, 128256, false, true, NormKind::rms}, grouped(32, 8, 128), 8'030'261'248},
      {"Llama-3-70B", {8192, 80, 28672, 128256, false, true, NormKind::rms}, grouped(64, 8, 128), 70'553'706'496},
      {"Qwen3-0.6B", {1024, 28, 3072, 151936, true, true, NormKind::rms}, qwen3_small, 596'049'920},
      {"Qwen3-4B", {2560, 36, 9728, 151936, true, true, NormKind::rms}, qwen3_4b, 4'022'468'096},
      {"Qwen2.5-72B", {8192, 80, 29568, 152064, false, true, NormKind::rms}, qwen25_72b, 72'706'203'648},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(to_decimal(total_params(row.shape, row.layout).value()) == to_decimal(row.params));
  }
}

TEST_CASE("bytes per cached token equal published figures") {
  ModelShape shape{8192, 80, 28672, 128256, false, true, NormKind::rms};
  CHECK(cache_per_token(shape, grouped(64, 8, 128)) == Bytes(327'680));  // Llama-3-70B, Qwen2.5-72B
  shape.n_layers = 32;
  shape.d_model = 4096;
  CHECK(cache_per_token(shape, grouped(32, 32, 128)) == Bytes(512 * 1024));  // Llama-2-7B
  shape = {7168, 61, 18432, 129280, false, true, NormKind::rms};
  CHECK(cache_per_token(shape, latent(128, 512, 64, 128, 128, 1536)) == Bytes(70'272));  // DeepSeek-V3
  shape.n_layers = 126;
  CHECK(cache_per_token(shape, grouped(128, 8, 128)) == Bytes(516'096));  // Llama-3.1-405B
  shape.n_layers = 28;
  CHECK(cache_per_token(shape, grouped(16, 8, 128)) ==
        Bytes(112 * 1024));  // Qwen3-0.6B: d_head is not d_model / n_heads
}

TEST_CASE("block formats carry their scales") {
  // Llama-3.2-1B at 2048 tokens as llama.cpp prints it: f16 64 MiB, q8_0 34 MiB, q4_0 18 MiB.
  const ModelShape shape{2048, 16, 8192, 128256, true, true, NormKind::rms};
  const AttentionPlan plan = lower(grouped(32, 8, 64), 2048);
  const auto mib = [&](const char* k, const char* v) {
    return cache_size(shape, plan, formats(k, v), 2048, 1, 1).per_sequence.value() / (1 << 20);
  };
  CHECK(mib("f16", "f16") == 64);
  CHECK(mib("q8_0", "q8_0") == 34);
  CHECK(mib("q4_0", "q4_0") == 18);
  CHECK(mib("q5_0", "q5_0") == 22);
  CHECK(mib("fp8", "fp8") == 32);
  CHECK(mib("f32", "f32") == 128);
  CHECK(mib("q8_0", "q4_0") == 26);                        // K and V formats are separate
  CHECK(find_format("q8_0")->row_bytes(33) == Bytes(68));  // whole blocks
}

TEST_CASE("MQA at 2048 tokens caches 1 in n_heads of MHA") {
  const ModelShape shape{4096, 32, 11008, 32000, false, true, NormKind::rms};
  for (const std::int64_t heads : {16, 32, 64}) {
    const auto at = [&](std::int64_t kv) {
      return cache_size(shape, lower(grouped(heads, kv, 4096 / heads), 4096), formats("bf16", "bf16"), 2048, 1, 1)
          .per_sequence;
    };
    CHECK(at(1) * heads == at(heads));
  }
}

TEST_CASE("a latent cache is one row for all heads and never doubled") {
  const ModelShape shape{5120, 60, 12288, 102400, false, true, NormKind::rms};
  const AttentionPlan plan = lower(latent(128, 512, 64, 128, 128, 1536), 5120);
  const CacheSize size = cache_size(shape, plan, formats("bf16", "bf16"), 1, 1, 1);
  CHECK(size.elements_per_token_per_layer * 60 == Elements(34'560));  // DeepSeek-V2: "34.6K"
}

TEST_CASE("prefill FLOPs follow the published conventions") {
  // PaLM, nanoGPT: 6 N + 12 n d S a token in training, full square, N = matrix weights with the head.
  const ModelShape shape{4096, 32, 11008, 32000, false, true, NormKind::rms};
  const AttentionPlan plan = lower(grouped(32, 32, 128), 4096);
  const ParamCount p = count_params(shape, plan);
  const i128 n = p.attention.value() + p.ffn.value() + p.lm_head.value(), s = 2048;
  CHECK(count_flops(shape, plan, 2048, FlopConvention::full).training_per_token ==
        Flops(6 * n + 12 * i128{32} * 4096 * s));
  // The causal triangle is exact: s (s + 1) / 2 pairs, not half a square.
  CHECK(count_flops(shape, plan, 2048, FlopConvention::causal).prefill ==
        Flops(2 * n * s + 2 * 32 * 2 * i128{4096} * (s * (s + 1) / 2)));
  CHECK(flops_of(MultiplyAdds(1)) == Flops(2));
}
