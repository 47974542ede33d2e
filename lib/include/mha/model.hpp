// The shape of a whole decoder-only transformer, and the storage formats of weights and cache.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mha/units.hpp"

namespace mha {

// Learned elements of a norm over `width`: rms a scale (width), layer a scale and a shift (2 * width), layer_scale a
// LayerNorm without shift (width; Cohere), none no learned ones (OLMo 1).
enum class NormKind { rms, layer, layer_scale, none };

[[nodiscard]] constexpr std::int64_t norm_elements(NormKind kind, std::int64_t width) {
  return kind == NormKind::none ? 0 : kind == NormKind::layer ? 2 * width : width;
}

struct ModelShape {
  std::int64_t d_model = 0;
  std::int64_t n_layers = 0;
  std::int64_t d_ff = 0;
  std::int64_t vocab_size = 0;
  bool tied_embeddings = false;  // output head shares the embedding: counted once
  bool gated_ffn = true;         // three matrices (SwiGLU) or two
  NormKind norm = NormKind::rms;
  friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

// How the elements of a cache row, or the weights, are stored. A row of n elements takes
// ceil(n / block_elements) * block_bytes + row_extra_bytes.
struct StorageFormat {
  std::string_view id;  // "bf16"
  std::int64_t block_elements = 1;
  std::int64_t block_bytes = 2;
  std::string_view help;  // "34 bytes a block of 32: 32 int8 and one f16 scale"
  std::string_view source;
  bool weights = false;              // may be the weight / compute type (f32, bf16, f16, fp8, int8)
  std::string_view compute_peak;     // which peak of a target prices arithmetic on it: "f32", "bf16", "fp8", "int8"
  std::int64_t row_extra_bytes = 0;  // scales kept once a row

  [[nodiscard]] constexpr Bytes row_bytes(std::int64_t elements) const {
    return Bytes(i128{(elements + block_elements - 1) / block_elements} * block_bytes + row_extra_bytes);
  }
};

[[nodiscard]] const std::vector<StorageFormat>& storage_formats();    // f32 bf16 f16 fp8 int8 q8_0 ...
[[nodiscard]] const StorageFormat* find_format(std::string_view id);  // nullptr: no such format

}  // namespace mha
