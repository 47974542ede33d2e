#include <doctest/doctest.h>
#include <set>
#include <sstream>

#include "unit/report/fixture.hpp"

using namespace mha;
using namespace mha::report_test;

namespace {

std::string written(const char* id, const Recommendation& r, const WriterOptions& options = {}) {
  return find_writer(id)->write(r, options);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Unescaped bars of a line.
int bars(const std::string& line) {
  int n = 0;
  for (std::size_t i = 0; i < line.size(); ++i) n += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
  return n;
}

std::vector<Recommendation> samples() {
  std::vector<Recommendation> all = {recommendation(), recommendation(latent_layout()),
                                     recommendation(grouped_layout("mha", 32, 32, 128), 64)};
  all.push_back(recommendation());
  all.back().validation = validation(all.back().winner().layout, (i128{1} << 100) + 1);
  Recommendation bare = recommendation();  // nothing but a winner
  bare.ranked.resize(1);
  bare.rejected.clear();
  bare.warnings.clear();
  bare.pareto.clear();
  bare.preset_winners.clear();
  bare.ladder.clear();
  bare.tensor_parallel.clear();
  bare.kernels.clear();
  bare.sources.clear();
  all.push_back(bare);
  return all;
}

}  // namespace

TEST_CASE("writers have unique ids and extensions and are found by id") {
  std::set<std::string_view> ids;
  std::set<std::string_view> extensions;
  for (const Writer& writer : writers()) {
    CHECK(ids.insert(writer.id).second);
    CHECK(extensions.insert(writer.extension).second);
    CHECK(find_writer(writer.id) == &writer);
    CHECK(!writer.help.empty());
  }
  CHECK(find_writer("docx") == nullptr);
}

TEST_CASE("every writer accepts every recommendation and repeats its bytes") {
  for (const Recommendation& r : samples()) {
    const Recommendation copy = r;  // other addresses, same values
    for (const Writer& writer : writers()) {
      const std::string text = writer.write(r, {"plot.svg", true});
      CHECK(text.size() > 300);
      CHECK(text.back() == '\n');
      CHECK(text == writer.write(copy, {"plot.svg", true}));
    }
  }
}

TEST_CASE("every Markdown table has the same number of columns in each row") {
  for (const Recommendation& r : samples()) {
    std::istringstream in(written("md", r));
    int expected = 0;
    int tables = 0;
    for (std::string line; std::getline(in, line);) {
      if (line.empty() || line[0] != '|') {
        expected = 0;
        continue;
      }
      if (expected == 0) {
        expected = bars(line);
        ++tables;
      }
      CHECK_MESSAGE(bars(line) == expected, line);
    }
    CHECK(tables >= 10);
  }
}

TEST_CASE("the Markdown report opens with front matter and gives the five answers in order") {
  const std::string text = written("md", recommendation());
  CHECK(text.rfind("---\nname: skill-mha-configurator\ndescription: \"", 0) == 0);
  CHECK(has(text, "\nversion: \""));
  CHECK(has(text, "\ntags: [transformer, attention, gqa,"));
  std::size_t at = 0;
  for (const char* heading :
       {"## 1. Projection variant", "## 2. Head geometry", "## 3. KV-cache estimate", "## 4. Initialisation",
        "## 5. Testability hook", "## 6. Warnings", "Validation by execution", "Assumptions", "Sources", "Reproduce"}) {
    const std::size_t found = text.find(heading, at);
    CHECK_MESSAGE(found != std::string::npos, heading);
    at = found;
  }
}

TEST_CASE("the Markdown report shows the identities and the exact cache") {
  const std::string text = written("md", recommendation());
  CHECK(has(text, "32 mod 8 = 0"));
  CHECK(has(text, "32 * 128 = 4,096 = d_model"));
  CHECK(has(text, "131,072 B"));
  CHECK(has(text, "1,073,741,824 B"));
  CHECK(has(text, "8,030,261,248"));
  CHECK(has(text, "0.015625"));
}

TEST_CASE("text from outside cannot break a Markdown table or bring markup") {
  Recommendation r = recommendation();
  r.rejected.front().why = "a | b `c` <script>";
  const std::string text = written("md", r);
  CHECK(has(text, "a \\| b \\`c\\` \\<script>"));
  CHECK(has(text, "\\<b>here\\</b>"));
}

TEST_CASE("a batch larger than the device is stated plainly") {
  const Recommendation big = recommendation(grouped_layout("mha", 32, 32, 128), 64);    // 256 GiB of cache
  const Recommendation tight = recommendation(grouped_layout("mha", 32, 32, 128), 17);  // 68 GiB and 15 GiB of weights
  for (const char* id : {"md", "txt"}) {
    CHECK(has(written(id, big), "One batch exceeds the device's memory: 64 sequences of 8,192 tokens need 256 GiB"));
    CHECK(has(written(id, tight), "One batch exceeds the device's memory together with the weights"));
    CHECK(has(written(id, recommendation()), "One batch fits"));
  }
  CHECK(has(written("md", big), "**One batch exceeds"));
}

TEST_CASE("the plot is linked only when it exists") {
  CHECK(has(written("md", recommendation(), {"plot.svg", false}), "[plot.svg](plot.svg)"));
  CHECK(has(written("md", recommendation(), {"plot.svg", false}), "--out md:plot.md"));
  CHECK(!has(written("md", recommendation()), ".svg"));
}

TEST_CASE("validation is exact, a mismatch, or said not to have run") {
  Recommendation r = recommendation();
  CHECK(has(written("md", r), "**Not run.**"));
  CHECK(has(written("txt", r), "not run (add --validate)"));
  r.validation = validation(r.winner().layout, (i128{1} << 100) + 1);
  CHECK(has(written("md", r), "**Exact.**"));
  CHECK(has(written("txt", r), "validation  exact"));
  r.validation = validation(r.winner().layout, i128{1} << 100);
  CHECK(has(written("md", r), "**Mismatch.**"));
  CHECK(has(written("md", r), "**differs**"));
  r.validation = validation(r.winner().layout, (i128{1} << 100) + 1);
  r.validation->tolerances.front().difference = 1.5;
  CHECK(has(written("md", r), "**Mismatch.**"));
}

TEST_CASE("the context that no longer fits is named") {
  CHECK(has(written("md", recommendation()), "at 65,536 tokens and batch 16 the layout no longer fits"));
}

TEST_CASE("MLA reports both paths and its latent geometry") {
  Recommendation r = recommendation(latent_layout());
  r.crossover = {37, 0};
  const std::string text = written("md", r);
  CHECK(has(text, "d_kv_latent + d_rope = 512 + 64 = 576"));
  CHECK(has(text, "| expanded |"));
  CHECK(has(text, "| absorbed |"));
  CHECK(has(text, "absorbed is cheaper from 37 tokens"));
  CHECK(!has(written("md", recommendation()), "Two ways"));
}

TEST_CASE("the terminal answer is short and carries no control character without colour") {
  Recommendation r = recommendation();
  r.reason = "red \x1b[31m alert";
  const std::string text = written("txt", r);
  CHECK(std::count(text.begin(), text.end(), '\n') <= 60);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(has(text, "mha-configurator recommend"));
}

TEST_CASE("the SVG marks every point and escapes names") {
  Recommendation r = recommendation();
  r.target.name = "A & B <1>";
  const std::string text = written("svg", r);
  CHECK(has(text, "A &amp; B &lt;1&gt;"));
  CHECK(text.rfind("<svg ", 0) == 0);
  const auto count = [&](const std::string& part) {
    int n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
  };
  CHECK(count("class=\"best\"") == 2);  // point and legend
  CHECK(count("class=\"front\"") == 2);
  CHECK(count("class=\"other\"") == 2);
  CHECK(has(text, "nats per token"));
}
