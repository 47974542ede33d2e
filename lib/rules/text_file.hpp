// Reads a whole text file, or says in one diagnostic why it is none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "mha/diagnostics.hpp"

namespace mha {

inline constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

// How large a kind of text file may be, and what the messages call it.
struct TextKind {
  std::size_t max_bytes = kMaxFileBytes;
  std::string_view max_size = "1 MiB";
  std::string_view too_large = "a request or rule file has some 30 short lines";
  std::string_view not_text = "give a YAML text file in UTF-8";
};

[[nodiscard]] Expected<std::string> read_text_file(const std::string& path, const TextKind& kind = {});

// Empty when `text` is UTF-8 without control characters and not too large.
[[nodiscard]] Diagnostics check_text(std::string_view text, const std::string& file, const TextKind& kind = {});

}  // namespace mha
