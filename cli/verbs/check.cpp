// check: holds a layout to assertions, for build scripts: exit code 1, with the margin, when one is not met.
#include "mha/report.hpp"

#include "common.hpp"
#include "failure.hpp"
#include "verbs.hpp"

namespace mha::cli {
namespace {

int check_layout(const Invocation& invocation) {
  std::vector<Assertion> assertions = invocation.request.limits;
  Diagnostics problems;
  for (const std::string& text : invocation.all("assert")) {
    const Expected<Assertion> assertion = parse_assertion(text);
    if (assertion) {
      assertions.push_back(*assertion);
      continue;
    }
    for (Diagnostic problem : assertion.error()) {
      problem.where.key = "--assert";
      problems.push_back(std::move(problem));
    }
  }
  if (!problems.empty()) throw Failure(kBadInput, std::move(problems));
  if (assertions.empty()) {
    throw usage_error("--assert", "there is nothing to check",
                      "give --assert 'kv_bytes_per_token <= 64KiB', or 'limit:' in the request file");
  }
  const RuleSet rules = load_rules(invocation);
  Outputs outputs = open_answer(invocation);
  const Candidate candidate = candidate_of(invocation.request, rules);
  std::vector<AssertionResult> results;
  bool met = true;
  for (const Assertion& assertion : assertions) {
    results.push_back(check_assertion(assertion, candidate));
    met = met && results.back().met;
  }
  write_answer(outputs, [&](const std::string& format) { return write_checks(candidate, results, format); });
  return met ? kDone : kUnsatisfied;
}

}  // namespace

Verb check_verb() {
  return {
      "check",
      "hold a layout to assertions; exit code 1 when one is not met",
      true,
      "[request.yaml | -] --assert 'METRIC OP VALUE' [flags]",
      {{"assert", "'METRIC OP VALUE'", "what must hold, repeatable (see: list metrics)", true},
       kOutOption,
       kRulesOption},
      "Checks the pinned or recommended layout against every --assert and every limit of the request, and prints "
      "each with "
      "its margin. Operators are <= < >= > == and !=. Formats are txt and json.",
      "check request.yaml --assert 'kv_bytes_per_token <= 64KiB'\n"
      "check --params 1.3B --seq-len 32k --target h100-sxm --assert 'decode_seconds < 10ms' --assert 'n_kv_heads >= 4'",
      check_layout};
}

}  // namespace mha::cli
