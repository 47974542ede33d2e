// Takes a map apart strictly: every key asked for is remembered, so that close() can report each key that nobody asked
// for. Problems are collected, and reading goes on with a default value, so that a file's problems come all at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mha/quantity.hpp"
#include "mha/rules.hpp"

#include "rules/node.hpp"

namespace mha {

class MapReader {
 public:
  // `node` null: a map whose absence was reported already; every value is then a default. `path` names it in messages.
  MapReader(const Node* node, const std::string& file, std::string path, Diagnostics& problems);

  // The child, or null. A missing required key is reported here.
  const Node* find(std::string_view key, bool required = true);

  // A scalar through `parse`, which returns Expected<T>.
  template <class Parse>
  auto value(std::string_view key, Parse parse) {
    using T = std::decay_t<decltype(*parse(std::string_view()))>;
    T out{};
    if (const Node* node = find(key)) take(*node, path_of(key), parse, out);
    return out;
  }

  // A sequence of scalars. One scalar alone is refused: a list is written as one.
  template <class Parse>
  auto list(std::string_view key, Parse parse) {
    using T = std::decay_t<decltype(*parse(std::string_view()))>;
    std::vector<T> out;
    const Node* node = find(key);
    if (node == nullptr) return out;
    if (node->kind != Node::Kind::sequence) {
      problem(*node, path_of(key), "wrong-kind", "this must be a list", "write " + std::string(key) + ": [a, b]");
      return out;
    }
    for (std::size_t i = 0; i < node->children.size(); ++i) {
      T item{};
      if (take(node->children[i], path_of(key) + "[" + std::to_string(i) + "]", parse, item)) out.push_back(item);
    }
    return out;
  }

  // {value: ..., source: ..., date: ...}
  template <class Parse>
  auto sourced(std::string_view key, Parse parse) {
    using T = std::decay_t<decltype(*parse(std::string_view()))>;
    MapReader inner = map(key);
    Sourced<T> out;
    out.value = inner.value("value", parse);
    out.source = inner.source_fields("source");
    inner.close();
    return out;
  }

  MapReader map(std::string_view key);
  std::string text(std::string_view key);           // required, not empty
  std::string optional_text(std::string_view key);  // absent: empty
  std::int64_t count(std::string_view key, std::int64_t min, std::int64_t max);
  double real(std::string_view key, double min, double max);
  Source source(std::string_view key);  // {text: ..., date: ...}
  // The two fields themselves: the text under `text_key`, and `date`.
  Source source_fields(std::string_view text_key);

  // A map whose keys are free; null when it is missing or no map.
  const Node* free_map(std::string_view key);

  // Reports `key`'s value (or, when it is absent, nothing: that was reported by find).
  void invalid(std::string_view key, const std::string& code, const std::string& what, const std::string& hint);
  void problem(const Node& at, std::string key, std::string code, std::string what, std::string hint);
  void close();  // reports unknown keys

  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] bool present() const { return node_ != nullptr; }

  template <class Parse, class T>
  bool take(const Node& node, const std::string& path, Parse parse, T& out) {
    if (!is_scalar_with_value(node, path)) return false;
    auto parsed = parse(std::string_view(node.text));
    if (!parsed) {
      for (const Diagnostic& found : parsed.error()) problem(node, path, found.code, found.what, found.hint);
      return false;
    }
    out = *std::move(parsed);
    return true;
  }

 private:
  bool is_scalar_with_value(const Node& node, const std::string& path);

  const Node* node_;
  const std::string& file_;
  std::string path_;
  Diagnostics& problems_;
  std::vector<std::string> known_;
};

// Parsers for MapReader, on top of quantity.hpp.
[[nodiscard]] Expected<std::string> parse_text(std::string_view text);  // not empty
[[nodiscard]] Expected<std::string> parse_date(std::string_view text);  // a real YYYY-MM-DD

}  // namespace mha
