// What tensor names and shapes of a GGUF file say about its layers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "readers/gguf_file.hpp"

namespace mha {

// Tensors by layer: "blk.7.attn_q.weight" is "attn_q.weight" of layer 7.
class GgufLayers {
 public:
  GgufLayers(const GgufFile& file, std::int64_t n_layers);

  [[nodiscard]] const GgufTensor* find(std::int64_t layer, std::string_view name) const;
  [[nodiscard]] bool has(std::int64_t layer, std::string_view name) const { return find(layer, name) != nullptr; }
  [[nodiscard]] bool any(std::string_view name) const;
  // A tensor of the layer whose name starts so.
  [[nodiscard]] bool has_prefix(std::int64_t layer, std::string_view prefix) const;
  [[nodiscard]] std::int64_t n_layers() const { return static_cast<std::int64_t>(layers_.size()); }

 private:
  std::vector<std::map<std::string, const GgufTensor*, std::less<>>> layers_;
};

// What the traits below are measured against.
struct GgufShape {
  std::int64_t d_model = 0;
  std::vector<std::int64_t> n_heads;  // by layer; 0: no attention
  std::vector<std::int64_t> d_head, d_value;
  std::vector<bool> attention;  // by layer
  std::vector<bool> window;     // by layer
  std::int64_t d_ff = 0;        // largest
  std::int64_t max_context = 0;
  std::int64_t shared_kv_layers = 0;
  std::int64_t n_nextn = 0;     // multi-token-prediction layers, behind the others
  bool latent = false;          // MLA
  bool layer_norm_key = false;  // attention.layer_norm_epsilon is there, ..._rms_epsilon is not
};

// name: value pairs for set_trait (rules/family_traits.hpp). Only what all layers agree on is said.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> gguf_traits(const GgufFile& file,
                                                                           const GgufLayers& layers,
                                                                           const GgufShape& shape);

}  // namespace mha
