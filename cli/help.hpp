// Help pages, built from the tables of verbs and request fields.
#pragma once

#include <string>

#include "verb.hpp"

namespace mha::cli {

[[nodiscard]] std::string version_line();
[[nodiscard]] std::string help_page();                  // of the tool
[[nodiscard]] std::string help_page(const Verb& verb);  // of one verb

}  // namespace mha::cli
