// What the dispatch of readers needs of a config.json before it is read.
#pragma once

#include <string>
#include <vector>

#include "rules/node.hpp"

namespace mha {

// The model_type of the language model and that of the whole file; none: neither is there. RuleStore::families_of of
// them takes no other family apart, which is most of the time that reading one config.json costs.
[[nodiscard]] std::vector<std::string> model_types_of(const Node& config);

}  // namespace mha
