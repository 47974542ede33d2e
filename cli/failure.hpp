// The one exception of the command line: what went wrong, and what the process returns for it.
#pragma once

#include <exception>
#include <utility>

#include "mha/diagnostics.hpp"

namespace mha::cli {

enum ExitCode : int {
  kDone = 0,
  kUnsatisfied = 1,  // nothing satisfies the request, or a check failed
  kUsage = 2,        // unknown verb or flag, flag without its value
  kBadInput = 3,     // bad value or file, unknown target, output that cannot be written
  kMismatch = 4,     // the kernel's counts differ from the cost model
};

class Failure : public std::exception {
 public:
  Failure(ExitCode code, Diagnostics problems) : code_(code), problems_(std::move(problems)) {}

  [[nodiscard]] ExitCode code() const { return code_; }
  [[nodiscard]] const Diagnostics& problems() const { return problems_; }
  [[nodiscard]] const char* what() const noexcept override { return "the command failed"; }

 private:
  ExitCode code_;
  Diagnostics problems_;
};

[[nodiscard]] inline Failure usage_error(std::string key, std::string what, std::string hint) {
  Location where;
  where.key = std::move(key);
  return {kUsage, {{Severity::error, "usage", std::move(where), std::move(what), std::move(hint)}}};
}

[[nodiscard]] inline Failure input_error(std::string code, std::string key, std::string what, std::string hint) {
  Location where;
  where.key = std::move(key);
  return {kBadInput, {{Severity::error, std::move(code), std::move(where), std::move(what), std::move(hint)}}};
}

// Nothing satisfies the request is an answer (1); anything else wrong with it is bad input (3).
[[nodiscard]] inline Failure library_error(Diagnostics problems) {
  for (const Diagnostic& problem : problems) {
    if (problem.code == "no-feasible-layout") return {kUnsatisfied, std::move(problems)};
  }
  return {kBadInput, std::move(problems)};
}

}  // namespace mha::cli
