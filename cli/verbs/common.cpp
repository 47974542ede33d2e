#include "common.hpp"

#include <iterator>
#include <utility>

#include "mha/rules_loader.hpp"

#include "failure.hpp"

namespace mha::cli {

RuleSet load_rules(const Invocation& invocation) {
  Diagnostics problems = check_request(invocation.request);
  const auto add = [&](Diagnostics more) {
    problems.insert(problems.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  if (!invocation.request.target.empty()) {
    const RuleStore store(invocation.value("rules"));
    Expected<RuleSet> rules = store.load(invocation.request.target);
    if (rules) {
      add(check_request_against(invocation.request, *rules));
      if (problems.empty()) return *std::move(rules);
    } else {
      Diagnostics found = rules.error();
      for (Diagnostic& problem : found) {
        if (problem.where.file.empty() && problem.where.key == "target") problem.where.key = flag_name("target");
      }
      add(std::move(found));
    }
  }
  throw Failure(kBadInput, std::move(problems));
}

Candidate candidate_of(const Request& request, const RuleSet& rules) {
  Expected<Candidate> candidate = evaluate(request, rules);
  if (!candidate) throw library_error(candidate.error());
  return *std::move(candidate);
}

Outputs open_answer(const Invocation& invocation) {
  return Outputs(invocation.all(std::string(kOutOption.name)), {"txt", "json"});
}

}  // namespace mha::cli
