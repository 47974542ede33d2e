// Writes docs/accuracy.md: what the ground-truth run gives, per collection, with every figure that does not agree and why; and
// which report of other tools' users is held by which test. A test compares the page with what this prints.
#include <cstdio>
#include <map>

#include "ground_truth/records.hpp"

namespace mha::ground_truth {
namespace {

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
}

std::string cell(std::string text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

struct Collection {
  const char* id;
  const char* title;
  const char* how;
};

constexpr Collection kCollections[] = {
    {"params", "Parameters",
     "The layout of each record is written as a model file, read and counted. A record agrees when our count, and what "
     "the record says is stored besides, is the published figure to the last digit (three are printed rounded)."},
    {"kv", "KV cache",
     "Payload from the layout and the formats; the cells of a runtime from its rule where the record shows its "
     "rounding. "
     "A record agrees when the printed figure is ours to its last printed digit."},
    {"flops", "FLOPs", "Counted under the convention that the record's source used."},
};

void summary(const std::vector<Outcome>& outcomes) {
  print(
      "| Collection | Records | Agree | Derived exactly, published figure wrong | Not derived |\n| --- | --: | --: | "
      "--: | --: |\n");
  for (const Collection& collection : kCollections) {
    int records = 0, agree = 0, wrong = 0, missed = 0;
    for (const Outcome& o : outcomes) {
      if (o.collection != collection.id) continue;
      ++records;
      if (o.agrees)
        ++agree;
      else if (o.derives)
        ++wrong;
      else
        ++missed;
    }
    print(std::string("| ") + collection.title + " | " + std::to_string(records) + " | " + std::to_string(agree) +
          " | " + std::to_string(wrong) + " | " + std::to_string(missed) + " |\n");
  }
}

void details(const std::vector<Outcome>& outcomes) {
  for (const Collection& collection : kCollections) {
    print(std::string("\n## ") + collection.title + "\n\n" + collection.how + "\n");
    std::map<std::string, int> conventions;
    std::string misses;
    for (const Outcome& o : outcomes) {
      if (o.collection != collection.id) continue;
      if (!o.convention.empty()) ++conventions[o.convention];
      if (o.agrees) continue;
      misses += "| " + cell(o.model) + " | " + cell(o.observed) + " | " + cell(o.derived) + " | " +
                cell(o.problem.empty() ? o.why : o.problem) + " |\n";
    }
    if (!conventions.empty()) {
      print("\n| Convention (`--flops`) | Records |\n| --- | --: |\n");
      for (const auto& [name, count] : conventions) print("| " + cell(name) + " | " + std::to_string(count) + " |\n");
    }
    if (!misses.empty()) {
      print("\nFigures that do not agree:\n\n| Model | Published | Ours | Why |\n| --- | --- | --- | --- |\n" + misses);
    }
    print(
        "\n<details><summary>Every record</summary>\n\n| Record | Published | Ours | Agrees |\n| --- | --: | --: | --- "
        "|\n");
    for (const Outcome& o : outcomes) {
      if (o.collection != collection.id) continue;
      print("| " + cell(o.id) + " | " + cell(o.observed) + " | " + cell(o.derived) + " | " + (o.agrees ? "yes" : "no") +
            " |\n");
    }
    print("\n</details>\n");
  }
}

void duties(const Node& file) {
  print(
      "\n## What users of other calculators reported\n\n"
      "Each report obliges us to something. The test that holds it is named, or the reason why there is none.\n\n"
      "| | Report | What happened | Held by |\n| --: | --- | --- | --- |\n");
  for (const Node& row : child(file, "reports")->children) {
    const std::string test = text_of(row, "test"), why = text_of(row, "why_not");
    print("| " + text_of(row, "row") + " | " + cell(text_of(row, "thread")) + " | " + cell(text_of(row, "what")) +
          " | " +
          (test.empty() ? "Not held: " + cell(why) : "`" + cell(test) + "`" + (why.empty() ? "" : ". " + cell(why))) +
          " |\n");
  }
}

int write_page(const std::string& data) {
  const Node records = load(data + "/ground_truth.yaml");
  const Node reports = load(data + "/field_notes.yaml");
  if (child(records, "records") == nullptr || child(reports, "reports") == nullptr) {
    std::fprintf(stderr, "error: %s: cannot read the data\n", data.c_str());
    return 1;
  }
  const std::vector<Outcome> outcomes = run(records);
  print(
      "# Accuracy\n\n"
      "Written by `./dev accuracy` from the ground-truth run (tests/data/ground_truth.yaml: figures that other people "
      "published or that real programs printed, each with its source); do not edit.\n\n");
  summary(outcomes);
  details(outcomes);
  duties(reports);
  return 0;
}

}  // namespace
}  // namespace mha::ground_truth

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: mha_accuracy tests/data\n");
    return 2;
  }
  return mha::ground_truth::write_page(argv[1]);
}
