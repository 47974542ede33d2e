// The rows of the table of verbs, one a file of this folder.
#pragma once

#include "verb.hpp"

namespace mha::cli {

[[nodiscard]] Verb recommend_verb();
[[nodiscard]] Verb explain_verb();
[[nodiscard]] Verb validate_verb();
[[nodiscard]] Verb check_verb();
[[nodiscard]] Verb audit_verb();
[[nodiscard]] Verb compare_verb();
[[nodiscard]] Verb solve_verb();
[[nodiscard]] Verb list_verb();

}  // namespace mha::cli
