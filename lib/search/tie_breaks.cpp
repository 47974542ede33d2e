// Tie-breaks, in order. Each says where it comes from; none is about quality, which cannot tell members of a class apart.
#include <cmath>

#include "mha/quantity.hpp"

#include "cost/sharding.hpp"
#include "search/constraints.hpp"
#include "search/rank.hpp"

namespace mha {
namespace {

constexpr std::int64_t kNarrowModel = 1024;
constexpr std::int64_t kNarrowModelHead = 64, kWideModelHead = 128;

std::int64_t kernels_taking(const Scored& s, const RuleSet& rules) {
  std::int64_t taken = 0;
  for (const KernelSupport& kernel : rules.kernels) taken += kernel_takes(kernel, s.layout) ? 1 : 0;
  return taken;
}

// Degrees that split heads and what is cached without copying either. Asked in each comparison, so no plan is lowered.
std::int64_t even_degrees(const Scored& s, const RuleSet& rules) {
  // A latent that serves all heads, and the factors of a tensor product over the width of a head, have no heads to split.
  const std::int64_t heads = s.layout.rank_kv > 0 ? 1 : cache_heads(s.layout);
  std::int64_t count = 0;
  for (const std::int64_t degree : rules.target.tensor_parallel)
    if (s.layout.n_heads % degree == 0 && heads % degree == 0) ++count;
  return count;
}

bool power_of_two_group(const Scored& s) {
  const std::int64_t group = s.layout.group_size();
  return (group & (group - 1)) == 0;
}

std::int64_t usual_head(std::int64_t d_model) {
  return d_model <= kNarrowModel ? kNarrowModelHead : kWideModelHead;
}

double width_score(const Scored& s, const RuleSet&, std::int64_t d_model) {
  const double width = static_cast<double>(s.layout.variant->latent ? s.layout.d_nope : s.layout.d_head);
  return -std::abs(std::log2(width / static_cast<double>(usual_head(d_model))));
}

}  // namespace

const std::vector<TieBreak>& tie_breaks() {
  static const std::vector<TieBreak> table = {
      {"runtime-kernels", "more of the target's attention kernels take the layout without padding",
       "rules/kernels, each with source and date",
       [](const Scored& s, const RuleSet& rules, std::int64_t) {
         return static_cast<double>(kernels_taking(s, rules));
       },
       [](const Scored& s, const RuleSet& rules, std::int64_t) {
         return std::to_string(kernels_taking(s, rules)) + " of " + std::to_string(rules.kernels.size()) + " kernels";
       }},
      {"tensor-parallel", "more tensor-parallel degrees of the target split its heads without replication",
       "vLLM and Megatron-LM: n_heads % tp = 0, KV heads split down to one and then replicate (read 2026-08-22)",
       [](const Scored& s, const RuleSet& rules, std::int64_t) { return static_cast<double>(even_degrees(s, rules)); },
       [](const Scored& s, const RuleSet& rules, std::int64_t) {
         return std::to_string(even_degrees(s, rules)) + " of " + std::to_string(rules.target.tensor_parallel.size()) +
                " degrees";
       }},
      {"power-of-two-group", "query heads per KV head are a power of two",
       "ggml src/ggml-cuda/fattn.cu packs query heads in powers of two only; FlashInfer decode dispatches few others "
       "(read 2026-08-22)",
       [](const Scored& s, const RuleSet&, std::int64_t) { return power_of_two_group(s) ? 1.0 : 0.0; },
       [](const Scored& s, const RuleSet&, std::int64_t) { return "group " + std::to_string(s.layout.group_size()); }},
      {"usual-head-width", "head width nearest to 128, or to 64 when d_model is at most 1024",
       "59 of 97 grouped or plain layouts released since 2023 use 128, those of width 1024 and less mostly 64; at "
       "equal attention width 128 "
       "prefills about 1.2x faster than 64 on Hopper and 1.6x on Blackwell (ai-dynamo/aiconfigurator kernel tables, "
       "read 2026-08-21)",
       width_score,
       [](const Scored& s, const RuleSet&, std::int64_t d_model) {
         return "d_head " + std::to_string(s.layout.variant->latent ? s.layout.d_nope : s.layout.d_head) + " against " +
                std::to_string(usual_head(d_model));
       }},
      {"smaller-cache", "smaller cache per sequence, which is cheaper still at a longer context", "this cost model",
       [](const Scored& s, const RuleSet&, std::int64_t) { return -s.kv_per_sequence; },
       [](const Scored& s, const RuleSet&, std::int64_t) {
         return print_bytes(Bytes(static_cast<i128>(s.kv_per_sequence))) + " a sequence";
       }},
  };
  return table;
}

}  // namespace mha
