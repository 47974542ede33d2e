// The quality prior: a predicted loss difference with its spread. Never merged into cost.
#pragma once

#include "mha/attention.hpp"
#include "mha/model.hpp"
#include "mha/rules.hpp"

namespace mha {

// Predicted difference in nats per token against the reference layout: parameter-matched MHA with a = w = d_model.
// Positive is worse. Terms are kept apart so that a report can explain them.
struct LossDelta {
  double params = 0;           // A/N^alpha against the budget
  double attention_width = 0;  // s_a and s_b terms
  double kv_width = 0;         // s_w term
  double variant = 0;
  double guards = 0;  // small heads, narrow KV, one head
  [[nodiscard]] double total() const { return params + attention_width + kv_width + variant + guards; }
};

[[nodiscard]] LossDelta predict_loss(const QualityPreset& preset, const Layout& layout, const AttentionPlan& plan,
                                     std::int64_t d_model, Params params, Params reference_params);

}  // namespace mha
