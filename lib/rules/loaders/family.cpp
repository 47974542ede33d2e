// rules/families/<id>.yaml: what a family's config.json files leave unsaid.
#include "mha/family.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "rules/family_traits.hpp"
#include "rules/loaders.hpp"

namespace mha {
namespace {

// name: value lines, in the order of the file. Absent: none.
template <class Check>
std::vector<FamilySetting> read_settings(MapReader& reader, std::string_view key, Check check) {
  std::vector<FamilySetting> out;
  const Node* map = reader.find(key, false);
  if (map == nullptr) return out;
  if (map->kind != Node::Kind::map) {
    reader.problem(*map, reader.path_of(key), "wrong-kind", "this must be a map", "write 'name: value' lines");
    return out;
  }
  for (const Node& child : map->children) {
    std::string value;
    const std::string path = reader.path_of(key) + "." + child.key;
    if (!reader.take(child, path, parse_text, value)) continue;
    if (const std::optional<Diagnostic> found = check(child.key, value)) {
      reader.problem(child, path, found->code, found->what, found->hint);
      continue;
    }
    out.push_back({child.key, value});
  }
  return out;
}

std::optional<Diagnostic> any(const std::string&, const std::string&) {
  return std::nullopt;
}

std::optional<Diagnostic> check_trait(const std::string& name, const std::string& value) {
  FamilyTraits scratch;
  return set_trait(scratch, name, value);
}

// field: value or field: [values]
std::vector<std::pair<std::string, std::vector<std::string>>> read_lists(MapReader& reader, std::string_view key,
                                                                         bool required) {
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  const Node* map = reader.find(key, required);
  if (map == nullptr) return out;
  if (map->kind != Node::Kind::map) {
    reader.problem(*map, reader.path_of(key), "wrong-kind", "this must be a map", "write 'name: [a, b]' lines");
    return out;
  }
  for (const Node& child : map->children) {
    std::vector<std::string> values;
    const std::string path = reader.path_of(key) + "." + child.key;
    const auto add = [&](const Node& node) {
      std::string value;
      if (reader.take(node, path, parse_text, value)) values.push_back(value);
    };
    if (child.kind == Node::Kind::sequence) {
      for (const Node& item : child.children) add(item);
    } else {
      add(child);
    }
    out.emplace_back(child.key, std::move(values));
  }
  return out;
}

std::vector<FamilyCase> read_cases(MapReader& reader, const std::string& file, Diagnostics& problems) {
  std::vector<FamilyCase> out;
  const Node* list = reader.find("when", false);
  if (list == nullptr) return out;
  if (list->kind != Node::Kind::sequence) {
    reader.problem(*list, "when", "wrong-kind", "this must be a list", "write '- {if: ..., traits: ...}' lines");
    return out;
  }
  for (std::size_t i = 0; i < list->children.size(); ++i) {
    MapReader inner(&list->children[i], file, "when[" + std::to_string(i) + "]", problems);
    FamilyCase c;
    c.conditions = read_lists(inner, "if", true);
    c.set = read_settings(inner, "set", any);
    c.defaults = read_settings(inner, "defaults", any);
    c.traits = read_settings(inner, "traits", check_trait);
    inner.close();
    out.push_back(std::move(c));
  }
  return out;
}

std::vector<FamilyExtra> read_extras(MapReader& reader, const std::string& file, Diagnostics& problems) {
  static const std::vector<std::string> kWhere = {"model", "all",    "attention", "full", "window",
                                                  "cross", "linear", "moe",       "dense"};
  std::vector<FamilyExtra> out;
  const Node* list = reader.find("extras", false);
  if (list == nullptr) return out;
  if (list->kind != Node::Kind::sequence) {
    reader.problem(*list, "extras", "wrong-kind", "this must be a list", "write '- {name: ..., elements: ...}' lines");
    return out;
  }
  for (std::size_t i = 0; i < list->children.size(); ++i) {
    MapReader inner(&list->children[i], file, "extras[" + std::to_string(i) + "]", problems);
    FamilyExtra extra;
    extra.name = inner.text("name");
    extra.elements = inner.text("elements");
    extra.where = read_choice(inner, "where", kWhere);
    inner.close();
    out.push_back(std::move(extra));
  }
  return out;
}

bool holds(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Expected<FamilyRule> read_family(const Document& document) {
  Diagnostics problems;
  MapReader reader(&document.root, document.file, "", problems);
  FamilyRule out;
  out.id = read_id(reader, document);
  out.name = reader.text("name");
  out.model_types = reader.list("model_types", parse_text);
  if (reader.find("gguf", false) != nullptr) out.gguf = reader.list("gguf", parse_text);
  out.traits = read_settings(reader, "traits", check_trait);
  out.defaults = read_settings(reader, "defaults", any);
  if (reader.find("aliases", false) != nullptr) out.aliases = read_lists(reader, "aliases", true);
  out.cases = read_cases(reader, document.file, problems);
  out.extras = read_extras(reader, document.file, problems);
  out.source = reader.source("source");
  out.note = reader.optional_text("note");
  reader.close();
  if (!problems.empty()) return problems;
  return out;
}

const FamilyRule* find_family(const std::vector<FamilyRule>& families, std::string_view model_type) {
  const auto it = std::find_if(families.begin(), families.end(),
                               [&](const FamilyRule& rule) { return holds(rule.model_types, model_type); });
  return it == families.end() ? nullptr : &*it;
}

const FamilyRule* find_gguf_family(const std::vector<FamilyRule>& families, std::string_view architecture) {
  const auto it = std::find_if(families.begin(), families.end(),
                               [&](const FamilyRule& rule) { return holds(rule.gguf, architecture); });
  return it == families.end() ? nullptr : &*it;
}

}  // namespace mha
