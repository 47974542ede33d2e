#include <algorithm>
#include <doctest/doctest.h>
#include <string>

#include "mha/rules_loader.hpp"

#include "rules/embedded.hpp"
#include "rules/loaders.hpp"
#include "temp_folder.hpp"

using namespace mha;

namespace {

const std::string kTarget = R"(id: toy
name: Toy
kind: cpu
memory: {value: 8GiB, source: "s", date: 2026-08-21}
reserve: {value: 1GiB, source: "s", date: 2026-08-21}
bandwidth_per_s: {value: 20GB, source: "s", date: 2026-08-21}
peaks_per_s:
  f32: {value: 100G, source: "s", date: 2026-08-21}
tensor_parallel: {value: [1], source: "s", date: 2026-08-21}
kernels:
  - toy-kernel
decode_efficiency_low: {value: 0.5, source: "s", date: 2026-08-21}
prefill_efficiency_low: {value: 0.5, source: "s", date: 2026-08-21}
)";
const std::string kKernel = R"(id: toy-kernel
name: Toy kernel
version: "1"
d_head: []
d_head_multiple: 8
d_head_max: 256
group_sizes: []
latent: []
source: {text: "s", date: 2026-08-21}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string all(const Diagnostics& problems) {
  std::string out;
  for (const Diagnostic& problem : problems) out += to_string(problem) + "\n";
  return out;
}

}  // namespace

TEST_CASE("the embedded rules are clean") {
  const Diagnostics problems = RuleStore().check_all();
  CHECK_MESSAGE(problems.empty(), all(problems));
}

TEST_CASE("every kind of rule is embedded, and ids are sorted") {
  const RuleStore store;
  for (const RuleKind& kind : rule_kinds()) {
    const std::vector<std::string> ids = store.ids(kind.folder);
    CHECK_MESSAGE(!ids.empty(), kind.folder);
    CHECK(std::is_sorted(ids.begin(), ids.end()));
    CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
  }
  CHECK(store.ids("targets").size() >= 14);
  CHECK(store.ids("no-such-folder").empty());
}

TEST_CASE("every embedded target loads with all that a request needs") {
  const RuleStore store;
  for (const std::string& id : store.ids("targets")) {
    const auto rules = store.load(id);
    REQUIRE_MESSAGE(rules.has_value(), id);
    CHECK(rules->target.id == id);
    CHECK(rules->kernels.size() == rules->target.kernels.size());
  }
  const auto rules = store.load("h100-sxm");
  REQUIRE(rules.has_value());
  CHECK(rules->target.memory.value == Bytes(i128{80} << 30));
  REQUIRE(rules->presets.size() == 3);
  CHECK(rules->presets[0].id == "optimistic");
  CHECK(rules->presets[1].id == "default");
  CHECK(rules->presets[2].id == "conservative");
  REQUIRE(rules->priorities.size() == 3);
  CHECK(rules->priorities[0].id == "training");
  CHECK(rules->priorities[2].id == "inference");
  CHECK(std::is_sorted(rules->shapes.begin(), rules->shapes.end(),
                       [](const ShapeRow& a, const ShapeRow& b) { return a.params < b.params; }));
  CHECK(std::is_sorted(rules->constraints.begin(), rules->constraints.end(),
                       [](const ConstraintRule& a, const ConstraintRule& b) { return a.id < b.id; }));
}

TEST_CASE("embedded rules keep their lines") {
  for (const EmbeddedFile& file : embedded_files()) {
    const Document document = to_document(file);
    CHECK(document.root.kind == Node::Kind::map);
    CHECK(document.root.line > 0);
    CHECK(document.root.children.front().key == "id");
    CHECK(document.root.children.front().key_line == document.root.line);
    CHECK(document.root.children.back().key_line > document.root.line);
  }
}

TEST_CASE("an unknown target is answered with its neighbours") {
  const auto rules = RuleStore().load("h100-smx");
  REQUIRE_FALSE(rules.has_value());
  REQUIRE(rules.error().size() == 1);
  CHECK(rules.error()[0].code == "unknown-target");
  CHECK(rules.error()[0].where.key == "target");
  CHECK(rules.error()[0].what == "h100-smx is not a known target");
  CHECK(rules.error()[0].hint.find("did you mean 'h100-sxm'") == 0);
  CHECK(RuleStore().target("h100-smx").error()[0].code == "unknown-target");
  CHECK(RuleStore().kernel("flash-atention-3").error()[0].hint.find("'flash-attention-3'") != std::string::npos);
  CHECK(RuleStore().load("").error()[0].what == "no target is named");
}

