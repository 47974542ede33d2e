// The table of storage formats. Block formats carry their scales: a row always takes whole blocks.
#include "mha/model.hpp"

namespace mha {

const std::vector<StorageFormat>& storage_formats() {
  static const std::vector<StorageFormat> table = {
      {"f32", 1, 4, "32-bit float", "IEEE 754", true, "f32"},
      {"bf16", 1, 2, "bfloat16", "bfloat16, 16 bits a value", true, "bf16"},
      {"f16", 1, 2, "16-bit float", "IEEE 754", true, "f16"},
      {"fp8", 1, 1, "8-bit float, one scale a tensor (not counted)",
       "vLLM, TensorRT-LLM: fp8 cache with per-tensor scale", true, "fp8"},
      {"int8", 1, 1, "8-bit integer, one scale a tensor (not counted)",
       "TensorRT-LLM: int8 cache with per-tensor scale", true, "int8"},
      {"q8_0", 32, 34, "34 bytes a block of 32: one f16 scale and 32 int8", "ggml, block_q8_0", false, ""},
      {"q5_1", 32, 24, "24 bytes a block of 32: f16 scale and minimum, 32 5-bit values", "ggml, block_q5_1", false, ""},
      {"q5_0", 32, 22, "22 bytes a block of 32: one f16 scale, 32 5-bit values", "ggml, block_q5_0", false, ""},
      {"q4_1", 32, 20, "20 bytes a block of 32: f16 scale and minimum, 32 4-bit values", "ggml, block_q4_1", false, ""},
      {"q4_0", 32, 18, "18 bytes a block of 32: one f16 scale, 32 4-bit values", "ggml, block_q4_0", false, ""},
      {"iq4_nl", 32, 18, "18 bytes a block of 32: one f16 scale, 32 4-bit table indices", "ggml, block_iq4_nl", false,
       ""},
      {"nvfp4", 16, 9, "9 bytes a block of 16: 16 4-bit floats and one fp8 scale", "vLLM, FlashInfer: NVFP4 cache",
       false, ""},
      {"mxfp4", 32, 17, "17 bytes a block of 32: 32 4-bit floats and one e8m0 scale", "OCP MX v1.0", false, ""},
      {"int8_row", 1, 1, "8-bit integer, one f32 scale a row (token and head)", "vLLM: per-token-head int8 cache",
       false, "", 4},
      {"fp8_row", 1, 1, "8-bit float, one f32 scale a row (token and head)", "vLLM: per-token-head fp8 cache", false,
       "", 4},
      {"q8_kv", 1, 1, "8-bit integer, 8 bytes of scale a row", "ik_llama.cpp, GGML_TYPE_Q8_KV", false, "", 8},
      {"fp8_tile128", 128, 132, "132 bytes a tile of 128: 128 fp8 and one f32 scale",
       "DeepSeek-V3.2: latents and index keys in FlashMLA's and DeepGEMM's fp8 caches", false, ""},
      {"fp8_v4_entry", 512, 584, "584 bytes an entry of 512: 448 fp8, 7 e8m0 scales and a pad, 64 bf16",
       "vLLM, fp8 cache of DeepSeek-V4", false, ""},
  };
  return table;
}

const StorageFormat* find_format(std::string_view id) {
  for (const StorageFormat& format : storage_formats())
    if (format.id == id) return &format;
  return nullptr;
}

}  // namespace mha
