#include "core/text.hpp"

#include <algorithm>

namespace mha {
namespace {

bool is_word(char c) {
  return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '+' || c == '.' || c == '_';
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  constexpr std::string_view kHex = "0123456789abcdef";
  const bool cut = text.size() > kLongest;
  if (cut) {
    std::size_t end = kLongest - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // keep UTF-8 sequences whole
    text = text.substr(0, end);
  }
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    } else {
      out += c;
    }
  }
  if (cut) out += "...";
  const bool plain = !out.empty() && std::all_of(out.begin(), out.end(), is_word);
  return plain ? out : "'" + out + "'";
}

}  // namespace mha