TEST_CASE("a typed name never becomes a path") {
  const TempFolder folder;
  folder.write("toy.yaml", kTarget);
  folder.write("targets/a.yaml", replaced(kTarget, "id: toy", "id: a"));
  CHECK(RuleStore(folder.path()).target("../toy").error()[0].code == "unknown-target");
}

TEST_CASE("a user's folder adds a target without any code") {
  const TempFolder folder;
  const std::string file = folder.write("targets/toy.yaml", kTarget);
  folder.write("kernels/toy-kernel.yaml", kKernel);
  const RuleStore store(folder.path());
  const Diagnostics problems = store.check_all();
  CHECK_MESSAGE(problems.empty(), all(problems));
  const auto rules = store.load("toy");
  REQUIRE(rules.has_value());
  CHECK(rules->target.name == "Toy");
  REQUIRE(rules->kernels.size() == 1);
  CHECK(rules->kernels[0].d_head_max == 256);
  CHECK(rules->presets.size() == 3);  // still embedded
  const std::vector<std::string> ids = store.ids("targets");
  CHECK(std::is_sorted(ids.begin(), ids.end()));
  CHECK(ids.size() == RuleStore().ids("targets").size() + 1);
  CHECK(store.load("h100-sxm").has_value());
}

TEST_CASE("a user's file replaces the embedded one of its name") {
  const TempFolder folder;
  folder.write("targets/h100-sxm.yaml", replaced(kTarget, "id: toy", "id: h100-sxm"));
  folder.write("kernels/toy-kernel.yaml", kKernel);
  const RuleStore store(folder.path());
  CHECK(store.target("h100-sxm")->name == "Toy");
  CHECK(store.ids("targets") == RuleStore().ids("targets"));
}

TEST_CASE("a target that names no known kernel is refused at that line") {
  const TempFolder folder;
  const std::string file = folder.write("targets/toy.yaml", kTarget);
  for (const Diagnostics& problems :
       {RuleStore(folder.path()).check_all(), RuleStore(folder.path()).load("toy").error()}) {
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].code == "unknown-kernel");
    CHECK(problems[0].where.file == file);
    CHECK(problems[0].where.line == 11);
    CHECK(problems[0].where.column == 5);
    CHECK(problems[0].where.key == "kernels[0]");
  }
}

TEST_CASE("problems of several files come at once") {
  const TempFolder folder;
  const std::string target = folder.write("targets/toy.yaml", replaced(kTarget, "8GiB", "8G"));
  const std::string kernel = folder.write("kernels/toy-kernel.yaml", kKernel + "name: again\n");
  const Diagnostics problems = RuleStore(folder.path()).check_all();
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].where.file == kernel);
  CHECK(problems[0].code == "duplicate-key");
  CHECK(problems[1].where.file == target);
  CHECK(problems[1].code == "ambiguous-unit");
  // A broken constraint fails every load, since every request would be judged by it.
  folder.write("targets/toy.yaml", kTarget);
  folder.write("kernels/toy-kernel.yaml", kKernel);
  folder.write("constraints/mine.yaml", "id: mine\n");
  CHECK_FALSE(RuleStore(folder.path()).load("toy").has_value());
  CHECK(RuleStore(folder.path()).target("toy").has_value());
}

TEST_CASE("a rules folder that is none, or has folders that would be overlooked, is refused") {
  const TempFolder folder;
  const RuleStore missing(folder.path("none"));
  CHECK(missing.load("h100-sxm").error()[0].code == "no-rules-folder");
  CHECK(missing.check_all()[0].code == "no-rules-folder");
  CHECK(RuleStore(folder.write("file", "x")).target("h100-sxm").error()[0].code == "no-rules-folder");

  folder.write("target/toy.yaml", kTarget);
  const Diagnostics near = RuleStore(folder.path()).check_all();
  REQUIRE(near.size() == 1);
  CHECK(near[0].code == "unknown-folder");
  CHECK(near[0].hint == "did you mean 'targets'?");
}

TEST_CASE("file names that cannot be ids are refused") {
  const TempFolder folder;
  folder.write("targets/toy.yml", kTarget);
  folder.write("targets/Big Toy.yaml", kTarget);
  folder.write("targets/README.md", "read me");
  folder.write("targets/.toy.yaml.swp", "an editor's");
  const Diagnostics problems = RuleStore(folder.path()).check_all();
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].code == "bad-file-name");
  CHECK(problems[1].code == "bad-file-name");
  CHECK(problems[0].where.file == folder.path("targets/Big Toy.yaml"));
  CHECK(RuleStore(folder.path()).ids("targets") == RuleStore().ids("targets"));
}

TEST_CASE("a rule file that is a folder is one clear problem") {
  const TempFolder folder;
  folder.write("targets/toy.yaml/inner", "x");
  const Diagnostics problems = RuleStore(folder.path()).check_all();
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].code == "not-a-file");
}
