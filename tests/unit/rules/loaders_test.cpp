#include "rules/loaders.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

#include "mha/attention.hpp"

#include "rules/yaml_reader.hpp"

using namespace mha;

namespace {

// A good file of each kind; tests break one line at a time.
const std::string kTarget = R"(id: x
name: X
kind: gpu
memory: {value: 80GiB, source: "s", date: 2026-08-21}
reserve: {value: 3.5GiB, source: "s", date: 2026-08-21}
bandwidth_per_s: {value: 3.35TB, source: "s", date: 2026-08-21}
peaks_per_s:
  f32: {value: 67T, source: "s", date: 2026-08-21}
  bf16: {value: 989T, source: "s", date: 2026-08-21}
tensor_parallel: {value: [1, 2, 4, 8], source: "s", date: 2026-08-21}
kernels: [flash-attention-3]
decode_efficiency_low: {value: 0.65, source: "s", date: 2026-08-21}
prefill_efficiency_low: {value: 0.48, source: "s", date: 2026-08-21}
)";
const std::string kKernel = R"(id: x
name: X
version: "1"
d_head: [64, 128]
d_head_multiple: 8
d_head_max: 256
group_sizes: []
latent: ["512+64"]
source: {text: "s", date: 2026-08-21}
)";
const std::string kQuality = R"(id: x
param_a: 406.4
param_alpha: 0.339
s_a: 0.031
s_b: -0.005
s_w: 0.009
size_exponent: -0.2
reference_params: 1B
noise_band: 0.01
variant_offset: {mha: 0, mqa: 0, gqa: 0, mla: 0.024, gta: 0, gla: 0.028, mfa: 0.008, tpa: 0.009}
narrow_kv_penalty: 0.01
narrow_kv_width: 256
narrow_kv_params: 1000000000
small_head_64_to_32: 0.018
small_head_to_16: 0.048
one_or_two_heads: 0.07
latent_full_ratio: 4
source: {text: "s", date: 2026-08-21}
note: ""
)";
const std::string kPriority = R"(id: x
quality_slack: 0.015
objective: decode_time
source: {text: "s", date: 2026-08-21}
)";
const std::string kConstraint = R"(id: x
severity: reject
thresholds: {min: 32}
why: "because"
source: {text: "s", date: 2026-08-21}
)";
const std::string kShape = R"(id: x
params: 8030261248
d_model: 4096
n_layers: 32
n_heads: 32
n_kv_heads: 8
d_head: 128
d_ff: 14336
vocab_size: 128256
tied_embeddings: false
source: {text: "s", date: 2026-08-21}
)";

const std::string kFamily = R"(id: x
name: X
model_types: [x]
source: {text: "s", date: 2026-08-21}
)";
const std::string kModel = R"(id: x
name: X
d_model: 64
vocab_size: 100
tied_embeddings: true
norm: rms
n_layers: 2
layers:
  full: {attention: {n_heads: 4, n_kv_heads: 2, d_head: 16}, feed_forward: {gated: true, d_ff: 128}}
source: {text: "s", date: 2026-08-21}
)";
const std::string kRuntime = R"(id: x
name: X
version: "1"
block_tokens: 16
spare_tokens: 0
window: blocks
window_block: 16
step_tokens: 8192
shared_context: false
unified_pages: true
latent_cache: true
source: {text: "s", date: 2026-08-21}
)";
const std::string kConversion = R"(id: x
from: [mha]
to: [gqa]
method: "m"
cost: "c"
effect: "e"
scale: "1B"
tier: T2
source: {text: "s", date: 2026-08-21}
)";

