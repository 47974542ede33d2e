// A strict subset of YAML to Nodes: one document of maps, sequences and scalars. Refused, because in a data file they
// hide a mistake or an attack: duplicate keys, anchors, aliases, tags, merge keys, a second document, deep nesting.
#pragma once

#include <string>
#include <string_view>

#include "mha/diagnostics.hpp"

#include "rules/node.hpp"

namespace mha {

inline constexpr std::size_t kMaxDepth = 32;
inline constexpr std::size_t kMaxNodes = 100'000;

[[nodiscard]] Expected<Node> read_yaml(std::string_view text, const std::string& file);

}  // namespace mha
