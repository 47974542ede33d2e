#include "rules/family_traits.hpp"

#include <algorithm>

#include "mha/quantity.hpp"

#include "core/text.hpp"

namespace mha {
namespace {

constexpr std::int64_t kMaxTraitCount = 1000;

template <bool FamilyTraits::*Field>
TraitRow flag(std::string_view name) {
  return {name, {"true", "false"}, [](FamilyTraits& t, std::string_view value) { t.*Field = value == "true"; }};
}

template <std::string FamilyTraits::*Field>
TraitRow word(std::string_view name, std::vector<std::string> choices) {
  return {name, std::move(choices), [](FamilyTraits& t, std::string_view value) { t.*Field = value; }};
}

template <std::int64_t FamilyTraits::*Field>
TraitRow count(std::string_view name) {
  return {name, {}, [](FamilyTraits& t, std::string_view value) {
            const Expected<std::int64_t> number = parse_count(value, 0, kMaxTraitCount);
            t.*Field = number ? *number : 0;
          }};
}

void set_norm(FamilyTraits& t, std::string_view value) {
  t.norm = value == "rms"           ? NormKind::rms
           : value == "layer"       ? NormKind::layer
           : value == "layer_scale" ? NormKind::layer_scale
                                    : NormKind::none;
}

void set_qk_norm(FamilyTraits& t, std::string_view value) {
  t.qk_norm = value == "per_head" ? QkNorm::per_head : value == "full" ? QkNorm::full : QkNorm::none;
}

void set_bias(FamilyTraits& t, std::string_view value) {
  const auto has = [&](char letter) { return value != "none" && value.find(letter) != std::string_view::npos; };
  t.bias = {has('q'), has('k'), has('v'), has('o')};
}

void set_ffn_bias(FamilyTraits& t, std::string_view value) {
  t.ffn_bias_up = value == "up" || value == "both";
  t.ffn_bias_down = value == "down" || value == "both";
}

using T = FamilyTraits;

}  // namespace

const std::vector<TraitRow>& trait_rows() {
  static const std::vector<std::string> kWhere = {"none", "all", "window", "full"};
  static const std::vector<TraitRow> rows = {
      {"norm", {"rms", "layer", "layer_scale", "none"}, set_norm},
      count<&T::norms>("norms"),
      flag<&T::final_norm>("final_norm"),
      flag<&T::embedding_norm>("embedding_norm"),
      flag<&T::learned_positions>("learned_positions"),
      count<&T::learned_positions_offset>("learned_positions_offset"),
      flag<&T::type_vocab>("type_vocab"),
      flag<&T::lm_head>("lm_head"),
      flag<&T::lm_head_bias>("lm_head_bias"),
      {"bias", {"none", "q", "qk", "qv", "qkv", "qkvo", "qvo", "vo", "o"}, set_bias},
      {"qk_norm", {"none", "per_head", "full"}, set_qk_norm},
      flag<&T::qk_norm_shift>("qk_norm_shift"),
      word<&T::qk_norm_layers>("qk_norm_layers", {"all", "window", "full", "cross"}),
      flag<&T::value_norm>("value_norm"),
      word<&T::sinks>("sinks", kWhere),
      flag<&T::output_gate>("output_gate"),
      flag<&T::head_gate>("head_gate"),
      flag<&T::tied_values>("tied_values"),
      flag<&T::keeps_kv_weights>("keeps_kv_weights"),
      flag<&T::encoder>("encoder"),
      flag<&T::window_all>("window_all"),
      word<&T::linear>("linear",
                       {"gated-delta-net", "kimi-delta", "lightning", "mamba1", "mamba2", "rg-lru", "short-conv"}),
      flag<&T::linear_bias>("linear_bias"),
      flag<&T::linear_conv_bias>("linear_conv_bias"),
      flag<&T::linear_inner_norm>("linear_inner_norm"),
      word<&T::mixer>("mixer", {"attention", "linear", "both"}),
      flag<&T::gated_ffn>("gated_ffn"),
      {"ffn_bias", {"none", "up", "down", "both"}, set_ffn_bias},
      flag<&T::ffn_after_linear>("ffn_after_linear"),
      flag<&T::dense_beside_moe>("dense_beside_moe"),
      flag<&T::shared_gate>("shared_gate"),
      flag<&T::router_bias>("router_bias"),
      flag<&T::correction_bias>("correction_bias"),
      flag<&T::expert_scale>("expert_scale"),
      flag<&T::router_scale>("router_scale"),
      flag<&T::mtp_own_embeddings>("mtp_own_embeddings"),
  };
  return rows;
}

std::optional<Diagnostic> set_trait(FamilyTraits& traits, std::string_view name, std::string_view value) {
  const std::vector<TraitRow>& rows = trait_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const TraitRow& r) { return r.name == name; });
  if (row == rows.end()) {
    std::vector<std::string> names;
    for (const TraitRow& r : rows) names.emplace_back(r.name);
    return Diagnostic{Severity::error, "unknown-trait", {}, shown(name) + " is not a trait", did_you_mean(name, names)};
  }
  if (row->choices.empty()) {
    const Expected<std::int64_t> number = parse_count(value, 0, kMaxTraitCount);
    if (!number) return number.error()[0];
  } else if (std::find(row->choices.begin(), row->choices.end(), value) == row->choices.end()) {
    return Diagnostic{Severity::error,
                      "unknown-name",
                      {},
                      shown(value) + " is not a choice for " + std::string(name),
                      did_you_mean(value, row->choices)};
  }
  row->set(traits, value);
  return std::nullopt;
}

}  // namespace mha
