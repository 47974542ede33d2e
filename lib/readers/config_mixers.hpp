// Widths of a layer's parts from the fields of a config.json: softmax attention of each kind, linear and state-space
// mixers, feed-forward. Which layer is of which kind was decided before (config_layers.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mha/family.hpp"

#include "readers/config_fields.hpp"
#include "readers/config_layers.hpp"

namespace mha {

// Fields that may differ by layer, read once. An empty list: not said.
struct LayerWidths {
  std::vector<std::int64_t> n_heads, n_kv_heads, d_ff, window;
};

class LayerBuilder {
 public:
  LayerBuilder(Fields& fields, const FamilyTraits& traits, std::int64_t d_model, std::int64_t n_layers);

  [[nodiscard]] Attention attention(const LayerDraft& draft, std::int64_t layer);
  [[nodiscard]] LinearMixer linear(std::int64_t layer);
  [[nodiscard]] FeedForward feed_forward(const LayerDraft& draft, std::int64_t layer);

 private:
  std::int64_t n_heads(const LayerDraft& draft, std::int64_t layer);
  std::int64_t n_kv_heads(const LayerDraft& draft, std::int64_t layer);
  std::int64_t d_head(const LayerDraft& draft, std::int64_t heads);
  std::int64_t d_value(const LayerDraft& draft, std::int64_t d_head_value);
  void latent(Layout& layout);
  void indexer(const LayerDraft& draft, Attention& out);
  void spans(const LayerDraft& draft, std::int64_t layer, Attention& out);
  [[nodiscard]] const LinearKind* linear_kind();

  Fields& fields_;
  const FamilyTraits& traits_;
  std::int64_t d_model_;
  LayerWidths widths_;
  bool noted_head_ = false;
};

}  // namespace mha
