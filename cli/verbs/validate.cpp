// validate: runs the counting kernel on a layout and shows what it counted beside what the cost model says.
#include "mha/validate.hpp"

#include "mha/report.hpp"

#include "common.hpp"
#include "failure.hpp"
#include "verbs.hpp"

namespace mha::cli {
namespace {

int validate_layout(const Invocation& invocation) {
  const RuleSet rules = load_rules(invocation);
  Outputs outputs = open_answer(invocation);
  const Candidate candidate = candidate_of(invocation.request, rules);
  const Validation validation = validate(candidate.layout, candidate.shape.d_model);
  write_answer(outputs, [&](const std::string& format) { return write_validation(validation, format); });
  return validation.exact() ? kDone : kMismatch;
}

}  // namespace

Verb validate_verb() {
  return {"validate",
          "run the counting kernel on a layout and compare it with the cost model",
          true,
          "[request.yaml | -] [flags]",
          {kOutOption, kRulesOption},
          "Runs reference attention with the real n_heads, n_kv_heads, d_head and ranks of the pinned or recommended "
          "layout, and "
          "prints analytic, counted and verdict for each quantity. Exit code 4 on any difference. Formats are txt and "
          "json.",
          "validate --params 1.3B --seq-len 32k --target h100-sxm\n"
          "validate request.yaml --n-heads 32 --n-kv-heads 8 --d-head 128",
          validate_layout};
}

}  // namespace mha::cli
