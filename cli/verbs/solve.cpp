// solve: the inverse questions about a model on a device, exact to one unit.
#include "mha/model_report.hpp"

#include "common.hpp"
#include "failure.hpp"
#include "model_query.hpp"
#include "verbs.hpp"

namespace mha::cli {
namespace {

const SolveRow& question_of(const std::string& typed) {
  if (const SolveRow* row = find_solve_row(typed)) return *row;
  std::vector<std::string> ids;
  for (const SolveRow& row : solve_rows()) ids.emplace_back(row.id);
  throw usage_error({}, "'" + typed + "' is not a question", did_you_mean(typed, ids));
}

// Memory depends on neither prefill nor FLOPs.
std::vector<VerbOption> solve_options() {
  std::vector<VerbOption> options = model_options();
  std::erase_if(options, [](const VerbOption& option) {
    return option.name == "past" || option.name == "flops" || option.name == "no-head";
  });
  return options;
}

int solve_model(const Invocation& invocation) {
  if (invocation.arguments.size() != 2) {
    throw usage_error({}, "a question and a model are needed",
                      "such as 'solve max-context llama-3-8b --target h100-sxm --batch 16'");
  }
  if (!invocation.has("target")) {
    throw usage_error("--target", "no device is named", "such as --target h100-sxm (see: list targets)");
  }
  if (invocation.all("runtime").size() > 1) {
    throw usage_error("--runtime", "one runtime at a time can reserve the cache", "give it once, or leave it out");
  }
  const SolveRow& question = question_of(invocation.arguments.front());
  const RuleStore rules(invocation.value("rules"));
  const Architecture model = load_model(invocation.arguments.back(), rules);
  const ModelQuery query = read_query(invocation, model, rules);
  const RuntimeRule* runtime = nullptr;
  AuditRules audit_rules = read_audit_rules(invocation, rules);
  if (!invocation.has("runtime")) audit_rules.runtimes.clear();
  if (!audit_rules.runtimes.empty()) runtime = &audit_rules.runtimes.front();
  Outputs outputs(invocation.all("out"), {"txt", "md", "json"});
  const ModelPlan plan = lower(model);
  const std::vector<Solution> solutions = {question.solve(model, plan, query, runtime)};
  Audit subject;
  subject.architecture = model;
  subject.query = query;
  write_answer(outputs, [&](const std::string& format) {
    return write_solutions(subject, solutions, runtime == nullptr ? std::string() : runtime->name, format);
  });
  return solutions.front().value > 0 ? kDone : kUnsatisfied;
}

}  // namespace

Verb solve_verb() {
  return {
      "solve",
      "the longest context, largest batch, fewest devices or most parameters that fit",
      false,
      "max-context|max-batch|min-devices|max-params FILE|NAME --target ID [flags]",
      solve_options(),
      "Exact: one more does not fit, and the answer shows both. Memory is weights, cache and the device's reserve on "
      "the most loaded device; --runtime counts the cache as that runtime reserves it. Exit code 1 when nothing fits. "
      "Formats are txt, md and json.",
      "solve max-context llama-3-8b --target h100-sxm --batch 16\n"
      "solve min-devices deepseek-v3 --target h200-sxm --seq-len 32k --dtype fp8 --runtime vllm\n"
      "solve max-batch config.json --target rtx-4090 --seq-len 8k --out json:-",
      solve_model};
}

}  // namespace mha::cli
