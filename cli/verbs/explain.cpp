// explain: every figure of one layout as formula, numbers filled in, and value.
#include "mha/explain.hpp"

#include "mha/model_report.hpp"
#include "mha/report.hpp"

#include "common.hpp"
#include "failure.hpp"
#include "model_query.hpp"
#include "verbs.hpp"

namespace mha::cli {
namespace {

Workload workload_of(const Request& request, const Candidate& candidate) {
  Workload workload;
  workload.n_ctx = *request.seq_len;
  workload.batch = request.batch;
  workload.tensor_parallel = request.tensor_parallel;
  workload.weights = find_format(request.dtype);
  workload.cache = candidate.formats;
  return workload;
}

const QualityPreset& preset_of(const Request& request, const RuleSet& rules) {
  for (const QualityPreset& preset : rules.presets) {
    if (preset.id == request.quality_preset) return preset;
  }
  return rules.presets.front();  // unreachable: load_rules has checked the name
}

int explain_layout(const Invocation& invocation) {
  const Request& request = invocation.request;
  const RuleSet rules = load_rules(invocation);
  Outputs outputs = open_answer(invocation);
  const Candidate candidate = candidate_of(request, rules);
  const std::vector<ExplainRow> rows =
      explain(candidate, workload_of(request, candidate), rules.target, preset_of(request, rules));
  write_answer(outputs, [&](const std::string& format) { return write_explain(candidate, rows, format); });
  return kDone;
}

int explain_model(const Invocation& invocation) {
  const RuleStore rules(invocation.value("rules"));
  const Architecture model = load_model(invocation.arguments.front(), rules);
  const ModelQuery query = read_query(invocation, model, rules);
  Outputs outputs(invocation.all("out"), {"txt", "md", "json"});
  const Audit result = audit(model, query, read_audit_rules(invocation, rules));
  const std::vector<ExplainRow> rows = explain(result);
  write_answer(outputs, [&](const std::string& format) { return write_model_explain(result, rows, format); });
  return kDone;
}

Verb explain_model_verb() {
  return {"explain",
          "show every figure of a model: formula, numbers filled in, value",
          false,
          "FILE|NAME [flags]",
          model_options(),
          "Formats are txt, md and json.",
          "explain llama-3-8b --seq-len 8k",
          explain_model};
}

}  // namespace

Verb explain_verb() {
  return {
      "explain",
      "show every figure of a layout: formula, numbers filled in, value",
      true,
      "[request.yaml | -] [flags]",
      {kOutOption, kRulesOption},
      "Explains the layout that the flags pin (--n-heads, --n-kv-heads, --d-head, or MLA's widths), or the "
      "recommended one "
      "when they leave a choice. Given a config.json, a .gguf, a model file or a catalogue name instead, it explains "
      "that model and takes the flags of audit. Formats are txt and json.",
      "explain --params 8.03B --d-model 4096 --n-layers 32 --n-heads 32 --n-kv-heads 8 --d-head 128 --seq-len 8k "
      "--target h100-sxm\n"
      "explain request.yaml --out json:-\n"
      "explain deepseek-v3 --seq-len 32k",
      explain_layout,
      explain_model_verb};
}

}  // namespace mha::cli