Document document(const std::string& text, const std::string& id = "x") {
  auto root = read_yaml(text, "x.yaml");
  if (!root) FAIL(to_string(root.error()[0]));
  return Document{"x.yaml", id, *std::move(root)};
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

std::string good(std::string_view folder) {
  if (folder == "targets") return kTarget;
  if (folder == "kernels") return kKernel;
  if (folder == "quality") return kQuality;
  if (folder == "priorities") return kPriority;
  if (folder == "constraints") return kConstraint;
  if (folder == "families") return kFamily;
  if (folder == "models") return kModel;
  if (folder == "runtimes") return kRuntime;
  if (folder == "conversions") return kConversion;
  return kShape;
}

Diagnostics check(std::string_view folder, const std::string& text) {
  const Diagnostics problems = find_rule_kind(folder)->check(document(text));
  for (const Diagnostic& problem : problems) {
    CHECK(problem.where.file == "x.yaml");
    CHECK_MESSAGE(problem.where.line > 0, to_string(problem));
    CHECK_MESSAGE(problem.where.column > 0, to_string(problem));
    CHECK_MESSAGE(!problem.where.key.empty(), to_string(problem));
    CHECK_MESSAGE(!problem.what.empty(), to_string(problem));
    CHECK_MESSAGE(!problem.hint.empty(), to_string(problem));
  }
  return problems;
}

// Exactly one problem, with this code, key and line.
Diagnostic only(std::string_view folder, const std::string& text, std::string_view code, std::string_view key,
                int line) {
  const Diagnostics problems = check(folder, text);
  REQUIRE_MESSAGE(problems.size() == 1, text);
  CHECK_MESSAGE(problems[0].code == code, to_string(problems[0]));
  CHECK_MESSAGE(problems[0].where.key == key, to_string(problems[0]));
  CHECK_MESSAGE(problems[0].where.line == line, to_string(problems[0]));
  return problems[0];
}

}  // namespace

TEST_CASE("a good file of each kind has no problem") {
  for (const RuleKind& kind : rule_kinds()) CHECK_MESSAGE(check(kind.folder, good(kind.folder)).empty(), kind.folder);
}

TEST_CASE("every kind refuses an unknown key with a suggestion") {
  for (const RuleKind& kind : rule_kinds()) {
    const std::string text = good(kind.folder);
    const int line = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
    const Diagnostic problem = only(kind.folder, text + "sorce: 1\n", "unknown-key", "sorce", line);
    if (kind.folder != "targets") CHECK(problem.hint == "did you mean 'source'?");
  }
}

TEST_CASE("every kind names each key that is missing") {
  for (const RuleKind& kind : rule_kinds()) {
    const Node root = document(good(kind.folder)).root;
    for (const Node& child : root.children) {
      if (child.key == "note") continue;
      Document broken{"x.yaml", "x", root};
      std::erase_if(broken.root.children, [&](const Node& other) { return other.key == child.key; });
      const Diagnostics problems = kind.check(broken);
      REQUIRE_MESSAGE(problems.size() == 1, child.key);
      CHECK(problems[0].code == "missing-key");
      CHECK(problems[0].where.key == child.key);
      CHECK(problems[0].where.line == 1);
      CHECK(problems[0].what == "the key '" + child.key + "' is missing from the map on line 1");
    }
  }
}

TEST_CASE("every value of every kind is refused when its shape is wrong") {
  for (const RuleKind& kind : rule_kinds()) {
    const Node root = document(good(kind.folder)).root;
    for (std::size_t i = 0; i < root.children.size(); ++i) {
      Document broken{"x.yaml", "x", root};
      Node& child = broken.root.children[i];
      const bool scalar = child.kind == Node::Kind::scalar;
      child.kind = scalar ? Node::Kind::sequence : Node::Kind::scalar;
      child.text = "x";
      child.children.clear();
      const Diagnostics problems = kind.check(broken);
      REQUIRE_MESSAGE(problems.size() == 1, child.key);
      CHECK_MESSAGE(problems[0].code == "wrong-kind", to_string(problems[0]));
      CHECK(problems[0].where.key == child.key);
    }
  }
}

TEST_CASE("every kind refuses an id that is not the file name") {
  for (const RuleKind& kind : rule_kinds()) {
    const Diagnostic problem =
        only(kind.folder, with(good(kind.folder), "id: x", "id: y"), "id-not-file-name", "id", 1);
    CHECK(problem.hint == "write 'id: x', or rename the file to y.yaml");
  }
}

