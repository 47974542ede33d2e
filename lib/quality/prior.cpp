// The pooled prior: loss depends on the attention width a and, more weakly, on the KV width w; the split of those widths into
// heads hardly matters. Slopes and offsets come from a preset, with its source; the formula is in docs/formulas.md.
#include <algorithm>
#include <cmath>

#include "mha/quality.hpp"

namespace mha {
namespace {

constexpr double kUsualHead = 64;  // at and above this width the split into heads costs nothing
constexpr double kSmallHead = 32;
constexpr double kTinyHead = 16;

// Piecewise linear in log2(d_head): 0 at 64, small_head_64_to_32 at 32, small_head_to_16 at 16 and beyond with that slope.
double small_head(const QualityPreset& preset, double d_head) {
  if (d_head >= kUsualHead) return 0;
  const double at_32 = preset.small_head_64_to_32, at_16 = preset.small_head_to_16;
  if (d_head >= kSmallHead) return at_32 * std::log2(kUsualHead / d_head);
  return at_32 + (at_16 - at_32) * std::log2(kSmallHead / d_head) / std::log2(kSmallHead / kTinyHead);
}

}  // namespace

LossModel::LossModel(const QualityPreset& preset, Params reference_params)
    : preset_(&preset), reference_params_(reference_params) {
  const double n = reference_params.as_double();
  scale_ = std::pow(n / preset.reference_params, preset.size_exponent);
  reference_term_ = preset.param_a * std::pow(n, -preset.param_alpha);
  narrow_guard_ = n >= preset.narrow_kv_params;
  for (const Variant* variant : variants()) {
    const auto offset = preset.variant_offset.find(std::string(variant->id));
    variant_offset_.push_back(offset == preset.variant_offset.end() ? 0 : offset->second);
  }
}

LossDelta LossModel::predict(const Layout& layout, const AttentionPlan& plan, std::int64_t d_model,
                             Params params) const {
  const QualityPreset& preset = *preset_;
  LossDelta delta;
  if (params != reference_params_)
    delta.params = preset.param_a * std::pow(params.as_double(), -preset.param_alpha) - reference_term_;

  // The reference has a = w = d_model, so its own terms are 0.
  const double width = static_cast<double>(d_model);
  const double ratio = static_cast<double>(plan.attention_width) / width;
  if (ratio < 1) delta.attention_width = -preset.s_a * scale_ * std::log2(ratio);
  if (ratio > 1) delta.attention_width = -preset.s_b * scale_ * std::log2(std::min(ratio, 2.0));
  if (layout.variant->latent) {
    // Two latents share the full width, as the study of GLA had them; each beyond must be as wide as those.
    const double grown = static_cast<double>(std::max<std::int64_t>(2, layout.n_latents)) / 2;
    const double full = static_cast<double>(preset.latent_full_ratio * layout.d_nope) * grown;
    const double short_of = std::max(0.0, std::log2(full / static_cast<double>(layout.d_kv_latent)));
    delta.kv_width = preset.s_w * scale_ * short_of;
  } else {
    delta.kv_width = preset.s_w * scale_ * std::log2(width / static_cast<double>(plan.kv_width));
    if (narrow_guard_ && plan.kv_width < preset.narrow_kv_width) delta.guards += preset.narrow_kv_penalty;
  }
  for (std::size_t i = 0; i < variant_offset_.size(); ++i)
    if (variants()[i] == layout.variant) delta.variant = variant_offset_[i];
  delta.guards += small_head(preset, static_cast<double>(layout.d_head));
  if (layout.n_heads == 1) delta.guards += preset.one_or_two_heads;
  if (layout.n_heads == 2) delta.guards += preset.one_or_two_heads / 2;
  return delta;
}

LossDelta predict_loss(const QualityPreset& preset, const Layout& layout, const AttentionPlan& plan,
                       std::int64_t d_model, Params params, Params reference_params) {
  return LossModel(preset, reference_params).predict(layout, plan, d_model, params);
}

}  // namespace mha
