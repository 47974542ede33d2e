// What a rule or request file says, before anyone knows what it means: text with positions. Not YAML's own tree, so that
// rules embedded at build time are read by the same loaders without a YAML parser.
#pragma once

#include <string>
#include <vector>

namespace mha {

struct Node {
  enum class Kind : unsigned char { scalar, sequence, map };
  Kind kind = Kind::scalar;
  bool quoted = false;  // a scalar in quotes or a block; an unquoted empty one has no value at all
  int line = 0;         // 1-based
  int column = 0;
  std::string text;  // of a scalar
  std::string key;   // of a map's child
  int key_line = 0;
  int key_column = 0;
  std::vector<Node> children;

  [[nodiscard]] bool is_missing_value() const { return kind == Kind::scalar && !quoted && text.empty(); }
};

struct Document {
  std::string file;  // as messages name it
  std::string id;    // the file's name without folder and extension
  Node root;
};

}  // namespace mha
