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

LossDelta predict_loss(const QualityPreset& preset, const Layout& layout, const AttentionPlan& plan,
                       std::int64_t d_model, Params params, Params reference_params) {
  LossDelta delta;
  const double n = params.as_double(), n_reference = reference_params.as_double();
  if (params != reference_params)
    delta.params = preset.param_a * (std::pow(n, -preset.param_alpha) - std::pow(n_reference, -preset.param_alpha));
  const double scale = std::pow(n_reference / preset.reference_params, preset.size_exponent);

  // The reference has a = w = d_model, so its own terms are 0.
  const double ratio = static_cast<double>(plan.attention_width) / static_cast<double>(d_model);
  delta.attention_width = -preset.s_a * scale * std::log2(std::min(ratio, 1.0)) -
                          preset.s_b * scale * std::log2(std::clamp(ratio, 1.0, 2.0));
  if (layout.variant->latent) {
    const double full = static_cast<double>(preset.latent_full_ratio * layout.d_nope);
    delta.kv_width = preset.s_w * scale * std::max(0.0, std::log2(full / static_cast<double>(layout.d_kv_latent)));
  } else {
    delta.kv_width = preset.s_w * scale * std::log2(static_cast<double>(d_model) / static_cast<double>(plan.kv_width));
    if (plan.kv_width < preset.narrow_kv_width && n_reference >= preset.narrow_kv_params)
      delta.guards += preset.narrow_kv_penalty;
  }
  if (const auto offset = preset.variant_offset.find(std::string(layout.variant->id));
      offset != preset.variant_offset.end())
    delta.variant = offset->second;
  delta.guards += small_head(preset, static_cast<double>(layout.d_head));
  if (layout.n_heads == 1) delta.guards += preset.one_or_two_heads;
  if (layout.n_heads == 2) delta.guards += preset.one_or_two_heads / 2;
  return delta;
}

}  // namespace mha
