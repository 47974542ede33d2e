#include "report/induction.hpp"

#include <algorithm>

namespace mha::report {
namespace {

constexpr std::int64_t kHeadWidth = 32;  // the narrowest that the standing rules allow
constexpr std::int64_t kMaxHeads = 16;   // keeps the test at minutes on one core

std::int64_t scaled(std::int64_t value, std::int64_t to, std::int64_t from, std::int64_t multiple) {
  if (value == 0 || from == 0) return value;
  return std::max(multiple, (value * to / from) / multiple * multiple);
}

// Latent layouts keep their proportions to the part of a head that carries no position.
Layout scaled_latent(const Layout& layout, std::int64_t d_model) {
  Layout small = layout;
  const std::int64_t latents = std::max<std::int64_t>(1, layout.n_latents), most = std::max<std::int64_t>(4, latents);
  small.n_heads = small.n_kv_heads = std::min<std::int64_t>(layout.n_heads, most / latents * latents);
  small.d_nope = kHeadWidth;
  small.d_rope = scaled(layout.d_rope, kHeadWidth, layout.d_nope, 2);
  small.d_value = scaled(layout.d_value, kHeadWidth, layout.d_nope, 8);
  small.d_kv_latent = scaled(layout.d_kv_latent, kHeadWidth, layout.d_nope, 8 * latents);
  small.d_q_latent = scaled(layout.d_q_latent, small.n_heads * kHeadWidth, d_model, 8);
  small.d_head = small.d_nope + small.d_rope;
  return small;
}

Layout scaled_direct(const Layout& layout, std::int64_t d_model) {
  Layout small = layout;
  const std::int64_t group = std::min(layout.group_size(), kMaxHeads);
  const std::int64_t most_kv = layout.group_size() == 1 ? 4 : 2;  // two groups show a wrong head-to-group mapping
  small.n_kv_heads = std::clamp<std::int64_t>(kMaxHeads / group, 1, std::min(most_kv, layout.n_kv_heads));
  small.n_heads = small.n_kv_heads * group;
  small.d_head = kHeadWidth;
  small.d_value = scaled(layout.d_value, kHeadWidth, layout.d_head, 8);
  small.d_nope = scaled(layout.d_nope, kHeadWidth, layout.d_head, 2);
  small.d_rope = scaled(layout.d_rope, kHeadWidth, layout.d_head, 2);
  small.d_q_latent = scaled(layout.d_q_latent, small.n_heads * kHeadWidth, d_model, 8);
  return small;
}

}  // namespace

InductionTask induction_task(const Layout& layout, std::int64_t d_model) {
  InductionTask task;
  const bool latent = layout.variant != nullptr && layout.variant->latent;
  task.layout = latent ? scaled_latent(layout, d_model) : scaled_direct(layout, d_model);
  task.ratio_kept = task.layout.group_size() == layout.group_size();
  task.d_model = task.layout.n_heads * kHeadWidth;
  task.chance_uniform = 1.0 / static_cast<double>(task.vocab_size);
  for (std::int64_t asked = 0; asked < task.n_probes; ++asked) {
    task.chance_unbound += 1.0 / static_cast<double>(task.n_pairs - asked);
  }
  task.chance_unbound /= static_cast<double>(task.n_probes);
  return task;
}

const std::vector<Source>& induction_sources() {
  static const std::vector<Source> kSources = {
      {"Olsson et al., In-context Learning and Induction Heads, arXiv 2209.11895 (induction needs two attention "
       "layers)",
       "2022-09-24"},
      {"Arora et al., Zoology, arXiv 2312.04927 (multi-query associative recall)", "2023-12-08"},
      {"Sanford et al., One-layer transformers fail to solve the induction heads task, arXiv 2408.14332", "2024-08-26"},
  };
  return kSources;
}

}  // namespace mha::report
