// GGUF metadata in the words of a Hugging Face config.json, so that one reader knows what they mean. What the tensor
// descriptions show (biases, norms, a tied head) goes along as `traits`, which are stronger than any family's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mha/architecture.hpp"
#include "mha/diagnostics.hpp"

#include "readers/gguf_file.hpp"
#include "rules/node.hpp"

namespace mha {

struct GgufConfig {
  Node root;          // a map: keys of config.json, and `traits`
  Diagnostics notes;  // keys that are not used, widths that tensors and metadata give differently
};
[[nodiscard]] Expected<GgufConfig> gguf_config(const GgufFile& file, const std::string& model_type);

// general.architecture, or what is wrong with it.
[[nodiscard]] Expected<std::string> gguf_architecture(const GgufFile& file);

// False for one part of a model in several files: what is missing here may be in another.
[[nodiscard]] bool has_all_tensors(const GgufFile& file);

// Tensors that are no parameters: rotary tables, scales of quantised formats, MLA's kv_b beside its halves.
[[nodiscard]] std::vector<NamedParams> gguf_stored(const GgufFile& file);

}  // namespace mha
