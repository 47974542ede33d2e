#include "rules/yaml_reader.hpp"

#include <doctest/doctest.h>

#include "rules/text_file.hpp"

using namespace mha;

namespace {

Node tree(std::string_view text) {
  auto node = read_yaml(text, "t.yaml");
  if (!node) FAIL(to_string(node.error()[0]));
  return *std::move(node);
}

Diagnostics refused(std::string_view text) {
  const auto node = read_yaml(text, "t.yaml");
  REQUIRE_MESSAGE(!node.has_value(), text);
  REQUIRE_FALSE(node.error().empty());
  for (const Diagnostic& problem : node.error()) {
    CHECK(problem.where.file == "t.yaml");
    CHECK(problem.where.line > 0);
    CHECK(problem.where.column > 0);
    CHECK_FALSE(problem.what.empty());
    CHECK_FALSE(problem.hint.empty());
  }
  return node.error();
}

void check_first(std::string_view text, std::string_view code, int line, int column) {
  const Diagnostic problem = refused(text)[0];
  CHECK_MESSAGE(problem.code == code, text);
  CHECK_MESSAGE(problem.where.line == line, text);
  CHECK_MESSAGE(problem.where.column == column, text);
}

}  // namespace

TEST_CASE("maps, lists and scalars keep their text and place") {
  const Node root = tree("# comment\na: 1\nb:\n  - x\n  - \"007\"\nc: {d: yes, e: }\n");
  REQUIRE(root.kind == Node::Kind::map);
  CHECK(root.line == 2);
  REQUIRE(root.children.size() == 3);
  const Node& a = root.children[0];
  CHECK(a.key == "a");
  CHECK(a.text == "1");
  CHECK(a.key_line == 2);
  CHECK(a.key_column == 1);
  CHECK(a.line == 2);
  CHECK(a.column == 4);
  const Node& b = root.children[1];
  REQUIRE(b.kind == Node::Kind::sequence);
  REQUIRE(b.children.size() == 2);
  CHECK(b.children[1].text == "007");
  CHECK(b.children[1].quoted);
  CHECK_FALSE(b.children[0].quoted);
  CHECK(b.children[1].line == 5);
  const Node& c = root.children[2];
  CHECK(c.children[0].text == "yes");  // text; its reader decides
  CHECK(c.children[1].is_missing_value());
}

TEST_CASE("an empty text in quotes is a value, nothing is none") {
  const Node root = tree("a: \"\"\nb:\nc: ~\nd: null\n");
  CHECK_FALSE(root.children[0].is_missing_value());
  CHECK(root.children[1].is_missing_value());
  CHECK(root.children[2].is_missing_value());
  CHECK(root.children[3].is_missing_value());
}

TEST_CASE("a duplicate key names both lines") {
  const Diagnostics problems = refused("a: 1\nb: 2\na: 3\nb: 4\n");
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].code == "duplicate-key");
  CHECK(problems[0].where.line == 3);
  CHECK(problems[0].where.column == 1);
  CHECK(problems[0].where.key == "a");
  CHECK(problems[0].what == "this key stands on line 1 already, and again on line 3");
  CHECK(problems[1].where.key == "b");
  check_first("x: {k: 1, k: 2}\n", "duplicate-key", 1, 11);
  CHECK(tree("x: {k: 1}\ny: {k: 2}\n").children.size() == 2);
  check_first("\"a\": 1\na: 2\n", "duplicate-key", 2, 1);
}

TEST_CASE("anchors, aliases, tags and merge keys are refused") {
  check_first("a: &x 1\n", "anchor", 1, 4);
  CHECK(refused("a: &x 1\nb: *x\n")[1].code == "alias");
  check_first("a: !!str 1\n", "tag", 1, 4);
  check_first("a: !local {b: 1}\n", "tag", 1, 4);
  check_first("<<: {a: 1}\n", "merge-key", 1, 1);
  check_first("a: *nothing\n", "yaml-syntax", 1, 4);
}

TEST_CASE("one document only") {
  check_first("a: 1\n---\nb: 2\n", "multiple-documents", 2, 1);
  CHECK(tree("---\na: 1\n").children.size() == 1);
  CHECK(tree("a: 1\n...\n").children.size() == 1);
}

TEST_CASE("an empty file is refused") {
  for (const std::string_view text : {"", "\n\n", "# only a comment\n", "---\n", "~\n"}) {
    CHECK_MESSAGE(refused(text)[0].code == "empty-file", text);
  }
}

TEST_CASE("syntax errors carry line and column") {
  check_first("a: [1, 2\nb: 3\n", "yaml-syntax", 2, 2);
  for (const std::string_view text :
       {"a: 1\n b: 2\n", "a: {b: 1\n", "a: \"open\n", "a: 1\n\tb: 2\n", "a: @x\n", "]\n", "a: %x\n"}) {
    CHECK_MESSAGE(refused(text)[0].code == "yaml-syntax", text);
  }
}

TEST_CASE("a quote that is never closed is refused whatever ends the file") {
  for (const std::string_view quote : {"\"", "'"}) {
    for (const std::string_view end : {"", "\n", "\n\n", "\r\n", " \n", "\nb: 1\n", "\n# comment\n", "\n\t\n"}) {
      const std::string text = "a: " + std::string(quote) + "open" + std::string(end);
      CHECK_MESSAGE(refused(text)[0].code == "yaml-syntax", text);
    }
  }
  CHECK(tree("a: 'closed'\n\n").children[0].text == "closed");
}

TEST_CASE("keys are names") {
  CHECK(refused("? [a, b]\n: 1\n")[0].code == "bad-key");
  CHECK(refused("{a: 1}: 2\n")[0].code == "bad-key");
  CHECK(refused(": 1\n")[0].code == "bad-key");
}

TEST_CASE("depth, number of values and size are bounded") {
  const auto nested = [](std::size_t depth) { return "a: " + std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(read_yaml(nested(kMaxDepth - 1), "t.yaml").has_value());
  CHECK(refused(nested(kMaxDepth))[0].code == "too-deep");
  CHECK(refused("a: " + std::string(200'000, '['))[0].code == "too-deep");
  std::string many = "[";
  for (std::size_t i = 0; i < kMaxNodes + 10; ++i) many += "1,";
  CHECK(refused(many + "1]")[0].code == "too-many-values");
  CHECK(read_yaml(std::string(kMaxFileBytes + 1, ' '), "t.yaml").error()[0].code == "file-too-large");
}

TEST_CASE("a flood of problems is cut short") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "a: 1\n";
  CHECK(refused(text).size() == 50);
}

TEST_CASE("invalid text never reaches the parser") {
  CHECK(refused("a: \xFF\n")[0].code == "invalid-utf-8");
  CHECK(refused(std::string_view("a: \0\n", 5))[0].code == "binary-file");
}
