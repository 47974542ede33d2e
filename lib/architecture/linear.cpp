// The table of linear and state-space mixers, and the parts they share.
#include "architecture/linear/kinds.hpp"
#include "architecture/lower.hpp"

namespace mha {

const std::vector<const LinearKind*>& linear_kinds() {
  static const std::vector<const LinearKind*> table = {&kGatedDeltaNet, &kKimiDelta, &kLightning, &kMamba1,
                                                       &kMamba2,        &kRgLru,     &kShortConv};
  return table;
}

const LinearKind* find_linear_kind(std::string_view id) {
  for (const LinearKind* kind : linear_kinds()) {
    if (kind->id == id) return kind;
  }
  return nullptr;
}

void lower_linear(const LinearMixer& mixer, std::int64_t d_model, LayerPlan& plan) {
  mixer.kind->lower(mixer, d_model, plan);
}

namespace linear {

void project(LayerPlan& plan, std::string name, std::int64_t rows, std::int64_t cols, bool bias, std::string formula) {
  plan.tensors.push_back(parts::matrix(name, Component::linear, rows, cols, Sharding::split_heads, std::move(formula)));
  if (bias) weigh(plan, name + ".bias", cols, "columns of " + name);
}

void weigh(LayerPlan& plan, std::string name, std::int64_t elements, std::string formula) {
  if (elements == 0) return;
  plan.tensors.push_back(
      parts::vector(std::move(name), Component::linear, elements, Sharding::split_heads, std::move(formula)));
}

void convolve(LayerPlan& plan, const LinearMixer& m, std::int64_t channels, const std::string& formula) {
  if (m.d_conv == 0) return;
  project(plan, "conv", m.d_conv, channels, m.conv_bias, "d_conv * (" + formula + ")");
  if (m.d_conv == 1) return;
  CacheComponent c;
  c.role = CacheRole::conv_state;
  c.n_rows = m.d_conv - 1;
  c.row_elements = channels;
  c.growth = {Growth::Kind::fixed, 0};
  c.sharding = Sharding::split_heads;
  c.format = m.conv_format;
  c.formula = "(d_conv - 1) * (" + formula + ")";
  plan.cache.push_back(c);
}

void keep_state(LayerPlan& plan, const LinearMixer& m, std::int64_t n_heads, std::int64_t elements,
                std::string formula) {
  CacheComponent c;
  c.role = CacheRole::state;
  c.n_rows = n_heads;
  c.row_elements = elements;
  c.growth = {Growth::Kind::fixed, 0};
  c.sharding = Sharding::split_heads;
  c.format = m.state_format;
  c.formula = std::move(formula);
  plan.cache.push_back(c);
}

void finish(LayerPlan& plan, std::size_t first, std::string name, std::vector<WorkTerm> recurrence) {
  plan.work.push_back(parts::work_of_tensors(std::move(name), plan.tensors, first, std::move(recurrence)));
}

}  // namespace linear
}  // namespace mha
