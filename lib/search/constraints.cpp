#include "search/constraints.hpp"

#include <algorithm>
#include <cmath>

#include "mha/quantity.hpp"

#include "core/text.hpp"
#include "cost/sharding.hpp"

namespace mha {
namespace {

std::string num(std::int64_t value) {
  return std::to_string(value);
}
std::int64_t whole(double value) {
  return static_cast<std::int64_t>(value);
}
double real(std::int64_t value) {
  return static_cast<double>(value);
}

std::string percent(double part, double whole_value) {
  return print_fixed(100 * part / whole_value, 1) + " %";
}

// ---- Head width ----

Outcome d_head_min(const ConstraintInput& in, const Thresholds& t) {
  const double narrowest = real(std::min(in.layout.d_head, in.layout.d_value));
  return {narrowest >= t[0], narrowest, t[0]};
}
Explanation explain_d_head_min(const ConstraintInput&, const Thresholds&, const Outcome& o) {
  const std::int64_t gap = std::abs(whole(o.actual - o.limit));
  return {o.met ? num(gap) + " above" : num(gap) + " below",
          "d_head " + num(whole(o.actual)) + (o.met ? " is at least " : " is below ") + num(whole(o.limit))};
}

Outcome d_head_max(const ConstraintInput& in, const Thresholds& t) {
  // The rotary part of a latent variant is carried beside the head and is no reason to call it wide.
  const double width = real(in.layout.variant->latent ? in.layout.d_nope : in.layout.d_head);
  return {width <= t[0] || !in.request.d_head_reason.empty(), width, t[0]};
}
Explanation explain_d_head_max(const ConstraintInput& in, const Thresholds&, const Outcome& o) {
  const std::string width = num(whole(o.actual)), limit = num(whole(o.limit));
  if (o.actual <= o.limit)
    return {num(whole(o.limit - o.actual)) + " below", "head width " + width + " is at most " + limit};
  if (o.met)
    return {num(whole(o.actual - o.limit)) + " above",
            "head width " + width + " is above " + limit + "; stated reason: " + in.request.d_head_reason};
  return {num(whole(o.actual - o.limit)) + " above",
          "head width " + width + " is above " + limit + " and --d-head-reason is not given"};
}

Outcome d_head_alignment(const ConstraintInput& in, const Thresholds& t) {
  const std::int64_t multiple = std::max<std::int64_t>(1, whole(t[0]));
  const bool met = in.layout.d_head % multiple == 0 && in.layout.d_value % multiple == 0;
  return {met, real(in.layout.d_head), t[0]};
}
Explanation explain_d_head_alignment(const ConstraintInput& in, const Thresholds& t, const Outcome& o) {
  return {o.met ? "exact" : num(in.layout.d_head % whole(t[0])) + " over",
          "d_head " + num(in.layout.d_head) + (o.met ? " is" : " is not") + " a multiple of " + num(whole(t[0]))};
}

Outcome kv_block_divides(const ConstraintInput& in, const Thresholds&) {
  Outcome o;
  for (const CacheEntry& entry : in.plan.cache) {
    const StorageFormat& format = entry.part == KvPart::key ? *in.workload.cache.key : *in.workload.cache.value;
    if (entry.row_elements % format.block_elements == 0) continue;
    return {false, real(entry.row_elements), real(format.block_elements)};
  }
  return o;
}
Explanation explain_kv_block_divides(const ConstraintInput&, const Thresholds&, const Outcome& o) {
  if (o.met) return {"exact", "cache rows are whole blocks of their format"};
  return {
      num(whole(o.actual) % whole(o.limit)) + " over",
      "a cache row of " + num(whole(o.actual)) + " elements is not a whole number of blocks of " + num(whole(o.limit))};
}

// ---- Standing rules on variants ----

Outcome mha_long_context(const ConstraintInput& in, const Thresholds& t) {
  // A KV head for each query head, and cached: TPA has the former and caches factors.
  const bool full = !in.layout.variant->latent && in.layout.n_kv_heads == in.layout.n_heads &&
                    in.cost.cache.elements_per_token_per_layer.value() >= i128{in.layout.n_heads} * in.layout.d_head;
  const bool bad = full && real(in.layout.n_heads) > t[0] && real(in.workload.n_ctx) > t[1];
  return {!bad, real(in.layout.n_heads), t[0]};
}
Explanation explain_mha_long_context(const ConstraintInput& in, const Thresholds& t, const Outcome& o) {
  if (o.met)
    return {"",
            "not MHA with more than " + num(whole(t[0])) + " heads beyond " + print_length(whole(t[1])) + " tokens"};
  std::int64_t kv = in.layout.n_heads;
  while (kv % 2 == 0 && kv > 8) kv /= 2;
  const std::string caches = upper(in.layout.variant->id) + " with " + num(in.layout.n_heads) + " heads caches " +
                             print_bytes(in.cost.cache.per_token) + " a token, " +
                             print_bytes(in.cost.cache.per_sequence) + " a sequence of " +
                             print_length(in.workload.n_ctx) + " tokens; ";
  const std::string heads = num(in.layout.n_heads) + "/" + num(kv) + "/" + num(in.layout.d_head);
  return {num(in.layout.n_heads - whole(t[0])) + " heads over",
          caches +
              (in.layout.variant->own_kernel ? "with " + num(kv) + " KV heads it caches about "
                                             : "GQA " + heads + " caches ") +
              num(in.layout.n_heads / kv) + " times less"};
}

Outcome mla_min_params(const ConstraintInput& in, const Thresholds& t) {
  if (!in.layout.variant->latent) return {};
  const auto& asked = in.request.variants;
  const bool explicitly = std::find(asked.begin(), asked.end(), in.layout.variant->id) != asked.end();
  const double params = in.cost.params.total.as_double();
  return {explicitly || params >= t[0] * 0.99, params, t[0]};
}
Explanation explain_mla_min_params(const ConstraintInput& in, const Thresholds& t, const Outcome& o) {
  if (!in.layout.variant->latent) return {"", "not MLA"};
  const std::string name = upper(in.layout.variant->id);
  return {print_count(static_cast<i128>(std::abs(o.actual - o.limit))) + (o.actual < o.limit ? " below" : " above"),
          o.met ? name + " at " + print_count(static_cast<i128>(o.actual)) + " parameters" +
                      (o.actual < t[0] ? ", asked for by --variants" : "")
                : name + " is not proposed below " + print_count(static_cast<i128>(t[0])) +
                      " parameters unless --variants names it"};
}

Outcome min_layers(const ConstraintInput& in, const Thresholds& t) {
  return {real(in.shape.n_layers) >= t[0], real(in.shape.n_layers), t[0]};
}
Explanation explain_min_layers(const ConstraintInput&, const Thresholds&, const Outcome& o) {
  return {num(whole(o.actual - o.limit)), num(whole(o.actual)) + " layers; induction needs " + num(whole(o.limit))};
}

// ---- Capacity ----

Outcome memory_fits(const ConstraintInput& in, const Thresholds& t) {
  const Target& target = in.rules.target;
  const double room = target.memory.value.as_double() * t[0] - target.reserve.value.as_double();
  return {in.cost.memory_per_rank.as_double() <= room, in.cost.memory_per_rank.as_double(), room};
}
Explanation explain_memory_fits(const ConstraintInput& in, const Thresholds&, const Outcome& o) {
  const Bytes gap(static_cast<i128>(std::abs(o.limit - o.actual)));
  return {print_bytes(gap) + (o.met ? " free" : " over"),
          "weights " + print_bytes(in.cost.weights_per_rank) + " + cache " + print_bytes(in.cost.cache.per_rank_batch) +
              " a device against " + print_bytes(Bytes(static_cast<i128>(o.limit))) + " (" +
              print_bytes(in.rules.target.memory.value) + " less a reserve of " +
              print_bytes(in.rules.target.reserve.value) + ")"};
}

Outcome tp_legal(const ConstraintInput& in, const Thresholds&) {
  return {tensor_parallel_legal(in.layout, in.workload.tensor_parallel), real(in.layout.n_heads),
          real(in.workload.tensor_parallel)};
}
Explanation explain_tp_legal(const ConstraintInput& in, const Thresholds&, const Outcome& o) {
  const std::string degree = num(in.workload.tensor_parallel);
  if (o.met)
    return {"exact", "heads split over " + degree + (in.workload.tensor_parallel == 1 ? " device" : " devices")};
  if (in.layout.n_heads % in.workload.tensor_parallel != 0)
    return {num(in.layout.n_heads % in.workload.tensor_parallel) + " over",
            num(in.layout.n_heads) + " query heads do not split over " + degree + " devices"};
  return {"", num(cache_heads(in.layout)) + (in.layout.variant->latent ? " latents" : " KV heads") +
                  " neither split over " + degree + " devices nor replicate evenly"};
}

Outcome params_budget(const ConstraintInput& in, const Thresholds& t) {
  if (in.budget == Params(0)) return {true, 0, t[0]};
  const double off = in.cost.params.total.as_double() / in.budget.as_double() - 1;
  return {std::abs(off) <= t[0], off, t[0]};
}
Explanation explain_params_budget(const ConstraintInput& in, const Thresholds&, const Outcome& o) {
  if (in.budget == Params(0)) return {"", "no budget given"};
  return {percent(o.actual, 1), print_grouped(in.cost.params.total.value()) + " parameters are " +
                                    percent(std::abs(o.actual), 1) + (o.actual < 0 ? " below" : " above") +
                                    " the budget of " + print_count(in.budget.value()) + " (tolerance " +
                                    percent(o.limit, 1) + ")"};
}

// ---- Flags ----

Outcome narrow_kv(const ConstraintInput& in, const Thresholds& t) {
  const bool narrow =
      !in.layout.variant->latent && real(in.plan.kv_width) < t[0] && in.cost.params.total.as_double() >= t[1];
  return {!narrow, real(in.plan.kv_width), t[0]};
}
Explanation explain_narrow_kv(const ConstraintInput&, const Thresholds&, const Outcome& o) {
  return {num(std::abs(whole(o.actual - o.limit))) + (o.actual < o.limit ? " below" : " above"),
          "KV width " + num(whole(o.actual)) +
              (o.met ? "" : " is narrower than any release of 1B or more parameters since 2024")};
}

Outcome large_group(const ConstraintInput& in, const Thresholds& t) {
  if (in.layout.variant->latent) return {true, 1, t[0]};
  return {real(in.layout.group_size()) <= t[0], real(in.layout.group_size()), t[0]};
}
Explanation explain_large_group(const ConstraintInput&, const Thresholds&, const Outcome& o) {
  return {num(std::abs(whole(o.actual - o.limit))) + (o.met ? " below" : " above"),
          num(whole(o.actual)) + " query heads share a KV head; kernels gain nothing beyond " + num(whole(o.limit))};
}

Outcome steep_attention_width(const ConstraintInput& in, const Thresholds& t) {
  const double ratio = real(in.plan.attention_width) / real(in.shape.d_model);
  return {ratio >= t[0], ratio, t[0]};
}
Explanation explain_steep(const ConstraintInput& in, const Thresholds&, const Outcome& o) {
  return {print_fixed(o.actual - o.limit, 2),
          "attention width " + num(in.plan.attention_width) + " is " + print_fixed(o.actual, 2) + " of d_model"};
}

Outcome mlp_ratio(const ConstraintInput& in, const Thresholds& t) {
  const double ratio = in.cost.params.ffn.as_double() / in.cost.params.attention.as_double();
  return {ratio >= t[0] && ratio <= t[1], ratio, ratio < t[0] ? t[0] : t[1]};
}
Explanation explain_mlp_ratio(const ConstraintInput&, const Thresholds& t, const Outcome& o) {
  return {print_fixed(o.actual - o.limit, 2), "feed-forward has " + print_fixed(o.actual, 2) +
                                                  " times the parameters of attention; the studies cover " +
                                                  print_fixed(t[0], 1) + " to " + print_fixed(t[1], 1)};
}

Outcome kernel_support(const ConstraintInput& in, const Thresholds&) {
  std::int64_t taken = 0;
  for (const KernelSupport& kernel : in.rules.kernels) taken += kernel_takes(kernel, in.layout) ? 1 : 0;
  return {in.rules.kernels.empty() || taken > 0, real(taken), real(static_cast<std::int64_t>(in.rules.kernels.size()))};
}
Explanation explain_kernel_support(const ConstraintInput& in, const Thresholds&, const Outcome& o) {
  std::string why = num(whole(o.actual)) + " of " + num(whole(o.limit)) +
                    " attention kernels listed for the target take this layout unpadded";
  if (!o.met && in.layout.variant->own_kernel)
    why += ": " + std::string(in.layout.variant->id) + " needs a kernel of its own, and none on file names it";
  return {"", why};
}

}  // namespace

const std::vector<Constraint>& constraints() {
  static const std::vector<Constraint> table = {
      {"d-head-min", false, {"min", ""}, d_head_min, explain_d_head_min},
      {"d-head-max", false, {"max", ""}, d_head_max, explain_d_head_max},
      {"d-head-alignment", false, {"multiple", ""}, d_head_alignment, explain_d_head_alignment},
      {"kv-block-divides", true, {"", ""}, kv_block_divides, explain_kv_block_divides},
      {"mha-long-context", false, {"max_heads", "max_context"}, mha_long_context, explain_mha_long_context},
      {"mla-min-params", false, {"min_params", ""}, mla_min_params, explain_mla_min_params},
      {"min-layers", false, {"min", ""}, min_layers, explain_min_layers},
      {"memory-fits", true, {"max_fraction", ""}, memory_fits, explain_memory_fits},
      {"tensor-parallel-legal", true, {"", ""}, tp_legal, explain_tp_legal},
      {"params-budget", false, {"tolerance", ""}, params_budget, explain_params_budget},
      {"narrow-kv", false, {"min_width", "min_params"}, narrow_kv, explain_narrow_kv},
      {"large-group", false, {"max_group", ""}, large_group, explain_large_group},
      {"steep-attention-width", false, {"min_ratio", ""}, steep_attention_width, explain_steep},
      {"mlp-ratio", false, {"min", "max"}, mlp_ratio, explain_mlp_ratio},
      {"kernel-support", false, {"", ""}, kernel_support, explain_kernel_support},
  };
  return table;
}

Expected<std::vector<ActiveConstraint>> activate(const RuleSet& rules) {
  std::vector<ActiveConstraint> active;
  Diagnostics problems;
  const auto problem = [&](std::string what, std::string key) {
    Diagnostic d;
    d.code = "constraint-table";
    d.where.key = std::move(key);
    d.what = std::move(what);
    problems.push_back(std::move(d));
  };
  for (const Constraint& row : constraints()) {
    ActiveConstraint one;
    one.constraint = &row;
    for (const ConstraintRule& rule : rules.constraints)
      if (rule.id == row.id) one.rule = &rule;
    if (one.rule == nullptr) {
      problem("no rule file for constraint '" + std::string(row.id) + "'", std::string(row.id));
      continue;
    }
    one.reject = one.rule->severity == "reject";
    for (std::size_t i = 0; i < row.thresholds.size(); ++i) {
      if (row.thresholds[i].empty()) continue;
      const auto found = one.rule->thresholds.find(std::string(row.thresholds[i]));
      if (found == one.rule->thresholds.end())
        problem("threshold '" + std::string(row.thresholds[i]) + "' is missing", std::string(row.id));
      else
        one.thresholds[i] = found->second;
    }
    active.push_back(one);
  }
  std::vector<std::string> known;
  for (const Constraint& row : constraints()) known.emplace_back(row.id);
  for (const ConstraintRule& rule : rules.constraints)
    if (std::find(known.begin(), known.end(), rule.id) == known.end()) {
      problem("there is no constraint '" + rule.id + "'", rule.id);
      problems.back().hint = did_you_mean(rule.id, known);
    }
  if (!problems.empty()) return problems;
  return active;
}

Verdict verdict(const ActiveConstraint& active, const ConstraintInput& in, const Outcome& outcome) {
  const Explanation explanation = active.constraint->explain(in, active.thresholds, outcome);
  return {std::string(active.constraint->id),
          active.reject,
          outcome.met,
          outcome.actual,
          outcome.limit,
          explanation.margin,
          explanation.why};
}

namespace {

// A kernel of its own is named in the kernel's rules: none takes the variant by being able to do something else.
bool names_variant(const KernelSupport& kernel, const Layout& layout) {
  return std::find(kernel.variants.begin(), kernel.variants.end(), layout.variant->id) != kernel.variants.end();
}

// "512+64"; of several latents each, "2x256+64".
std::string latent_pair(const Layout& layout) {
  const std::string rope = "+" + num(layout.d_rope);
  if (layout.n_latents == 0) return num(layout.d_kv_latent) + rope;
  return num(layout.n_latents) + "x" + num(layout.d_kv_latent / layout.n_latents) + rope;
}

bool takes_width(const KernelSupport& kernel, std::int64_t width) {
  if (!kernel.d_head.empty())
    return std::find(kernel.d_head.begin(), kernel.d_head.end(), width) != kernel.d_head.end();
  return width <= kernel.d_head_max && width % std::max<std::int64_t>(1, kernel.d_head_multiple) == 0;
}

bool takes_group(const KernelSupport& kernel, std::int64_t group) {
  return kernel.group_sizes.empty() ||
         std::find(kernel.group_sizes.begin(), kernel.group_sizes.end(), group) != kernel.group_sizes.end();
}

}  // namespace

bool kernel_takes(const KernelSupport& kernel, const Layout& layout) {
  if (layout.variant->own_kernel && !names_variant(kernel, layout)) return false;
  if (layout.variant->latent) {
    if (kernel.latent.empty()) return false;
    return std::find(kernel.latent.begin(), kernel.latent.end(), latent_pair(layout)) != kernel.latent.end();
  }
  return layout.d_head == layout.d_value && takes_width(kernel, layout.d_head) &&
         takes_group(kernel, layout.group_size());
}

KernelFit kernel_fit(const KernelSupport& kernel, const Layout& layout) {
  if (kernel_takes(kernel, layout)) {
    if (layout.variant->latent) return {true, "takes the latent " + latent_pair(layout)};
    return {true, "takes d_head " + num(layout.d_head) + " unpadded, group " + num(layout.group_size())};
  }
  if (layout.variant->own_kernel && !names_variant(kernel, layout))
    return {false, "has no kernel for " + std::string(layout.variant->id)};
  if (layout.variant->latent)
    return {false, kernel.latent.empty() ? "has no MLA kernel" : "has no kernel for the latent " + latent_pair(layout)};
  if (layout.d_head != layout.d_value) return {false, "needs d_value = d_head"};
  if (!takes_width(kernel, layout.d_head)) return {false, "pads or falls back at d_head " + num(layout.d_head)};
  return {false, "has no kernel for " + num(layout.group_size()) + " query heads a KV head"};
}

bool tensor_parallel_legal(const Layout& layout, std::int64_t degree) {
  if (layout.n_heads % degree != 0) return false;
  const std::int64_t heads = cache_heads(layout);  // one latent is copied to every rank
  return heads % degree == 0 || degree % heads == 0;
}

}  // namespace mha
