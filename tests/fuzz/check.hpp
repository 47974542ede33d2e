// What must hold for any bytes that a reader is given: either diagnostics that say something, or a model that every
// cost can be computed for. A violation ends the program, which is how libFuzzer learns of it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mha/architecture.hpp"
#include "mha/model_cost.hpp"
#include "mha/model_readers.hpp"
#include "mha/rules_loader.hpp"

namespace mha::fuzz {

[[noreturn]] inline void violated(const char* what, const std::string& detail) {
  std::fprintf(stderr, "violated: %s: %s\n", what, detail.c_str());
  std::abort();
}

// The embedded ones, read once.
inline const std::vector<FamilyRule>& families() {
  static const std::vector<FamilyRule> rules = [] {
    const Expected<std::vector<FamilyRule>> all = RuleStore().families();
    if (!all) violated("the embedded families are readable", to_string(all.error().front()));
    return *all;
  }();
  return rules;
}

inline void check_diagnostics(const Diagnostics& diagnostics) {
  for (const Diagnostic& found : diagnostics) {
    if (found.code.empty() || found.what.empty())
      violated("a diagnostic has a code and says what is wrong", to_string(found));
    (void)to_string(found);
  }
}

inline void check(const Expected<Architecture>& model) {
  if (!model) {
    if (model.error().empty()) violated("a refusal has a reason", "none is given");
    check_diagnostics(model.error());
    return;
  }
  check_diagnostics(model->notes);
  const Diagnostics problems = check_architecture(*model);
  if (!problems.empty()) violated("a reader returns sound models", to_string(problems.front()));
  const ModelPlan plan = lower(*model);
  const ModelParams params = count_params(*model, plan);
  i128 total = 0;
  for (const ComponentParams& part : params.components) total += part.total.value();
  if (total != params.total.value()) violated("parameters add up", to_decimal(params.total.value()));
  if (params.active.value() > params.total.value()) violated("no more is active than there is", model->name);
  (void)layer_pattern(*model);
  (void)cache_of(*model, plan, *parse_cache_format("bf16"), 4096);
}

// One input of libFuzzer as text.
inline std::string text_of(const unsigned char* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace mha::fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size);
