#include "rules/text_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace mha {
namespace {

Diagnostic problem(const std::string& file, std::string code, std::string what, std::string hint) {
  return Diagnostic{Severity::error, std::move(code), Location{file, 0, 0, {}}, std::move(what), std::move(hint)};
}

std::string reason(int error) {
  switch (error) {
    case ENOENT:
      return "there is no such file";
    case EACCES:
    case EPERM:
      return "permission is denied";
    case ENOTDIR:
      return "a part of its path is not a folder";
    case ENAMETOOLONG:
      return "its name is too long";
    default:
      return "system error " + std::to_string(error);
  }
}

// Length of the UTF-8 sequence at `at`, 0 when it is not one. Overlong forms and surrogates are none.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[at + i])); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
      (first == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return length;
}

Diagnostic too_large(const std::string& file, const TextKind& kind) {
  return problem(file, "file-too-large", "the file is larger than " + std::string(kind.max_size),
                 std::string(kind.too_large));
}

}  // namespace

Diagnostics check_text(std::string_view text, const std::string& file, const TextKind& kind) {
  if (text.size() > kind.max_bytes) return {too_large(file, kind)};
  int line = 1;
  int column = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const auto c = static_cast<unsigned char>(text[at]);
    const bool control = (c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F;
    if (length == 0 || control) {
      Diagnostic found = problem(file, control ? "binary-file" : "invalid-utf-8",
                                 control ? "the file holds a control character, so it is not text"
                                         : "the file is not valid UTF-8 at this place",
                                 std::string(kind.not_text));
      found.where.line = line;
      found.where.column = column;
      return {found};
    }
    if (c == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
    at += length;
  }
  return {};
}

Expected<std::string> read_text_file(const std::string& path, const TextKind& kind) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return problem(path, "not-a-file", "this is a folder, not a file", "name a file in it");
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!stream) {
    const int error = errno;
    return problem(path, error == ENOENT ? "file-not-found" : "unreadable-file",
                   "cannot read the file: " + reason(error), "check the path and its permissions");
  }
  // Read up to the limit, never to the end: the path may name a pipe or a device.
  std::string text;
  std::array<char, 16384> chunk{};
  while (text.size() <= kind.max_bytes) {
    const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), stream.get());
    if (n == 0) break;
    text.append(chunk.data(), n);
  }
  if (std::ferror(stream.get()) != 0) {
    return problem(path, "unreadable-file", "cannot read the file: " + reason(errno),
                   "check the path and its permissions");
  }
  const Diagnostics problems = check_text(text, path, kind);
  if (!problems.empty()) return problems;
  return text;
}

}  // namespace mha
