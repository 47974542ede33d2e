// explain: every figure of one layout as formula, numbers filled in, and value.
#include "mha/explain.hpp"

#include "mha/report.hpp"

#include "common.hpp"
#include "failure.hpp"
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

}  // namespace

Verb explain_verb() {
  return {"explain",
          "show every figure of a layout: formula, numbers filled in, value",
          true,
          "[request.yaml | -] [flags]",
          {kOutOption, kRulesOption},
          "Explains the layout that the flags pin (--n-heads, --n-kv-heads, --d-head, or MLA's widths), or the "
          "recommended one "
          "when they leave a choice. Formats are txt and json.",
          "explain --params 8.03B --d-model 4096 --n-layers 32 --n-heads 32 --n-kv-heads 8 --d-head 128 --seq-len 8k "
          "--target h100-sxm\n"
          "explain request.yaml --out json:-",
          explain_layout};
}

}  // namespace mha::cli
