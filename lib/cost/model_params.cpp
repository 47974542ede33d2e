// Parameters of a whole model: a sum over tensors, itemised by component.
#include <array>

#include "mha/model_cost.hpp"

namespace mha {
namespace {

struct Sums {
  std::array<i128, kComponents> total{}, active{};

  void add(const std::vector<Tensor>& tensors, i128 times = 1) {
    for (const Tensor& t : tensors) {
      total[static_cast<std::size_t>(t.component)] += times * t.elements();
      active[static_cast<std::size_t>(t.component)] += times * t.active_elements();
    }
  }
};

i128 elements_of(const std::vector<Tensor>& tensors) {
  i128 sum = 0;
  for (const Tensor& t : tensors) sum += t.elements();
  return sum;
}

}  // namespace

Params layer_params(const LayerPlan& plan) {
  return Params(elements_of(plan.tensors));
}

ModelParams count_params(const Architecture& architecture, const ModelPlan& plan) {
  Sums sums;
  sums.add(plan.once);
  for (const LayerGroup& group : layer_groups(architecture)) sums.add(plan.specs[group.spec].tensors, group.n_layers);
  ModelParams out;
  for (std::size_t i = 0; i < kComponents; ++i) {
    if (sums.total[i] == 0) continue;
    out.components.push_back({static_cast<Component>(i), Params(sums.total[i]), Params(sums.active[i])});
    out.total += Params(sums.total[i]);
    out.active += Params(sums.active[i]);
  }
  if (architecture.mtp.n_layers > 0 && !architecture.layers.empty()) {
    const i128 layer = layer_params(plan.specs[architecture.layers.back()]).value();
    out.mtp = Params(layer * architecture.mtp.n_layers + elements_of(plan.mtp));
  }
  out.resident = out.total + out.mtp;
  out.stored = out.resident;
  for (const NamedParams& extra : architecture.stored) out.stored += Params(extra.elements);
  return out;
}

}  // namespace mha
