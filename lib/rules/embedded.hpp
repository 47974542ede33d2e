// Rules inside the binary: parsed when the tool was built, kept as flat constant arrays, because reading YAML at each
// start costs more than the whole search. Each file's strings stand in one text, and its nodes in depth-first order.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "rules/node.hpp"

namespace mha {

struct FlatNode {
  std::uint8_t kind = 0;  // of Node::Kind
  bool quoted = false;
  std::uint16_t line = 0, column = 0;
  std::uint16_t key_line = 0, key_column = 0;
  std::uint16_t text_at = 0, text_size = 0;
  std::uint16_t key_at = 0, key_size = 0;
  std::uint16_t n_children = 0;
};

struct EmbeddedFile {
  std::string_view folder;  // "targets"
  std::string_view id;      // "h100-sxm"
  std::string_view text;
  std::span<const FlatNode> nodes;
};

// Sorted by folder and id. Defined by the generated source; the generator itself has none.
[[nodiscard]] std::span<const EmbeddedFile> embedded_files();

[[nodiscard]] Document to_document(const EmbeddedFile& file);

}  // namespace mha
