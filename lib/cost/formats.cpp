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
      {"q5_0", 32, 22, "22 bytes a block of 32: one f16 scale, 32 5-bit values", "ggml, block_q5_0", false, ""},
      {"q4_0", 32, 18, "18 bytes a block of 32: one f16 scale, 32 4-bit values", "ggml, block_q4_0", false, ""},
  };
  return table;
}

const StorageFormat* find_format(std::string_view id) {
  for (const StorageFormat& format : storage_formats())
    if (format.id == id) return &format;
  return nullptr;
}

}  // namespace mha
