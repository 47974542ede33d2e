// What kind each layer of a config.json is. Configs say it in some thirty ways (a list, a period, a string of letters,
// the index of the first layer ...); each way is one row of a table in config_layers.cpp. Says nothing about widths.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mha/family.hpp"

#include "readers/config_fields.hpp"

namespace mha {

struct LayerDraft {
  enum class Mix : unsigned char { attention, linear, both, none };
  enum class Ffn : unsigned char { unsaid, dense, moe, none };
  Mix mix = Mix::attention;
  Span::Kind span = Span::Kind::full;
  Ffn ffn = Ffn::unsaid;
  std::int64_t ratio = -1;     // compressed cache: 0 window only, otherwise tokens an entry; -1: not compressed
  bool sparse = false;         // said to be sparse attention
  bool borrows_picks = false;  // sparse attention over what another layer's indexer picked (GLM-5.2)
  bool hashed = false;         // experts by a table of token ids: no correction bias (DeepSeek-V4)
  std::int32_t owner = -1;     // the layer whose cache it reads; -1: its own
};

// One draft a layer.
[[nodiscard]] std::vector<LayerDraft> draft_layers(Fields& fields, const FamilyTraits& traits, std::int64_t n_layers);

}  // namespace mha
