// What the files of this folder share: the softmax-attention kinds of a model, by layer kind.
#pragma once

#include <vector>

#include "mha/audit.hpp"

namespace mha {

struct AttentionUse {
  const LayerSpec* spec = nullptr;
  std::size_t spec_index = 0;
  const Attention* attention = nullptr;
  std::int64_t n_layers = 0;
};

[[nodiscard]] std::vector<AttentionUse> attention_uses(const Architecture& architecture);

// The one with most layers among those whose cache grows with every token; null when none does.
[[nodiscard]] const AttentionUse* main_attention(const std::vector<AttentionUse>& uses);

[[nodiscard]] std::vector<Finding> find_unusual(const Audit& audit, const AuditRules& rules);
void add_alternatives(Audit& audit, const AuditRules& rules);

// The model with its multi-token-prediction layers as layers of their own: what a server that drafts with them caches.
[[nodiscard]] Architecture with_draft_layers(const Architecture& architecture);

}  // namespace mha
