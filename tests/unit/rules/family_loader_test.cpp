#include <doctest/doctest.h>
#include <set>

#include "rules/family_traits.hpp"
#include "rules/loaders.hpp"
#include "rules/yaml_reader.hpp"

using namespace mha;

namespace {

const std::string kGood =
    "id: x\nname: X\nmodel_types: [x, x_text]\ngguf: [xx]\n"
    "traits: {norm: layer, bias: qkv, norms: 1}\n"
    "defaults: {head_dim: hidden_size / num_attention_heads}\n"
    "aliases: {num_key_value_heads: [attn.kv, kv], hidden_size: width}\n"
    "when:\n  - {if: {bias: [true, on]}, set: {a: 1}, defaults: {b: 2}, traits: {bias: none}}\n"
    "extras:\n  - {name: gates, elements: 2 * hidden_size, where: all}\n"
    "source: {text: somewhere, date: 2026-11-30}\n";

Expected<FamilyRule> load(const std::string& text) {
  const Expected<Node> root = read_yaml(text, "x.yaml");
  REQUIRE(root.has_value());
  return read_family(Document{"x.yaml", "x", *root});
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string code(const std::string& text) {
  const Expected<FamilyRule> family = load(text);
  REQUIRE_FALSE(family.has_value());
  return family.error()[0].code;
}

}  // namespace

TEST_CASE("a family file is read whole") {
  const Expected<FamilyRule> family = load(kGood);
  REQUIRE(family.has_value());
  CHECK(family->model_types == std::vector<std::string>{"x", "x_text"});
  CHECK(family->gguf == std::vector<std::string>{"xx"});
  REQUIRE(family->traits.size() == 3);
  CHECK(family->traits[1].name == "bias");
  CHECK(family->traits[1].value == "qkv");
  CHECK(family->defaults[0].value == "hidden_size / num_attention_heads");
  CHECK(family->aliases[0].second == std::vector<std::string>{"attn.kv", "kv"});
  CHECK(family->aliases[1].second == std::vector<std::string>{"width"});
  REQUIRE(family->cases.size() == 1);
  CHECK(family->cases[0].conditions[0].second == std::vector<std::string>{"true", "on"});
  CHECK(family->cases[0].set[0].name == "a");
  CHECK(family->extras[0].where == "all");
}

TEST_CASE("mistakes in a family file are refused") {
  CHECK(code(with("norms: 1", "normz: 1")) == "unknown-trait");
  CHECK(code(with("norm: layer", "norm: lyaer")) == "unknown-name");
  CHECK(code(with("norms: 1", "norms: many")) == "bad-number");
  CHECK(code(with("bias: none", "bias: some")) == "unknown-name");
  CHECK(code(with("where: all", "where: roof")) == "unknown-name");
  CHECK(code(with("if: ", "iff: ")) == "missing-key");
  CHECK(code(with("model_types: [x, x_text]", "model_types: x")) == "wrong-kind");
  CHECK(code(with("defaults: {head_dim: hidden_size / num_attention_heads}", "defaults: [head_dim]")) == "wrong-kind");
}

TEST_CASE("every trait has a name of its own, and each choice sets something or is the default") {
  std::set<std::string_view> names;
  for (const TraitRow& row : trait_rows()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    bool changes = false;
    const std::vector<std::string> values = row.choices.empty() ? std::vector<std::string>{"3"} : row.choices;
    for (const std::string& value : values) {
      FamilyTraits traits;
      CHECK_FALSE(set_trait(traits, row.name, value).has_value());
      changes = changes || !(traits == FamilyTraits{});
    }
    CHECK(changes);
  }
}
