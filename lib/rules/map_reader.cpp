#include "rules/map_reader.hpp"

#include <algorithm>
#include <array>

#include "core/text.hpp"

namespace mha {

MapReader::MapReader(const Node* node, const std::string& file, std::string path, Diagnostics& problems)
    : node_(node), file_(file), path_(std::move(path)), problems_(problems) {
  if (node_ != nullptr && node_->kind != Node::Kind::map) {
    problem(*node_, path_, "wrong-kind", "this must be a map", "write 'key: value' lines, or {key: value}");
    node_ = nullptr;
  }
}

std::string MapReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void MapReader::problem(const Node& at, std::string key, std::string code, std::string what, std::string hint) {
  problems_.push_back({Severity::error, std::move(code), Location{file_, at.line, at.column, std::move(key)},
                       std::move(what), std::move(hint)});
}

const Node* MapReader::find(std::string_view key, bool required) {
  if (node_ == nullptr) return nullptr;
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  for (const Node& child : node_->children) {
    if (child.key == key) return &child;
  }
  if (required) {
    problem(*node_, path_of(key), "missing-key",
            "the key '" + std::string(key) + "' is missing from the map on line " + std::to_string(node_->line),
            "add '" + std::string(key) + ": ...' to it");
  }
  return nullptr;
}

bool MapReader::is_scalar_with_value(const Node& node, const std::string& path) {
  if (node.kind != Node::Kind::scalar) {
    const bool list = node.kind == Node::Kind::sequence;
    problem(node, path, "wrong-kind", std::string("this must be a single value, not a ") + (list ? "list" : "map"),
            "write one value without brackets");
    return false;
  }
  if (node.is_missing_value()) {
    problem(node, path, "missing-value", "there is no value", "write one behind the colon, or drop the key");
    return false;
  }
  return true;
}

MapReader MapReader::map(std::string_view key) {
  return MapReader(find(key), file_, path_of(key), problems_);
}

const Node* MapReader::free_map(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr || node->kind == Node::Kind::map) return node;
  problem(*node, path_of(key), "wrong-kind", "this must be a map", "write 'name: value' lines, or {name: value}");
  return nullptr;
}

std::string MapReader::text(std::string_view key) {
  return value(key, parse_text);
}

std::string MapReader::optional_text(std::string_view key) {
  const Node* node = find(key, false);
  if (node == nullptr || node->is_missing_value()) return {};
  std::string out;
  take(
      *node, path_of(key), [](std::string_view text) { return Expected<std::string>(std::string(text)); }, out);
  return out;
}

std::int64_t MapReader::count(std::string_view key, std::int64_t min, std::int64_t max) {
  return value(key, [=](std::string_view text) { return parse_count(text, min, max); });
}

double MapReader::real(std::string_view key, double min, double max) {
  return value(key, [=](std::string_view text) -> Expected<double> {
    const Expected<double> number = parse_real(text);
    if (!number || (min <= *number && *number <= max)) return number;
    return Diagnostic{Severity::error,
                      "out-of-range",
                      {},
                      shown(text) + " is out of range",
                      "give a number from " + print_fixed(min, 3) + " to " + print_fixed(max, 3)};
  });
}

Source MapReader::source_fields(std::string_view text_key) {
  Source out;
  out.text = text(text_key);
  out.date = value("date", parse_date);
  return out;
}

Source MapReader::source(std::string_view key) {
  MapReader inner = map(key);
  const Source out = inner.source_fields("text");
  inner.close();
  return out;
}

void MapReader::invalid(std::string_view key, const std::string& code, const std::string& what,
                        const std::string& hint) {
  if (node_ == nullptr) return;
  for (const Node& child : node_->children) {
    if (child.key == key) problem(child, path_of(key), code, what, hint);
  }
}

void MapReader::close() {
  if (node_ == nullptr) return;
  for (const Node& child : node_->children) {
    if (std::find(known_.begin(), known_.end(), child.key) != known_.end()) continue;
    problems_.push_back({Severity::error, "unknown-key",
                         Location{file_, child.key_line, child.key_column, path_of(child.key)},
                         shown(child.key) + " is not a key of this map", did_you_mean(child.key, known_)});
  }
}

Expected<std::string> parse_text(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") != std::string_view::npos) return std::string(text);
  return Diagnostic{Severity::error, "empty-text", {}, "the text is empty", "write what it is"};
}

Expected<std::string> parse_date(std::string_view text) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const auto number = [&](std::size_t at, std::size_t length) {
    int out = 0;
    for (const char c : text.substr(at, length)) out = is_digit(c) && out >= 0 ? out * 10 + (c - '0') : -1;
    return out;
  };
  if (text.size() == 10 && text[4] == '-' && text[7] == '-') {
    const int year = number(0, 4);
    const int month = number(5, 2);
    const int day = number(8, 2);
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (year >= 1900 && month >= 1 && month <= 12 && day >= 1 &&
        day <= kDays[static_cast<std::size_t>(month - 1)] + (leap && month == 2 ? 1 : 0)) {
      return std::string(text);
    }
  }
  return Diagnostic{Severity::error,
                    "bad-date",
                    {},
                    shown(text) + " is not a date",
                    "write a real day as YYYY-MM-DD, such as 2026-08-21"};
}

}  // namespace mha
