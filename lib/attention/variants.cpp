#include "attention/variants.hpp"

namespace mha {

const std::vector<const Variant*>& variants() {
  static const std::vector<const Variant*> table = {&kMha, &kMqa, &kGqa, &kMla, &kGta, &kGla, &kMfa, &kTpa};
  return table;
}

const Variant* find_variant(std::string_view id) {
  for (const Variant* variant : variants())
    if (variant->id == id) return variant;
  return nullptr;
}

AttentionPlan lower(const Layout& layout, std::int64_t d_model) {
  return layout.variant->lower(layout, d_model);
}

std::string notation(const Layout& layout) {
  return layout.variant->notation(layout);
}

}  // namespace mha
