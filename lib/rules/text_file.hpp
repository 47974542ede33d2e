// Reads a whole text file, or says in one diagnostic why it is none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "mha/diagnostics.hpp"

namespace mha {

inline constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

[[nodiscard]] Expected<std::string> read_text_file(const std::string& path);

// Empty when `text` is UTF-8 without control characters and at most kMaxFileBytes long.
[[nodiscard]] Diagnostics check_text(std::string_view text, const std::string& file);

}  // namespace mha
