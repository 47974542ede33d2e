// The fields of a config.json under one name each: Hugging Face's most common spelling stands for all the others,
// absent and null fields take the family's documented default, and every problem names the file's own line. Says
// nothing about what a field means.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mha/family.hpp"

#include "rules/node.hpp"

namespace mha {

class Fields {
 public:
  // `config`: the map that describes the language model; `prefix`: where in the file it is, "text_config" or empty.
  Fields(const Node& config, std::string prefix, const std::string& file, Diagnostics& problems, Diagnostics& notes);

  // Later calls win over earlier ones.
  void use_aliases(const std::vector<std::pair<std::string, std::vector<std::string>>>& aliases);
  void use_defaults(const std::vector<FamilySetting>& defaults);
  void use_values(const std::vector<FamilySetting>& values);  // in place of the file's

  // The value under any spelling, or its default; null when there is neither. Two spellings of different value are
  // reported.
  const Node* find(std::string_view name);
  [[nodiscard]] bool has(std::string_view name) { return find(name) != nullptr; }
  // The file itself says it (null does not count).
  [[nodiscard]] bool stated(std::string_view name);

  // Typed values. Absent: nullopt or an empty list; a value of another kind is reported, and nullopt or empty.
  std::optional<std::int64_t> count(std::string_view name, std::int64_t min, std::int64_t max);
  std::int64_t count_or(std::string_view name, std::int64_t min, std::int64_t max, std::int64_t otherwise);
  // Absent is reported, too, and 0 (once for each name).
  std::int64_t need(std::string_view name, std::int64_t min, std::int64_t max);
  bool flag(std::string_view name);  // absent: false
  std::string word(std::string_view name);
  std::vector<std::int64_t> counts(std::string_view name, std::int64_t min, std::int64_t max);
  // One value for each of `n` layers: a list of that length, or one number for all. Absent: empty.
  std::vector<std::int64_t> per_layer(std::string_view name, std::int64_t n, std::int64_t min, std::int64_t max);

  std::optional<std::int64_t> count_of(const Node& node, std::string_view name, std::int64_t min, std::int64_t max);
  // A product, sum, difference or even quotient of counts and fields: "4 * hidden_size". Problems blame `name`.
  std::optional<std::int64_t> evaluate(std::string_view expression, std::string_view name);

  // Does a case's condition hold? `absent`, `present`, or the value's text.
  bool holds(std::string_view name, const std::vector<std::string>& values);

  void problem(std::string_view name, std::string code, std::string what, std::string hint);  // at the field
  void problem_at(const Node& node, std::string_view name, std::string code, std::string what, std::string hint);
  void missing(std::string_view name);
  void note(std::string_view name, std::string code, std::string what, std::string hint = {});
  [[nodiscard]] const Node& config() const { return config_; }
  [[nodiscard]] bool failed() const { return !problems_.empty(); }

 private:
  struct Found {
    const Node* node = nullptr;
    std::string spelling;
  };
  static void add(Diagnostics& to, Diagnostic found);
  Found find_stated(std::string_view name);
  [[nodiscard]] std::vector<std::string> spellings(std::string_view name) const;
  [[nodiscard]] Location location(const Node* node, std::string_view name) const;
  const Node* make_default(const std::string& name, const std::string& value);

  const Node& config_;
  std::string prefix_;
  const std::string& file_;
  Diagnostics& problems_;
  Diagnostics& notes_;
  std::map<std::string, std::vector<std::string>, std::less<>> aliases_;
  std::map<std::string, std::string, std::less<>> defaults_, values_;
  std::map<std::string, Node, std::less<>> made_;    // nodes of defaults and set values
  std::map<std::string, Found, std::less<>> found_;  // what find_stated said, so that problems come once
  std::vector<std::string> evaluating_;
};

// The node at a dotted path below `map`; null when it, or a part of the path, is not there.
[[nodiscard]] const Node* find_path(const Node& map, std::string_view path);

}  // namespace mha
