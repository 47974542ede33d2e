// The table of traits: names, what values they take, and where in FamilyTraits each goes. One row a trait; the loader
// of families and the readers of models both go through it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mha/family.hpp"

namespace mha {

struct TraitRow {
  std::string_view name;
  std::vector<std::string> choices;                                     // empty: a count
  void (*set)(FamilyTraits& traits, std::string_view value) = nullptr;  // `value` is one of the choices, or digits
};

[[nodiscard]] const std::vector<TraitRow>& trait_rows();

// Sets one trait, or says what is wrong with its name or value (the location is the caller's to fill in).
[[nodiscard]] std::optional<Diagnostic> set_trait(FamilyTraits& traits, std::string_view name, std::string_view value);

}  // namespace mha
