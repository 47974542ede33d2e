// Where answers go: files that are whole or not touched, standard output that may fail.
#include <doctest/doctest.h>
#include <filesystem>
#include <rapidjson/document.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.hpp"

using namespace cli_test;
namespace fs = std::filesystem;

TEST_CASE("json on standard output is one valid document") {
  const Tool tool;
  const Ran ran = tool("recommend " + kRequest + " --out json:-");
  CHECK(ran.exit_code == 0);
  rapidjson::Document json;
  json.Parse(ran.out.c_str());
  REQUIRE(!json.HasParseError());
  CHECK(json["schema_version"].GetInt() == 1);
  CHECK(json["decision"]["n_heads"].GetInt64() > 0);
  CHECK(contains(json["validation"]["status"].GetString(), "not run"));
  const Ran validated = tool("recommend " + kRequest + " --validate --out json:-");
  json.Parse(validated.out.c_str());
  REQUIRE(!json.HasParseError());
  CHECK(contains(json["validation"]["status"].GetString(), "exact"));
}

TEST_CASE("several outputs of one run, the picture beside the Markdown, and no temporary left") {
  const Tool tool;
  const Ran ran = tool("recommend " + kRequest + " --out md:report.md --out json:answer.json --out txt:-");
  CAPTURE(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(tool.files() == std::vector<std::string>{"answer.json", "report.md", "report.svg"});
  CHECK(contains(tool.read("report.md"), "report.svg"));
  CHECK(tool.read("report.svg").starts_with("<svg"));
  CHECK(tool.read("answer.json") == tool("recommend " + kRequest + " --validate --out json:-").out);
  CHECK(!ran.out.empty());
  // Markdown on standard output has no picture to link to.
  CHECK(!contains(tool("recommend " + kRequest + " --out md:-").out, ".svg)"));
}

TEST_CASE("naming the picture of a Markdown file as an output of its own is no conflict") {
  const Tool tool;
  CHECK(tool("recommend " + kRequest + " --out md:a.md --out svg:a.svg").exit_code == 0);
  CHECK(tool.files() == std::vector<std::string>{"a.md", "a.svg"});
  const Ran clash = tool("recommend " + kRequest + " --out md:b.md --out json:b.svg");
  CHECK(clash.exit_code == 3);
  CHECK(contains(clash.err, "two outputs"));
}

TEST_CASE("a run that is repeated writes the same bytes") {
  const Tool tool;
  CHECK(tool("recommend " + kRequest + " --out md:report.md").exit_code == 0);
  const std::string first = tool.read("report.md");
  CHECK(tool("recommend " + kRequest + " --out md:report.md").exit_code == 0);
  CHECK(first.size() > 1000);
  CHECK(tool.read("report.md") == first);
}

TEST_CASE("an output that cannot be written is refused before the work and no file is left") {
  const Tool tool;
  fs::create_directory(tool.folder() + "/folder");
  tool.write("plain", "text");
  struct Case {
    std::string out;
    std::string said;
  };
  for (const Case& c : {Case{"md:folder", "is a directory"}, Case{"md:nowhere/report.md", "does not exist"},
                        Case{"md:plain/report.md", "not a folder"}, Case{"md:folder/", "is a directory"},
                        Case{"md:" + std::string(300, 'x'), "too long"}, Case{"md:", "no path"},
                        Case{"report.md", "md:report.md"}, Case{"jsn:-", "did you mean 'json'"}}) {
    CAPTURE(c.out);
    const Ran ran = tool("recommend " + kRequest + " --out json:ok.json --out " + c.out);
    CAPTURE(ran.err);
    CHECK(ran.exit_code == 3);
    CHECK(contains(ran.err, "--out"));
    CHECK(contains(ran.err, c.said));
    CHECK(tool.files() == std::vector<std::string>{"folder", "plain"});
    CHECK(tool.read("plain") == "text");
  }
}

TEST_CASE("a folder that may not be written to is refused") {
  if (::geteuid() == 0) {
    // Root may write everywhere but on the kernel's own file system.
    const Tool tool;
    const Ran ran = tool("recommend " + kRequest + " --out md:/proc/report.md");
    CHECK(ran.exit_code == 3);
    CHECK(contains(ran.err, "/proc/report.md"));
    return;
  }
  const Tool tool;
  fs::create_directory(tool.folder() + "/closed");
  ::chmod((tool.folder() + "/closed").c_str(), 0500);
  const Ran ran = tool("recommend " + kRequest + " --out md:closed/report.md");
  CHECK(ran.exit_code == 3);
  CHECK(contains(ran.err, "Permission denied"));
}

TEST_CASE("a full disk is an error and the other files of the run stay as they were") {
  const Tool tool;
  tool.write("old.json", "old");
  const Ran ran = tool("recommend " + kRequest + " --out json:old.json --out md:/dev/full");
  CHECK(ran.exit_code == 3);
  CHECK(contains(ran.err, "/dev/full"));
  CHECK(contains(ran.err, "No space left"));
  CHECK(tool.read("old.json") == "old");
  CHECK(tool.files() == std::vector<std::string>{"old.json"});
}

TEST_CASE("standard output that is full, closed or not read is an error") {
  const Tool tool;
  for (const Stdout where : {Stdout::full_disk, Stdout::closed, Stdout::broken_pipe}) {
    for (const std::string& line :
         std::vector<std::string>{"recommend " + kRequest + " --out json:- --out md:report.md", std::string("--help"),
                                  std::string("list targets"), "explain " + kRequest}) {
      CAPTURE(static_cast<int>(where));
      CAPTURE(line);
      std::vector<std::string> words;
      for (std::size_t start = 0; start < line.size();) {
        const std::size_t space = std::min(line.find(' ', start), line.size());
        words.push_back(line.substr(start, space - start));
        start = space + 1;
      }
      const Ran ran = tool.run(words, "", where);
      CHECK(ran.exit_code == 3);
      CHECK(contains(ran.err, "error: "));
      CHECK(contains(ran.err, "cannot write"));
      CHECK(tool.files().empty());
    }
  }
}

TEST_CASE("two outputs to one place are refused") {
  const Tool tool;
  fs::create_directory(tool.folder() + "/folder");
  fs::create_symlink("report.md", tool.folder() + "/link.md");
  for (const std::string& outs : std::vector<std::string>{
           "--out md:report.md --out txt:report.md", "--out json:- --out txt:-",
           "--out md:report.md --out txt:./folder/../report.md", "--out txt:report.md --out txt:link.md"}) {
    CAPTURE(outs);
    const Ran ran = tool("recommend " + kRequest + " " + outs);
    CHECK(ran.exit_code == 3);
    CHECK(contains(ran.err, "two outputs"));
    CHECK(tool.files() == std::vector<std::string>{"folder", "link.md"});
  }
}

TEST_CASE("a link is followed, and a replaced file keeps its permissions") {
  const Tool tool;
  tool.write("real/report.json", "old");
  fs::permissions(tool.folder() + "/real/report.json", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real/report.json", tool.folder() + "/link.json");
  CHECK(tool("recommend " + kRequest + " --out json:link.json").exit_code == 0);
  CHECK(fs::is_symlink(tool.folder() + "/link.json"));
  CHECK(tool.read("real/report.json").starts_with("{"));
  CHECK((fs::status(tool.folder() + "/real/report.json").permissions() & fs::perms::all) ==
        (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(tool.files() == std::vector<std::string>{"link.json", "real"});
}

TEST_CASE("messages go to standard error and carry no colour") {
  const Tool tool;
  const Ran ran =
      tool("recommend --params 70B --seq-len 128k --target h100-sxm --tensor-parallel 8 --batch 8 --out json:-");
  CHECK(ran.exit_code == 0);
  CHECK(contains(ran.err, "warning: "));
  CHECK(!contains(ran.err, "\033"));
  CHECK(!contains(ran.out, "warning: "));
  CHECK(!contains(tool("recommend " + kRequest).out, "\033"));
}
