#include "kernel/oracle.hpp"

#include "kernel/oracle/variants.hpp"

namespace mha::oracle {

const std::vector<Oracle>& oracles() {
  static const std::vector<Oracle> table{
      {"mha", "", draw_grouped, {{"direct", mha_forward}}},
      {"mqa", "", draw_grouped, {{"direct", mqa_forward}}},
      {"gqa", "mha", draw_grouped, {{"direct", gqa_forward}}},
      {"mla", "", draw_mla, {{"expanded", mla_expanded}, {"absorbed", mla_absorbed}}},
      {"gta", "", draw_gta, {{"direct", gta_forward}}},
      {"gla", "", draw_gla, {{"expanded", gla_expanded}, {"absorbed", gla_absorbed}}},
      {"mfa", "", draw_mfa, {{"direct", mfa_forward}}},
      {"tpa", "", draw_tpa, {{"expanded", tpa_expanded}, {"factored", tpa_factored}}},
  };
  return table;
}

const Oracle* find_oracle(std::string_view id) {
  for (const Oracle& oracle : oracles())
    if (oracle.id == id) return &oracle;
  return nullptr;
}

}  // namespace mha::oracle
