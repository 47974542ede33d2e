#include "readers/json_reader.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

#include "unit/rules/temp_folder.hpp"

using namespace mha;

namespace {

Node read(const std::string& text) {
  Expected<Node> root = read_json(text, "t.json");
  if (!root) FAIL(to_string(root.error()[0]));
  return *std::move(root);
}

Diagnostic problem(const std::string& text) {
  const Expected<Node> root = read_json(text, "t.json");
  REQUIRE_FALSE(root.has_value());
  REQUIRE(root.error().size() == 1);
  CHECK(root.error()[0].where.file == "t.json");
  return root.error()[0];
}

}  // namespace

TEST_CASE("JSON values keep their spelling, kind and place") {
  const Node root = read("{\"a\": 1,\n  \"b\" : [true, null, \"x\\\"y\", -2.5e3],\n \"c\":{}}");
  REQUIRE(root.kind == Node::Kind::map);
  REQUIRE(root.children.size() == 3);
  CHECK(root.line == 1);
  CHECK(root.column == 1);
  const Node& a = root.children[0];
  CHECK(a.key == "a");
  CHECK(a.key_line == 1);
  CHECK(a.key_column == 2);
  CHECK(a.text == "1");
  CHECK_FALSE(a.quoted);
  CHECK(a.column == 7);
  const Node& b = root.children[1];
  CHECK(b.key_line == 2);
  CHECK(b.key_column == 3);
  CHECK(b.column == 9);
  REQUIRE(b.children.size() == 4);
  CHECK(b.children[0].text == "true");
  CHECK(b.children[0].column == 10);
  CHECK(is_null(b.children[1]));
  CHECK(b.children[1].column == 16);
  CHECK(b.children[2].text == "x\"y");
  CHECK(b.children[2].quoted);
  CHECK(b.children[2].column == 22);
  CHECK(b.children[3].text == "-2.5e3");
  CHECK(b.children[3].column == 30);
  CHECK(root.children[2].kind == Node::Kind::map);
  CHECK(root.children[2].line == 3);
  CHECK(root.children[2].column == 6);
}

TEST_CASE("a text that says null is not null") {
  const Node root = read(R"(["null", null, ""])");
  CHECK_FALSE(is_null(root.children[0]));
  CHECK(is_null(root.children[1]));
  CHECK_FALSE(is_null(root.children[2]));
}

TEST_CASE("columns count characters, and backslashes do not hide a string's start") {
  const Node root = read("{\"\xC3\xA9\": \"\\\\\", \"k\\\\\\\"\": \"a\\\\\\\"b\"}");
  CHECK(root.children[0].key == "\xC3\xA9");
  CHECK(root.children[0].column == 7);
  CHECK(root.children[0].text == "\\");
  CHECK(root.children[1].key == "k\\\"");
  CHECK(root.children[1].key_column == 13);
  CHECK(root.children[1].text == "a\\\"b");
  CHECK(root.children[1].column == 22);
}

TEST_CASE("escapes become UTF-8") {
  CHECK(read(R"("\u00e9\ud83d\ude00")").text == "\xC3\xA9\xF0\x9F\x98\x80");
  CHECK(problem(R"("\ud83d")").code == "json-syntax");
  CHECK(problem(R"("\x")").code == "json-syntax");
}

TEST_CASE("equal keys are refused, those of different maps are not") {
  const Diagnostic twice = problem("{\"a\": 1,\n \"a\": 2}");
  CHECK(twice.code == "duplicate-key");
  CHECK(twice.where.line == 2);
  CHECK(twice.where.column == 2);
  CHECK(twice.where.key == "a");
  CHECK(problem(R"({"a": 1, "\u0061": 2})").code == "duplicate-key");
  CHECK(read(R"({"a": {"a": 1}, "b": {"a": 2}})").children.size() == 2);
}

TEST_CASE("what is no JSON is told apart") {
  CHECK(problem("").code == "empty-file");
  CHECK(problem("  \n").code == "empty-file");
  CHECK(problem("{").code == "truncated-file");
  CHECK(problem("[1,").code == "truncated-file");
  CHECK(problem("\"abc").code == "truncated-file");
  CHECK(problem("{\"a\": 1.").code == "truncated-file");
  CHECK(problem("[NaN]").code == "not-a-number");
  CHECK(problem("[-NaN]").code == "not-a-number");
  CHECK(problem("[Infinity]").code == "not-a-number");
  CHECK(problem("[1] 2").code == "trailing-text");
  CHECK(problem("{} {}").code == "trailing-text");
  CHECK(problem("[01]").code == "json-syntax");
  CHECK(problem("[+1]").code == "json-syntax");
  CHECK(problem("[1,]").code == "json-syntax");
  CHECK(problem("{a: 1}").code == "json-syntax");
  CHECK(problem("[nil]").code == "json-syntax");
  CHECK(problem("\"a\nb\"").code == "json-syntax");
  CHECK(problem("\"\xFF\"").code == "invalid-utf-8");
  CHECK(problem(std::string("\"\0\"", 3)).code == "binary-file");
}

TEST_CASE("huge numbers stay text") {
  CHECK(read("123456789012345678901234567890").text == "123456789012345678901234567890");
  CHECK(read("1e308").text == "1e308");
  CHECK(problem("[1, 1e999]").code == "out-of-range");
  CHECK(problem("[1, 1e999]").where.column == 5);
}

TEST_CASE("nesting, values and size are bounded") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(read(nested(kMaxJsonDepth)).kind == Node::Kind::sequence);
  CHECK(problem(nested(kMaxJsonDepth + 1)).code == "too-deep");
  CHECK(problem(std::string(1'000'000, '[')).code == "too-deep");
  const auto numbers = [](std::size_t n) {
    std::string text = "[";
    for (std::size_t i = 0; i < n; ++i) text += i == 0 ? "1" : ",1";
    return text + "]";
  };
  CHECK(read(numbers(kMaxJsonNodes - 1)).children.size() == kMaxJsonNodes - 1);
  CHECK(problem(numbers(kMaxJsonNodes)).code == "too-many-values");
  CHECK(problem("\"" + std::string(kMaxJsonBytes, 'a') + "\"").code == "file-too-large");
}

TEST_CASE("of a file of 100 MB no more than the limit is read") {
  const TempFolder folder;
  const std::string path = folder.write("huge.json", "{");
  std::filesystem::resize_file(path, 100'000'000);
  const Expected<std::string> text = read_json_text(path);
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error()[0].code == "file-too-large");
  CHECK(text.error()[0].where.file == path);
  CHECK(*read_json_text(folder.write("small.json", "{}")) == "{}");
  CHECK(read_json_text("/dev/zero").error()[0].code == "file-too-large");
}
