#include "rules/loaders.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace mha {
namespace {

template <class T, Expected<T> (*Read)(const Document&)>
Diagnostics problems_of(const Document& document) {
  const Expected<T> value = Read(document);
  return value ? Diagnostics{} : value.error();
}

}  // namespace

const std::vector<RuleKind>& rule_kinds() {
  static const std::vector<RuleKind> kinds = {
      {"constraints", "constraint", problems_of<ConstraintRule, read_constraint>},
      {"conversions", "conversion", problems_of<ConversionRule, read_conversion>},
      {"families", "family", problems_of<FamilyRule, read_family>},
      {"kernels", "kernel", problems_of<KernelSupport, read_kernel>},
      {"models", "model", problems_of<Architecture, read_model_rule>},
      {"priorities", "priority", problems_of<Priority, read_priority>},
      {"quality", "quality preset", problems_of<QualityPreset, read_quality>},
      {"runtimes", "runtime", problems_of<RuntimeRule, read_runtime>},
      {"shapes", "shape", problems_of<ShapeRow, read_shape>},
      {"targets", "target", problems_of<Target, read_target>},
  };
  return kinds;
}

const RuleKind* find_rule_kind(std::string_view folder) {
  const std::vector<RuleKind>& kinds = rule_kinds();
  const auto it = std::find_if(kinds.begin(), kinds.end(), [&](const RuleKind& kind) { return kind.folder == folder; });
  return it == kinds.end() ? nullptr : &*it;
}

std::string read_id(MapReader& reader, const Document& document) {
  std::string id = reader.text("id");
  if (!id.empty() && id != document.id) {
    reader.invalid("id", "id-not-file-name", shown(id) + " is not the name of the file",
                   "write 'id: " + document.id + "', or rename the file to " + id + ".yaml");
  }
  return id;
}

std::string read_choice(MapReader& reader, std::string_view key, const std::vector<std::string>& choices) {
  std::string choice = reader.text(key);
  if (!choice.empty() && std::find(choices.begin(), choices.end(), choice) == choices.end()) {
    reader.invalid(key, "unknown-name", shown(choice) + " is not a choice here", did_you_mean(choice, choices));
  }
  return choice;
}

std::vector<std::int64_t> read_rising(MapReader& reader, std::string_view key, std::int64_t min, std::int64_t max) {
  std::vector<std::int64_t> values =
      reader.list(key, [=](std::string_view text) { return parse_count(text, min, max); });
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] > values[i - 1]) continue;
    reader.invalid(key, "not-rising", to_decimal(values[i]) + " follows " + to_decimal(values[i - 1]),
                   "list each number once, in rising order");
    break;
  }
  return values;
}

}  // namespace mha
