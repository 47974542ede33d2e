// Whole models that tests share: of the catalogue, or from a few lines of YAML. Not for the library.
#pragma once

#include <doctest/doctest.h>
#include <string>

#include "mha/audit.hpp"
#include "mha/model_cost.hpp"
#include "mha/rules_loader.hpp"

namespace mha::testing {

inline const RuleStore& rule_store() {
  static const RuleStore store;
  return store;
}

inline Architecture catalogue(std::string_view id) {
  Expected<Architecture> model = rule_store().model(id);
  if (!model) FAIL(to_string(model.error()[0]));
  return *std::move(model);
}

inline Architecture from_yaml(const std::string& text) {
  Expected<Architecture> model = read_model_yaml(text, "model.yaml");
  if (!model) FAIL(to_string(model.error()[0]));
  return *std::move(model);
}

// One layer kind n times, tiny elsewhere.
inline std::string model_yaml(const std::string& layers, int n_layers = 1, const std::string& more = "") {
  return "name: test\nd_model: 64\nvocab_size: 100\ntied_embeddings: true\nnorm: rms\nn_layers: " +
         std::to_string(n_layers) + "\nlayers:\n" + layers + more;
}

inline ModelFormats cache_format(std::string_view text) {
  Expected<ModelFormats> formats = parse_cache_format(text);
  if (!formats) FAIL(to_string(formats.error()[0]));
  return *formats;
}

inline ModelCache cache_at(const Architecture& model, std::int64_t n_ctx, std::string_view format = "bf16") {
  return cache_of(model, lower(model), cache_format(format), n_ctx);
}

inline i128 bytes_per_token(const Architecture& model, std::string_view format = "bf16") {
  const ModelCache cache = cache_at(model, 1, format);
  CHECK(cache.slope_tokens == 1);
  return cache.slope.value();
}

inline ModelQuery query_at(std::int64_t n_ctx, std::int64_t batch = 1) {
  ModelQuery q;
  q.n_ctx = n_ctx;
  q.batch = batch;
  q.cache = cache_format("bf16");
  q.weights = find_format("bf16");
  q.flops = *find_flop_rule("causal");
  return q;
}

inline AuditRules audit_rules(std::vector<std::string> runtimes = {}) {
  AuditRules rules;
  for (const std::string& id : runtimes) rules.runtimes.push_back(*rule_store().runtime(id));
  rules.presets = *rule_store().presets();
  rules.conversions = *rule_store().conversions();
  return rules;
}

inline bool finds(const Audit& audit, std::string_view code) {
  for (const Finding& finding : audit.findings) {
    if (finding.code == code) return true;
  }
  return false;
}

inline Allocation allocation_of(const Architecture& model, std::string_view runtime, std::int64_t n_ctx,
                                std::int64_t sequences = 1, std::int64_t step = 0) {
  AllocationInput input;
  input.n_ctx = n_ctx;
  input.sequences = sequences;
  input.step_tokens = step;
  return allocate(model, lower(model), cache_format("bf16"), *rule_store().runtime(runtime), input);
}

}  // namespace mha::testing
