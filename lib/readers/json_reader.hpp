// JSON text to Nodes with 1-based positions, strictly: duplicate keys, NaN, trailing text and deep nesting are
// refused.
//
// Scalars keep their spelling: a string is a quoted scalar; numbers, true, false and null are unquoted ones with the
// text that the file has. So JSON's null is the unquoted scalar `null` (is_null), as the other readers write it, too.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "mha/diagnostics.hpp"

#include "rules/node.hpp"

namespace mha {

inline constexpr std::size_t kMaxJsonBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonNodes = 250'000;

[[nodiscard]] Expected<Node> read_json(std::string_view text, const std::string& file);

// The file's text; of a larger file no more than the limit is read.
[[nodiscard]] Expected<std::string> read_json_text(const std::string& path);

// No value: JSON's null, or nothing behind a YAML colon.
[[nodiscard]] inline bool is_null(const Node& node) {
  return node.kind == Node::Kind::scalar && !node.quoted && (node.text.empty() || node.text == "null");
}

}  // namespace mha
