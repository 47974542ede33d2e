// A user's rules folder on disk: which rule files it holds, and one of them read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mha/diagnostics.hpp"

#include "rules/node.hpp"

namespace mha {

struct Listing {
  std::vector<std::string> ids;  // sorted
  Diagnostics problems;
};

// DIR/<folder>/*.yaml. A folder that is not there is empty: a user's rules need not have every kind.
[[nodiscard]] Listing list_folder(const std::string& rules_dir, std::string_view folder);

// Problems of DIR itself: not a folder, or a subfolder whose name is nearly one that would be read.
[[nodiscard]] Diagnostics check_rules_dir(const std::string& rules_dir);

[[nodiscard]] Expected<Document> read_rule_file(const std::string& rules_dir, std::string_view folder,
                                                const std::string& id);

}  // namespace mha
