// compare: models side by side, at one context and batch.
#include <algorithm>

#include "mha/model_report.hpp"

#include "common.hpp"
#include "failure.hpp"
#include "model_query.hpp"
#include "verbs.hpp"

namespace mha::cli {
namespace {

int compare_models(const Invocation& invocation) {
  if (invocation.arguments.size() < 2) {
    throw usage_error({}, "fewer than two models are named", "such as 'compare llama-3-8b qwen3-8b config.json'");
  }
  const RuleStore rules(invocation.value("rules"));
  std::vector<Architecture> models;
  for (const std::string& argument : invocation.arguments) models.push_back(load_model(argument, rules));
  std::vector<ModelQuery> queries;
  for (const Architecture& model : models) queries.push_back(read_query(invocation, model, rules));
  // One context for all, or the columns would answer different questions: the shortest of the models' own.
  const auto shortest = std::min_element(queries.begin(), queries.end(),
                                         [](const ModelQuery& a, const ModelQuery& b) { return a.n_ctx < b.n_ctx; });
  const std::int64_t n_ctx = shortest->n_ctx;
  Outputs outputs(invocation.all("out"), {"txt", "md", "json"});
  const AuditRules audit_rules = read_audit_rules(invocation, rules);
  std::vector<Audit> audits;
  for (std::size_t i = 0; i < models.size(); ++i) {
    queries[i].n_ctx = n_ctx;
    audits.push_back(audit(models[i], queries[i], audit_rules));
  }
  write_answer(outputs, [&](const std::string& format) { return write_compare(audits, format); });
  return kDone;
}

}  // namespace

Verb compare_verb() {
  return {"compare",
          "models side by side: parameters, cache, ranks and FLOPs",
          false,
          "FILE|NAME FILE|NAME ... [flags]",
          model_options(),
          "Every model is priced at the same context: --seq-len, or the shortest of their own. Formats are txt, md and "
          "json.",
          "compare llama-3-8b qwen3-8b gemma-3-27b --seq-len 32k\n"
          "compare config.json deepseek-v3 --out md:compare.md",
          compare_models};
}

}  // namespace mha::cli
