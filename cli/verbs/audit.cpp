// audit: what an existing model's attention costs, what is unusual about it, and what would cost less.
#include "mha/model_report.hpp"

#include "common.hpp"
#include "failure.hpp"
#include "model_query.hpp"
#include "verbs.hpp"

namespace mha::cli {
namespace {

int audit_model(const Invocation& invocation) {
  if (invocation.arguments.size() != 1) {
    throw usage_error(
        {}, invocation.arguments.empty() ? "no model is named" : "more than one model is named",
        "name a config.json, a .gguf, a model file or a catalogue name (see: list models); 'compare' takes "
        "several");
  }
  const RuleStore rules(invocation.value("rules"));
  const Architecture model = load_model(invocation.arguments.front(), rules);
  const ModelQuery query = read_query(invocation, model, rules);
  Outputs outputs(invocation.all("out"), {"txt", "md", "json", "yaml"});
  const Audit result = audit(model, query, read_audit_rules(invocation, rules));
  const std::string command = model_command("audit", invocation);
  if (invocation.has("explain")) {
    const std::vector<ExplainRow> rows = explain(result);
    write_answer(outputs, [&](const std::string& format) {
      return format == "yaml" ? write_audit(result, command, format) : write_model_explain(result, rows, format);
    });
    return kDone;
  }
  write_answer(outputs, [&](const std::string& format) { return write_audit(result, command, format); });
  return kDone;
}

}  // namespace

Verb audit_verb() {
  return {
      "audit",
      "what an existing model's attention costs, what is unusual, and what would be better",
      false,
      "FILE|NAME [flags]",
      model_options({{"explain", "", "every figure as formula, numbers filled in and value", false}}),
      "Reads a Hugging Face config.json, the metadata of a GGUF file, a model file of our own, or a catalogue name. "
      "Formats are txt, md, json, and yaml, which writes the model as a model file.",
      "audit config.json --seq-len 128k --batch 8\n"
      "audit deepseek-v3 --kv-dtype fp8_ds_mla --target h200-sxm --tensor-parallel 8\n"
      "audit model.gguf --runtime llama-cpp --out json:-",
      audit_model};
}

}  // namespace mha::cli
