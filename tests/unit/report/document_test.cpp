#include "report/document.hpp"

#include <doctest/doctest.h>

#include "report/writers/writers.hpp"

using namespace mha::report;

TEST_CASE("text from outside survives literal and plain unchanged") {
  for (const char* text : {"a * b", "**x**", "`code`", "[a](b)", "<b>", "a <= b", "back\\slash", "*", "a|b", ""}) {
    CHECK(plain(literal(text)) == text);
  }
}

TEST_CASE("control characters from outside become spaces") {
  CHECK(literal("a\nb\x1b[31m") == "a b \\[31m");
}

TEST_CASE("a product sign between spaces is not escaped but emphasis is") {
  CHECK(literal("n * d") == "n * d");
  CHECK(literal("*n*") == "\\*n\\*");
}

TEST_CASE("plain drops the marks of inline text") {
  CHECK(plain("**strong** `code` [text](address)") == "strong code text (address)");
}

TEST_CASE("padding counts code points, not bytes") {
  CHECK(pad("\xc3\xa9", 3, Align::left) == "\xc3\xa9  ");
  CHECK(pad("ab", 3, Align::right) == " ab");
  CHECK(pad("abcd", 3, Align::left) == "abcd");
}

TEST_CASE("a Markdown table is aligned and a bar in a cell is escaped") {
  Document doc;
  doc.table({{{"Name"}, {"n", Align::right}}, {{"a|b", "1"}, {"c", "1,000"}}});
  CHECK(markdown(doc) ==
        "| Name |     n |\n"
        "| ---- | ----: |\n"
        "| a\\|b |     1 |\n"
        "| c    | 1,000 |\n");
}

TEST_CASE("front matter quotes what is not a plain word") {
  Document doc;
  doc.front_matter({{{"name", "a-b"}, {"text", "say \"x\": y"}}, {"one", "2b"}});
  CHECK(markdown(doc) == "---\nname: a-b\ntext: \"say \\\"x\\\": y\"\ntags: [one, \"2b\"]\n---\n");
}

TEST_CASE("a fence is longer than the backticks inside") {
  Document doc;
  doc.code("text", "```\n");
  CHECK(markdown(doc) == "````text\n```\n````\n");
}

TEST_CASE("the terminal form wraps paragraphs and colours only when asked") {
  Document doc;
  doc.heading(1, "Head");
  std::string words;
  for (int i = 0; i < 40; ++i) words += "word ";
  doc.paragraph(words);
  const std::string text = terminal(doc, false);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("word\nword") != std::string::npos);
  CHECK(terminal(doc, true).find("\x1b[1mHead\x1b[0m") != std::string::npos);
}
