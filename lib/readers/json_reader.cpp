// The only file that knows RapidJSON. Its events are used, not its document: the document keeps no positions and takes
// the first of two equal keys.
#include "readers/json_reader.hpp"

#include <algorithm>
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>
#include <unordered_map>
#include <vector>

#include "core/text.hpp"
#include "rules/text_file.hpp"

namespace mha {
namespace {

constexpr TextKind kJsonText = {kMaxJsonBytes, "16 MiB",
                                "a config.json has some kilobytes; is this another kind of file?",
                                "give a JSON text file in UTF-8"};

// RapidJSON's input stream over a view: no terminating zero is needed, and Tell() is always the place in the text.
class ViewStream {
 public:
  using Ch = char;
  explicit ViewStream(std::string_view text) : text_(text) {}
  [[nodiscard]] Ch Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  Ch Take() { return at_ < text_.size() ? text_[at_++] : '\0'; }
  [[nodiscard]] std::size_t Tell() const { return at_; }
  // Of in-situ parsing, which is not used; RapidJSON names them all the same.
  Ch* PutBegin() { return nullptr; }
  void Put(Ch) {}
  void Flush() {}
  std::size_t PutEnd(Ch*) { return 0; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// Turns offsets into lines and columns. Columns count characters. Asked in rising order, which events come in; a
// smaller offset than the last one starts over.
class Positions {
 public:
  explicit Positions(std::string_view text) : text_(text) {}
  void move_to(std::size_t offset) {
    if (offset < at_) *this = Positions(text_);
    for (; at_ < offset && at_ < text_.size(); ++at_) {
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte == '\n') {
        ++line_;
        column_ = 1;
      } else if ((byte & 0xC0U) != 0x80U) {
        ++column_;
      }
    }
  }
  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] int column() const { return column_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
};

// Offset of the quote that opens the string whose closing quote is at `close`. A quote inside has an odd number of
// backslashes before it, and what stands before an opening quote is never a backslash.
std::size_t opening_quote(std::string_view text, std::size_t close) {
  std::size_t at = close;
  while (at > 0) {
    --at;
    if (text[at] != '"') continue;
    std::size_t backslashes = 0;
    while (backslashes < at && text[at - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return at;
  }
  return 0;
}

class Builder {
 public:
  Builder(std::string_view text, const std::string& file, const ViewStream& stream)
      : text_(text), file_(file), stream_(stream), positions_(text) {}

  Node root;
  Diagnostics problems;

  // Events of RapidJSON. With numbers as strings, all numbers come as RawNumber.
  bool Null() { return plain("null"); }
  bool Bool(bool value) { return plain(value ? "true" : "false"); }
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) { return plain({text, size}); }

  bool String(const char* text, rapidjson::SizeType size, bool) {
    Node node = node_at(opening_quote(text_, stream_.Tell() - 1), Node::Kind::scalar);
    node.quoted = true;
    node.text.assign(text, size);
    return add(std::move(node));
  }

  bool StartObject() { return open(Node::Kind::map); }
  bool StartArray() { return open(Node::Kind::sequence); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }

  bool Key(const char* text, rapidjson::SizeType size, bool) {
    Frame& frame = stack_.back();
    frame.key.assign(text, size);
    positions_.move_to(opening_quote(text_, stream_.Tell() - 1));
    frame.key_line = positions_.line();
    frame.key_column = positions_.column();
    const auto [seen, is_new] = frame.lines.emplace(frame.key, frame.key_line);
    if (is_new) return true;
    return refuse("duplicate-key",
                  "this key stands on line " + std::to_string(seen->second) + " already, and again on line " +
                      std::to_string(frame.key_line),
                  "keep one of the two", frame.key);
  }

  // At the last place that was looked up. False, which ends the parse.
  bool refuse(std::string code, std::string what, std::string hint, std::string key = {}) {
    problems.push_back({Severity::error, std::move(code),
                        Location{file_, positions_.line(), positions_.column(), std::move(key)}, std::move(what),
                        std::move(hint)});
    return false;
  }

  bool refuse_at(std::size_t offset, std::string code, std::string what, std::string hint) {
    positions_.move_to(offset);
    return refuse(std::move(code), std::move(what), std::move(hint));
  }

 private:
  struct Frame {
    Node node;
    std::string key;  // of the value that comes next
    int key_line = 0;
    int key_column = 0;
    std::unordered_map<std::string, int> lines;  // of the keys seen
  };

  Node node_at(std::size_t offset, Node::Kind kind) {
    positions_.move_to(offset);
    Node node;
    node.kind = kind;
    node.line = positions_.line();
    node.column = positions_.column();
    return node;
  }

  // null, true, false and numbers: the event comes when the stream stands right behind them.
  bool plain(std::string_view text) {
    Node node = node_at(stream_.Tell() - text.size(), Node::Kind::scalar);
    node.text = text;
    return add(std::move(node));
  }

  // The event comes when the stream stands at the bracket.
  bool open(Node::Kind kind) {
    Node node = node_at(stream_.Tell(), kind);
    if (stack_.size() == kMaxJsonDepth) {
      return refuse("too-deep", "nested more than " + std::to_string(kMaxJsonDepth) + " levels deep",
                    "a config.json needs some 4");
    }
    if (!count_one()) return false;
    Frame frame;
    frame.node = std::move(node);
    stack_.push_back(std::move(frame));
    return true;
  }

  bool close() {
    Node node = std::move(stack_.back().node);
    stack_.pop_back();
    place(std::move(node));
    return true;
  }

  bool add(Node node) {
    if (!count_one()) return false;
    place(std::move(node));
    return true;
  }

  bool count_one() {
    if (++n_nodes_ <= kMaxJsonNodes) return true;
    return refuse("too-many-values", "more than " + std::to_string(kMaxJsonNodes) + " values",
                  "a config.json has some hundred; is this another kind of file?");
  }

  void place(Node node) {
    if (stack_.empty()) {
      root = std::move(node);
      return;
    }
    Frame& frame = stack_.back();
    if (frame.node.kind == Node::Kind::map) {
      node.key = std::move(frame.key);
      node.key_line = frame.key_line;
      node.key_column = frame.key_column;
    }
    frame.node.children.push_back(std::move(node));
  }

  std::string_view text_;
  const std::string& file_;
  const ViewStream& stream_;
  Positions positions_;
  std::vector<Frame> stack_;
  std::size_t n_nodes_ = 0;
};

// NaN and Infinity are JavaScript, not JSON; Python writes them all the same.
bool is_no_number(std::string_view rest) {
  if (rest.starts_with('-')) rest.remove_prefix(1);
  return rest.starts_with("NaN") || rest.starts_with("Infinity") || rest.starts_with("Inf");
}

void explain(const rapidjson::ParseResult& result, std::string_view text, Builder& builder) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  const std::size_t end = last == std::string_view::npos ? 0 : last + 1;
  // A number's error is reported behind its sign or at its start, as the case may be.
  const std::size_t at = result.Offset();
  const std::size_t sign = at > 0 && at <= text.size() && text[at - 1] == '-' ? at - 1 : at;
  if (result.Code() == rapidjson::kParseErrorDocumentEmpty) {
    builder.refuse_at(0, "empty-file", "the file says nothing", "give a config.json of a model");
  } else if (result.Code() == rapidjson::kParseErrorDocumentRootNotSingular) {
    builder.refuse_at(at, "trailing-text", "text follows the end of the JSON value", "keep one value in the file");
  } else if (is_no_number(text.substr(std::min(sign, text.size()))) ||
             is_no_number(text.substr(std::min(at > 0 ? at - 1 : 0, text.size())))) {
    builder.refuse_at(sign, "not-a-number", "NaN and Infinity are no JSON numbers", "write a finite number, or null");
  } else if (result.Code() == rapidjson::kParseErrorNumberTooBig) {
    builder.refuse_at(at, "out-of-range", "this number is too large for any field", "write a smaller one");
  } else if (at >= end) {
    builder.refuse_at(end, "truncated-file", "the file ends inside a value", "copy the file again; its end is missing");
  } else {
    builder.refuse_at(at, "json-syntax", rapidjson::GetParseError_En(result.Code()),
                      "check quotes, commas and brackets near here");
  }
}

}  // namespace

Expected<Node> read_json(std::string_view text, const std::string& file) {
  Diagnostics text_problems = check_text(text, file, kJsonText);
  if (!text_problems.empty()) return text_problems;
  ViewStream stream(text);
  Builder builder(text, file, stream);
  rapidjson::Reader reader;
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseValidateEncodingFlag;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (result.IsError() && builder.problems.empty()) explain(result, text, builder);
  if (!builder.problems.empty()) return std::move(builder.problems);
  return std::move(builder.root);
}

Expected<std::string> read_json_text(const std::string& path) {
  return read_text_file(path, kJsonText);
}

}  // namespace mha
