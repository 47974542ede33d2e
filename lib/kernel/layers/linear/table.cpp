// The table of linear oracles: one row for each row of linear_kinds().
#include "kernel/layers/linear/kinds.hpp"

namespace mha::layers {

const std::vector<LinearOracle>& linear_oracles() {
  using namespace linear;
  static const std::vector<LinearOracle> table = {
      {"gated-delta-net", draw_gated_delta_net, start_gated_delta_net, gated_delta_net},
      {"kimi-delta", draw_kimi_delta, start_kimi_delta, kimi_delta},
      {"lightning", draw_lightning, start_lightning, lightning},
      {"mamba1", draw_mamba1, start_mamba1, mamba1},
      {"mamba2", draw_mamba2, start_mamba2, mamba2},
      {"rg-lru", draw_rg_lru, start_rg_lru, rg_lru},
      {"short-conv", draw_short_conv, start_short_conv, short_conv},
  };
  return table;
}

const LinearOracle* find_linear_oracle(std::string_view id) {
  for (const LinearOracle& row : linear_oracles())
    if (row.id == id) return &row;
  return nullptr;
}

}  // namespace mha::layers
