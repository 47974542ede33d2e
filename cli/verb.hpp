// One row of the table of verbs. cli/verbs/<id>.cpp defines the row; cli/verbs.cpp lists it. Command line, help and
// suggestions come from the row.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mha/request.hpp"

namespace mha::cli {

// A flag of the verb itself; the flags of the request come from request_fields().
struct VerbOption {
  std::string_view name;        // "out"
  std::string_view value_name;  // "FORMAT:PATH"; empty: a switch
  std::string_view help;
  bool repeatable = false;
};

// What the user typed, read into a request.
struct Invocation {
  Request request;                                          // the file's values, then the flags on top
  std::vector<std::string> arguments;                       // positional ones that are not a request file
  std::map<std::string, std::vector<std::string>> options;  // of the verb, by name

  [[nodiscard]] bool has(const std::string& name) const { return options.count(name) != 0; }
  [[nodiscard]] std::vector<std::string> all(const std::string& name) const {
    const auto found = options.find(name);
    return found == options.end() ? std::vector<std::string>{} : found->second;
  }
  [[nodiscard]] std::string value(const std::string& name) const {
    const std::vector<std::string> values = all(name);
    return values.empty() ? std::string() : values.back();
  }
};

struct Verb {
  std::string_view id;
  std::string_view help;       // one line
  bool takes_request = true;   // flags of the request, and one request file
  std::string_view arguments;  // positional ones, for the usage line
  std::vector<VerbOption> options;
  std::string_view details;   // a paragraph for the help page
  std::string_view examples;  // one a line
  int (*run)(const Invocation& invocation) = nullptr;
  // The row that serves instead when an argument names a model; its flags are others.
  Verb (*for_model)() = nullptr;
};

[[nodiscard]] const std::vector<Verb>& verbs();
[[nodiscard]] const Verb* find_verb(std::string_view id);

}  // namespace mha::cli
