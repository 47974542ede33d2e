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

// One preset against one reference: what depends on these alone is computed once, since a search asks for every candidate.
class LossModel {
 public:
  LossModel(const QualityPreset& preset, Params reference_params);
  [[nodiscard]] LossDelta predict(const Layout& layout, const AttentionPlan& plan, std::int64_t d_model,
                                  Params params) const;

 private:
  const QualityPreset* preset_;
  Params reference_params_;
  double scale_ = 1;           // of the slopes at this size
  double reference_term_ = 0;  // A / N_reference^alpha
  bool narrow_guard_ = false;
  std::vector<double> variant_offset_;  // in the order of variants()
};

[[nodiscard]] LossDelta predict_loss(const QualityPreset& preset, const Layout& layout, const AttentionPlan& plan,
                                     std::int64_t d_model, Params params, Params reference_params);

}  // namespace mha
