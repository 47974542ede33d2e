// Small ASCII helpers for messages. No locale: <cctype> would ask for one.
#pragma once

#include <string>
#include <string_view>

namespace mha {

[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] std::string upper(std::string_view text);

// `text` as a message may show it: in quotes unless it is one plain word, shortened when long, control characters as
// \xNN.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace mha
