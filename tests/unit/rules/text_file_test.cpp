#include "rules/text_file.hpp"

#include <doctest/doctest.h>

#include "temp_folder.hpp"

using namespace mha;

namespace {

Diagnostic only_problem(const std::string& path) {
  const auto text = read_text_file(path);
  REQUIRE_FALSE(text.has_value());
  REQUIRE(text.error().size() == 1);
  CHECK(text.error()[0].where.file == path);
  CHECK_FALSE(text.error()[0].hint.empty());
  return text.error()[0];
}

}  // namespace

TEST_CASE("a text file is read byte for byte") {
  const TempFolder folder;
  const std::string text = "a: \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\r\n\tb";
  CHECK(*read_text_file(folder.write("a.yaml", text)) == text);
  CHECK(read_text_file(folder.write("empty.yaml", ""))->empty());
}

TEST_CASE("a missing file, a folder and a path through a file are told apart") {
  const TempFolder folder;
  CHECK(only_problem(folder.path("none.yaml")).code == "file-not-found");
  CHECK(only_problem(folder.path()).code == "not-a-file");
  const std::string file = folder.write("a.yaml", "a: 1");
  const Diagnostic through = only_problem(file + "/b.yaml");
  CHECK(through.code == "unreadable-file");
  CHECK(through.what.find("not a folder") != std::string::npos);
}

TEST_CASE("binary and huge files are refused") {
  const TempFolder folder;
  const Diagnostic binary = only_problem(folder.write("nul", std::string("a: 1\nb: \0", 9)));
  CHECK(binary.code == "binary-file");
  CHECK(binary.where.line == 2);
  CHECK(binary.where.column == 4);
  CHECK(only_problem(folder.write("huge", std::string(kMaxFileBytes + 1, 'a'))).code == "file-too-large");
  CHECK(read_text_file(folder.write("largest", std::string(kMaxFileBytes, 'a'))).has_value());
  CHECK(only_problem("/dev/zero").code == "file-too-large");
}

TEST_CASE("invalid UTF-8 is refused with its place") {
  const TempFolder folder;
  for (const std::string_view bad : {"\xFF\xFE", "\x80", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xE0\x80\x80",
                                     "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF0\x80\x80\x80", "\xE2\x82"}) {
    const Diagnostic problem = only_problem(folder.write("bad", "\xC3\xA9: 1\n\xC3\xA9" + std::string(bad)));
    CHECK(problem.code == "invalid-utf-8");
    CHECK(problem.where.line == 2);
    CHECK(problem.where.column == 2);  // characters, not bytes
  }
}
