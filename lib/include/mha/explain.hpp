// Every figure of a candidate as formula, numbers filled in, and value.
#pragma once

#include <string>
#include <vector>

#include "mha/recommend.hpp"

namespace mha {

struct ExplainRow {
  std::string group;        // "Parameters", "KV cache", "FLOPs, decode", "Time", "Quality"
  std::string figure;       // "q projection"
  std::string formula;      // "d_model * n_heads * d_head"
  std::string substituted;  // "4096 * 32 * 128"
  std::string value;        // "16,777,216 parameters"
  std::string source;       // may be empty
};

[[nodiscard]] std::vector<ExplainRow> explain(const Candidate& candidate, const Workload& workload,
                                              const Target& target, const QualityPreset& preset);

}  // namespace mha
