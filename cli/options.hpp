// Reads a verb's command line. Boost.Program_options splits it; every value is a text that the library's own parsers read.
#pragma once

#include <string>
#include <vector>

#include "verb.hpp"

namespace mha::cli {

// `arguments` are those after the verb. Throws Failure: kUsage for the command line's form, kBadInput for its values.
[[nodiscard]] Invocation read_command_line(const Verb& verb, const std::vector<std::string>& arguments);

// True when the user asks for the help page anywhere before "--".
[[nodiscard]] bool asks_for_help(const std::vector<std::string>& arguments);

}  // namespace mha::cli
