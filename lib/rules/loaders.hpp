// One loader a kind of rule: a document becomes a checked value, or every reason why not. loaders/<kind>.cpp defines it;
// the table below is what walks "all rules".
#pragma once

#include <string_view>
#include <vector>

#include "mha/architecture.hpp"
#include "mha/family.hpp"
#include "mha/rules.hpp"

#include "rules/map_reader.hpp"
#include "rules/node.hpp"

namespace mha {

[[nodiscard]] Expected<Target> read_target(const Document& document);
[[nodiscard]] Expected<KernelSupport> read_kernel(const Document& document);
[[nodiscard]] Expected<QualityPreset> read_quality(const Document& document);
[[nodiscard]] Expected<Priority> read_priority(const Document& document);
[[nodiscard]] Expected<ConstraintRule> read_constraint(const Document& document);
[[nodiscard]] Expected<ShapeRow> read_shape(const Document& document);
[[nodiscard]] Expected<FamilyRule> read_family(const Document& document);
[[nodiscard]] Expected<Architecture> read_model_rule(const Document& document);
[[nodiscard]] Expected<RuntimeRule> read_runtime(const Document& document);
[[nodiscard]] Expected<ConversionRule> read_conversion(const Document& document);

struct RuleKind {
  std::string_view folder;                                   // "targets"
  std::string_view singular;                                 // "target"
  Diagnostics (*check)(const Document& document) = nullptr;  // what its loader says
};

[[nodiscard]] const std::vector<RuleKind>& rule_kinds();
[[nodiscard]] const RuleKind* find_rule_kind(std::string_view folder);

// ---- For the loaders -------------------------------------------------------------------------------------------------

// The key `id`, which must repeat the file's name: a copied file whose id was forgotten would otherwise shadow another.
[[nodiscard]] std::string read_id(MapReader& reader, const Document& document);

// The value of `key`, which must be one of `choices`.
[[nodiscard]] std::string read_choice(MapReader& reader, std::string_view key, const std::vector<std::string>& choices);

// A strictly rising list of whole numbers.
[[nodiscard]] std::vector<std::int64_t> read_rising(MapReader& reader, std::string_view key, std::int64_t min,
                                                    std::int64_t max);

}  // namespace mha
