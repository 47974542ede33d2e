#include "report/document.hpp"

namespace mha::report {
namespace {

bool is_space_or_edge(std::string_view text, std::size_t i) {
  return i >= text.size() || text[i] == ' ';
}

// A lone " * " is a product sign in every reader; escaping it would only spoil the source.
bool is_mark(std::string_view text, std::size_t i) {
  const char c = text[i];
  if (c == '*') return !(is_space_or_edge(text, i - 1) && is_space_or_edge(text, i + 1));
  if (c == '<') return !is_space_or_edge(text, i + 1) && text[i + 1] != '=';
  return c == '`' || c == '[' || c == ']' || c == '\\';
}

}  // namespace

std::string literal(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) {
      out += ' ';
      continue;
    }
    if (is_mark(text, i)) out += '\\';
    out += text[i];
  }
  return out;
}

std::string plain(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      out += text[++i];
    } else if (c == '*' && i + 1 < text.size() && text[i + 1] == '*') {
      ++i;
    } else if (c == '`' || c == '[') {
      continue;
    } else if (c == ']') {
      if (i + 1 < text.size() && text[i + 1] == '(') out += ' ';
    } else {
      out += c;
    }
  }
  return out;
}

std::size_t text_width(std::string_view text) {
  std::size_t n = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80U) ++n;  // not a continuation byte
  }
  return n;
}

std::string pad(std::string_view text, std::size_t width, Align align) {
  const std::size_t used = text_width(text);
  const std::string fill(used < width ? width - used : 0, ' ');
  return align == Align::left ? std::string(text) + fill : fill + std::string(text);
}

}  // namespace mha::report