TEST_CASE("every kind needs a source with a real date") {
  for (const RuleKind& kind : rule_kinds()) {
    for (const std::string date :
         {"2026-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "yesterday", "2026-04-31", "26-01-01x"}) {
      CHECK(check(kind.folder, with(good(kind.folder), "2026-08-21", date)).at(0).code == "bad-date");
    }
    CHECK(check(kind.folder, with(good(kind.folder), "2026-08-21", "2028-02-29")).empty());
    CHECK(check(kind.folder, with(good(kind.folder), "\"s\"", "\"\"")).at(0).code == "empty-text");
  }
}

TEST_CASE("a target is read with every figure and its source") {
  const auto target = read_target(document(kTarget));
  REQUIRE(target.has_value());
  CHECK(target->memory.value == Bytes(i128{80} << 30));
  CHECK(target->memory.source.date == "2026-08-21");
  CHECK(target->reserve.value == Bytes(3'758'096'384));
  CHECK(target->bandwidth_per_s.value == 3.35e12);
  CHECK(target->peaks_per_s.at("bf16").value == 989e12);
  CHECK(target->peaks_per_s.size() == 2);
  CHECK(target->tensor_parallel == std::vector<std::int64_t>{1, 2, 4, 8});
  CHECK(target->kernels == std::vector<std::string>{"flash-attention-3"});
  CHECK(target->decode_efficiency_low.value == 0.65);
  CHECK(target->note.empty());
}

TEST_CASE("figures of a target that cannot be are refused where they stand") {
  only("targets", with(kTarget, "80GiB", "0"), "out-of-range", "memory.value", 4);
  only("targets", with(kTarget, "80GiB", "80G"), "ambiguous-unit", "memory.value", 4);
  only("targets", with(kTarget, "80GiB", "-80GiB"), "out-of-range", "memory.value", 4);
  only("targets", with(kTarget, "3.5GiB", "80GiB"), "out-of-range", "reserve", 5);
  only("targets", with(kTarget, "3.35TB", "0"), "out-of-range", "bandwidth_per_s.value", 6);
  only("targets", with(kTarget, "3.35TB", "3.35"), "out-of-range", "bandwidth_per_s.value", 6);
  only("targets", with(kTarget, "989T", "-1"), "out-of-range", "peaks_per_s.bf16.value", 9);
  only("targets", with(kTarget, "bf16:", "bf61:"), "unknown-key", "peaks_per_s.bf61", 9);
  for (const std::string part : {"0", "1.01", "-0.5"}) {
    only("targets", with(kTarget, "0.65", part), "out-of-range", "decode_efficiency_low.value", 12);
    only("targets", with(kTarget, "0.48", part), "out-of-range", "prefill_efficiency_low.value", 13);
  }
  CHECK(check("targets", with(kTarget, "0.65", "1")).empty());
  only("targets", with(kTarget, "gpu", "gpo"), "unknown-name", "kind", 3);
  only("targets", with(kTarget, "[1, 2, 4, 8]", "[2, 4]"), "out-of-range", "tensor_parallel.value", 10);
  only("targets", with(kTarget, "[1, 2, 4, 8]", "[1, 4, 2]"), "not-rising", "tensor_parallel.value", 10);
  only("targets", with(kTarget, "[1, 2, 4, 8]", "[1, 2.5]"), "not-whole", "tensor_parallel.value[1]", 10);
  only("targets", with(kTarget, "value: 80GiB, ", ""), "missing-key", "memory.value", 4);
  only("targets", with(kTarget, "value: 80GiB", "value: "), "missing-value", "memory.value", 4);
}

TEST_CASE("a target without any peak is refused") {
  std::string text = kTarget;
  text.erase(text.find("  f32:"), text.find("tensor_parallel") - text.find("  f32:"));
  text = with(text, "peaks_per_s:", "peaks_per_s: {}");
  only("targets", text, "empty-map", "peaks_per_s", 7);
}

TEST_CASE("a kernel's widths must fit each other") {
  const auto kernel = read_kernel(document(kKernel));
  REQUIRE(kernel.has_value());
  CHECK(kernel->d_head == std::vector<std::int64_t>{64, 128});
  CHECK(kernel->d_head_multiple == 8);
  CHECK(kernel->latent == std::vector<std::string>{"512+64"});
  only("kernels", with(kKernel, "256", "96"), "out-of-range", "d_head_max", 6);
  only("kernels", with(kKernel, "[64, 128]", "[64, 64]"), "not-rising", "d_head", 4);
  only("kernels", with(kKernel, "d_head_multiple: 8", "d_head_multiple: 0"), "out-of-range", "d_head_multiple", 5);
  CHECK(read_kernel(document(with(kKernel, "512+64", "2x256+64")))->latent == std::vector<std::string>{"2x256+64"});
  CHECK(kernel->variants.empty());
  const std::string naming = with(kKernel, "source:", "variants: [gla, gta]\nsource:");
  CHECK(read_kernel(document(naming))->variants == std::vector<std::string>{"gla", "gta"});
  only("kernels", with(naming, "gta", "gqa"), "unknown-name", "variants[1]", 9);  // any grouped kernel computes it
  for (const std::string pair : {"512", "512+", "+64", "a+b", "512+64+1", "1x256+64", "x256+64", "2x+64"}) {
    only("kernels", with(kKernel, "512+64", pair), "bad-latent", "latent[0]", 8);
  }
}

TEST_CASE("a quality preset knows the variants") {
  const auto preset = read_quality(document(kQuality));
  REQUIRE(preset.has_value());
  CHECK(preset->reference_params == 1e9);
  CHECK(preset->s_b == -0.005);
  CHECK(preset->variant_offset.at("mla") == 0.024);
  CHECK(preset->variant_offset.size() == variants().size());
  const Diagnostic problem = only("quality", with(kQuality, "mla: 0.024", "mla: 0.024, mlaa: 0.024"), "unknown-key",
                                  "variant_offset.mlaa", 10);
  CHECK(problem.hint == "did you mean 'mla'?");
  // A variant without an offset would be priced as good as MHA.
  const Diagnostic missing =
      only("quality", with(kQuality, ", tpa: 0.009", ""), "missing-offset", "variant_offset", 10);
  CHECK(missing.what.find("tpa") != std::string::npos);
  CHECK(missing.hint.find("conservative") != std::string::npos);
  only("quality", with(kQuality, "0.031", "31"), "out-of-range", "s_a", 4);
  only("quality", with(kQuality, "0.031", "0,031"), "bad-suffix", "s_a", 4);
}

TEST_CASE("priorities and constraints take known words only") {
  const Diagnostic objective =
      only("priorities", with(kPriority, "decode_time", "decode-tim"), "unknown-name", "objective", 3);
  CHECK(objective.hint == "did you mean 'decode_time'?");
  only("priorities", with(kPriority, "0.015", "-0.1"), "out-of-range", "quality_slack", 2);
  only("constraints", with(kConstraint, "reject", "refuse"), "unknown-name", "severity", 2);
  only("constraints", with(kConstraint, "min: 32", "min: many"), "bad-number", "thresholds.min", 3);
  CHECK(read_constraint(document(kConstraint))->thresholds.at("min") == 32);
}

TEST_CASE("a shape must be a model") {
  CHECK(read_shape(document(kShape))->n_kv_heads == 8);
  only("shapes", with(kShape, "n_kv_heads: 8", "n_kv_heads: 5"), "kv-heads-divide", "n_kv_heads", 6);
  only("shapes", with(kShape, "tied_embeddings: false", "tied_embeddings: no"), "bad-boolean", "tied_embeddings", 10);
  only("shapes", with(kShape, "8030261248", "1e30"), "out-of-range", "params", 2);
}

TEST_CASE("all problems of a file come at once") {
  const std::string text = with(with(with(kTarget, "80GiB", "80G"), "name: X\n", "nam: X\n"), "0.65", "65");
  const Diagnostics problems = check("targets", text);
  CHECK(problems.size() == 4);  // memory, the missing name, the unknown nam, the efficiency
}

TEST_CASE("a rule that is a list is refused") {
  for (const RuleKind& kind : rule_kinds()) {
    const Diagnostics problems = kind.check(document("- 1\n"));
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].code == "wrong-kind");
  }
}
