// A request file: flat keys, each handed as text to its row of request_fields(). No field is known by name here.
#include <algorithm>

#include "mha/rules_loader.hpp"

#include "core/text.hpp"
#include "rules/text_file.hpp"
#include "rules/yaml_reader.hpp"

namespace mha {
namespace {

class RequestReader {
 public:
  RequestReader(const std::string& file, Request& request) : file_(file), request_(request) {}

  Diagnostics read(const Node& root) {
    if (root.kind != Node::Kind::map) {
      problem(root, "", "wrong-kind", "a request is a map of 'key: value' lines", "such as 'params: 1.3B'");
      return std::move(problems_);
    }
    for (const Node& child : root.children) {
      if (const RequestField* field = find_request_field(child.key)) {
        read_field(*field, child);
      } else {
        unknown(child);
      }
    }
    return std::move(problems_);
  }

 private:
  void problem(const Node& at, const std::string& key, std::string code, std::string what, std::string hint) {
    problems_.push_back(
        {Severity::error, std::move(code), Location{file_, at.line, at.column, key}, std::move(what), std::move(hint)});
  }

  void unknown(const Node& child) {
    std::vector<std::string> keys;
    for (const RequestField& field : request_fields()) keys.emplace_back(field.key);
    problems_.push_back({Severity::error, "unknown-key", Location{file_, child.key_line, child.key_column, child.key},
                         shown(child.key) + " is not a key of a request", did_you_mean(child.key, keys)});
  }

  void set(const RequestField& field, const Node& at, std::string_view text) {
    for (Diagnostic& found : field.set(request_, text)) {
      found.where = Location{file_, at.line, at.column, std::string(field.key)};
      problems_.push_back(std::move(found));
    }
  }

  bool is_value(const RequestField& field, const Node& node) {
    const std::string key(field.key);
    if (node.kind != Node::Kind::scalar) {
      const bool list = node.kind == Node::Kind::sequence;
      problem(node, key, "wrong-kind", std::string("this must be a single value, not a ") + (list ? "list" : "map"),
              "write '" + key + ": " + std::string(field.value_name) + "'");
      return false;
    }
    if (node.is_missing_value()) {
      problem(node, key, "missing-value", "there is no value", "write one behind the colon, or drop the key");
      return false;
    }
    return true;
  }

  void read_field(const RequestField& field, const Node& node) {
    const bool takes_list = field.kind == ValueKind::list || field.kind == ValueKind::assertion;
    if (node.kind != Node::Kind::sequence || !takes_list) {
      if (is_value(field, node)) set(field, node, node.text);
      return;
    }
    if (node.children.empty()) {
      problem(node, std::string(field.key), "missing-value", "the list is empty", "name an item, or drop the key");
      return;
    }
    if (!std::all_of(node.children.begin(), node.children.end(),
                     [&](const Node& item) { return is_value(field, item); })) {
      return;
    }
    if (field.kind == ValueKind::assertion) {
      for (const Node& item : node.children) set(field, item, item.text);
      return;
    }
    std::string joined;
    for (const Node& item : node.children) joined += (joined.empty() ? "" : ",") + item.text;
    set(field, node, joined);
  }

  const std::string& file_;
  Request& request_;
  Diagnostics problems_;
};

}  // namespace

Diagnostics read_request_text(std::string_view text, const std::string& name, Request& request) {
  const Expected<Node> root = read_yaml(text, name);
  if (!root) return root.error();
  return RequestReader(name, request).read(*root);
}

Diagnostics read_request_file(const std::string& path, Request& request) {
  const Expected<std::string> text = read_text_file(path);
  if (!text) return text.error();
  return read_request_text(*text, path, request);
}

}  // namespace mha
