// The only file that knows yaml-cpp. Its events are used, not its tree: the tree drops duplicate keys and shares aliases.
#include "rules/yaml_reader.hpp"

#include <sstream>
#include <unordered_map>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "core/text.hpp"
#include "rules/text_file.hpp"

namespace mha {
namespace {

constexpr std::size_t kMaxProblems = 50;

struct Stop {};  // thrown out of the parser when going on makes no sense; the reason is already recorded

class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(const std::string& file) : file_(file) {}

  Node root;
  bool has_root = false;
  Diagnostics problems;

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (!has_root) return;
    refuse(mark, "multiple-documents", "a second YAML document starts here",
           "keep one document in a file, without '---'");
    throw Stop{};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(node_at(mark, Node::Kind::scalar)); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "alias", "aliases are not allowed", "write the value out");
    add(node_at(mark, Node::Kind::scalar));
  }

  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    refuse(mark, "anchor", "anchors are not allowed: &" + name, "leave it out and write each value where it is used");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    check_tag(mark, tag);
    Node node = node_at(mark, Node::Kind::scalar);
    node.text = value;
    node.quoted = tag == "!";  // how the parser marks a scalar in quotes or a block
    add(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, Node::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, tag, Node::Kind::map);
  }
  void OnMapEnd() override { close(); }

  void refuse(const YAML::Mark& mark, std::string code, std::string what, std::string hint, std::string key = {}) {
    Location where{file_, mark.line + 1, mark.column + 1, std::move(key)};
    if (mark.is_null()) where.line = where.column = 0;
    problems.push_back({Severity::error, std::move(code), std::move(where), std::move(what), std::move(hint)});
    if (problems.size() >= kMaxProblems) throw Stop{};
  }

 private:
  struct Frame {
    Node node;
    bool has_key = false;  // a map's key was read and its value is next
    std::string key;
    YAML::Mark key_mark;
    std::unordered_map<std::string, int> lines;  // of the keys seen
  };

  static Node node_at(const YAML::Mark& mark, Node::Kind kind) {
    Node node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    refuse(mark, "tag", "tags are not allowed: " + shown(tag), "write the plain value");
  }

  void open(const YAML::Mark& mark, const std::string& tag, Node::Kind kind) {
    check_tag(mark, tag);
    if (stack_.size() == kMaxDepth) {
      refuse(mark, "too-deep", "nested more than " + std::to_string(kMaxDepth) + " levels deep",
             "no file needs more than 3");
      throw Stop{};
    }
    Frame frame;
    frame.node = node_at(mark, kind);
    stack_.push_back(std::move(frame));
  }

  void close() {
    Node node = std::move(stack_.back().node);
    stack_.pop_back();
    add(std::move(node));
  }

  void add(Node node) {
    if (++n_nodes_ > kMaxNodes) {
      refuse(mark_of(node), "too-many-values", "more than " + std::to_string(kMaxNodes) + " values",
             "a request or rule file has some 30 short lines");
      throw Stop{};
    }
    if (stack_.empty()) {
      root = std::move(node);
      has_root = true;
      return;
    }
    Frame& frame = stack_.back();
    if (frame.node.kind == Node::Kind::sequence) {
      frame.node.children.push_back(std::move(node));
    } else if (!frame.has_key) {
      take_key(frame, std::move(node));
    } else {
      node.key = std::move(frame.key);
      node.key_line = frame.key_mark.line + 1;
      node.key_column = frame.key_mark.column + 1;
      if (node.is_missing_value()) {  // the parser puts it at whatever comes next
        node.line = node.key_line;
        node.column = node.key_column;
      }
      frame.has_key = false;
      frame.node.children.push_back(std::move(node));
    }
  }

  void take_key(Frame& frame, Node node) {
    const YAML::Mark mark = mark_of(node);
    if (node.kind != Node::Kind::scalar || node.text.empty()) {
      refuse(mark, "bad-key", "a key must be a name", "write 'name: value'");
    } else if (node.text == "<<" && !node.quoted) {
      refuse(mark, "merge-key", "merge keys are not allowed", "write the values out", node.text);
    } else {
      const auto [seen, is_new] = frame.lines.emplace(node.text, node.line);
      if (!is_new) {
        refuse(mark, "duplicate-key",
               "this key stands on line " + std::to_string(seen->second) + " already, and again on line " +
                   std::to_string(node.line),
               "keep one of the two", node.text);
      }
    }
    frame.has_key = true;
    frame.key = std::move(node.text);
    frame.key_mark = mark;
  }

  static YAML::Mark mark_of(const Node& node) {
    YAML::Mark mark;
    mark.line = node.line - 1;
    mark.column = node.column - 1;
    return mark;
  }

  const std::string& file_;
  std::vector<Frame> stack_;
  std::size_t n_nodes_ = 0;
};

}  // namespace

Expected<Node> read_yaml(std::string_view text, const std::string& file) {
  Diagnostics text_problems = check_text(text, file);
  if (!text_problems.empty()) return text_problems;
  Builder builder(file);
  try {
    // yaml-cpp 0.7 takes a quote that is never closed for closed when a line break follows it at the end of the file.
    const std::size_t end = text.find_last_not_of(" \t\r\n") + 1;
    std::istringstream stream{std::string(text.substr(0, end))};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {
  } catch (const YAML::Exception& error) {
    try {
      builder.refuse(error.mark, "yaml-syntax", error.msg, "check indentation, colons, brackets and quotes near here");
    } catch (const Stop&) {
    }
  }
  if (!builder.problems.empty()) return std::move(builder.problems);
  if (!builder.has_root || builder.root.is_missing_value()) {
    return Diagnostic{Severity::error, "empty-file", Location{file, 1, 1, {}}, "the file says nothing",
                      "write one 'key: value' a line"};
  }
  return std::move(builder.root);
}

}  // namespace mha
