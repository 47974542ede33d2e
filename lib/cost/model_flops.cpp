// FLOPs of a whole model for one step of one sequence, under a named rule. 2 FLOPs a multiply-add.
#include <algorithm>

#include "mha/model_cost.hpp"

namespace mha {
namespace {

// Sum over q = 1 .. n of min(floor(q / ratio), cap).
i128 prefix_entries(i128 n, i128 ratio, i128 cap) {
  const auto uncapped = [&](i128 q) {
    const i128 m = q / ratio;
    return ratio * (m * (m - 1) / 2) + m * (q - ratio * m + 1);
  };
  const i128 reached = ratio * cap - 1;  // below, nothing is capped
  if (n <= reached) return uncapped(n);
  return uncapped(reached) + cap * (n - reached);
}

// Sum over q = 1 .. n of min((q - 1) mod chunk + 1, cap).
i128 prefix_chunks(i128 n, i128 chunk, i128 cap) {
  const i128 whole = prefix_entries(chunk, 1, cap);
  return n / chunk * whole + prefix_entries(n % chunk, 1, cap);
}

// What the last of n tokens sees.
i128 visible_at(const Visible& v, i128 n, i128 n_source) {
  i128 seen = n;
  switch (v.kind) {
    case Visible::Kind::full:
    case Visible::Kind::encoder:
      break;
    case Visible::Kind::window:
    case Visible::Kind::chunked:
      seen = std::min<i128>(n, v.limit);
      break;
    case Visible::Kind::cross:
      seen = n_source;
      break;
    case Visible::Kind::compressed:
      seen = n / v.ratio;
      break;
  }
  return v.top_k > 0 ? std::min<i128>(seen, v.top_k) : seen;
}

i128 triangle(const Visible& v, Step step, i128 n_source) {
  const i128 past = step.n_past, end = i128{step.n_past} + step.n_new;
  const i128 cap = v.top_k > 0 ? i128{v.top_k} : (i128{1} << 40);
  const auto between = [&](auto prefix) { return prefix(end) - prefix(past); };
  switch (v.kind) {
    case Visible::Kind::full:
      return between([&](i128 n) { return prefix_entries(n, 1, cap); });
    case Visible::Kind::window:
      return between([&](i128 n) { return prefix_entries(n, 1, std::min<i128>(cap, v.limit)); });
    case Visible::Kind::chunked:
      return between([&](i128 n) { return prefix_chunks(n, v.limit, cap); });
    case Visible::Kind::cross:
      return step.n_new * std::min(n_source, cap);
    case Visible::Kind::encoder:
      return step.n_new * std::min(end, cap);
    case Visible::Kind::compressed:
      return between([&](i128 n) { return prefix_entries(n, v.ratio, cap); });
  }
  return 0;
}

// Twice the pairs, so that half of an odd square is exact.
i128 doubled_pairs(const Visible& v, Step step, FlopRule::Pairs pairs, i128 n_source) {
  if (pairs == FlopRule::Pairs::triangle || v.kind == Visible::Kind::cross || v.kind == Visible::Kind::encoder)
    return 2 * triangle(v, step, n_source);
  const i128 end = i128{step.n_past} + step.n_new;
  if (pairs == FlopRule::Pairs::half && v.kind == Visible::Kind::full && v.top_k == 0)
    return i128{step.n_new} * (i128{step.n_past} + end);
  // A window has no half: its triangle is what a causal kernel does.
  if (pairs == FlopRule::Pairs::half) return 2 * triangle(v, step, n_source);
  return 2 * i128{step.n_new} * visible_at(v, end, n_source);
}

struct Context {
  const FlopRule& rule;
  Step step;
  i128 n_source;
};

// FLOPs of one term.
i128 flops_of_term(const WorkTerm& term, const Context& c) {
  switch (term.per) {
    case MacPer::new_token:
      return c.rule.attention_only ? 0 : 2 * term.macs * c.step.n_new;
    case MacPer::context_token:
      return c.rule.attention_only ? 0 : 2 * term.macs * (i128{c.step.n_past} + c.step.n_new);
    case MacPer::pair:
      break;
  }
  const i128 doubled = doubled_pairs(term.visible, c.step, c.rule.pairs, c.n_source);
  const bool counted = c.rule.products == 2 || (c.rule.products == 1 && !term.scores);
  return (counted ? term.macs * doubled : 0) + i128{c.rule.softmax_per_score} * term.n_scores * doubled / 2;
}

i128 flops_of_path(const WorkPath& path, const Context& c) {
  i128 sum = 0;
  for (const WorkTerm& term : path.terms) sum += flops_of_term(term, c);
  return sum;
}

const WorkPath& chosen_path(const Work& work, const Context& c) {
  const WorkPath* best = &work.paths.front();
  if (c.rule.expanded) return *best;
  for (const WorkPath& path : work.paths) {
    if (flops_of_path(path, c) < flops_of_path(*best, c)) best = &path;
  }
  return *best;
}

// Multiply-adds that pairs of one layer cost for each pair, scores and values: 2 n_heads d_head in plain attention.
i128 pair_macs(const LayerPlan& plan) {
  i128 macs = 0;
  for (const Work& work : plan.work) {
    for (const WorkTerm& term : work.paths.front().terms) macs += term.per == MacPer::pair ? term.macs : 0;
  }
  return macs;
}

void add(ModelFlops& out, std::string name, i128 flops) {
  if (flops == 0) return;
  out.lines.push_back({std::move(name), Flops(flops)});
  out.total += Flops(flops);
}

ModelFlops closed_form(const Architecture& architecture, const ModelPlan& plan, Step step) {
  ModelFlops out;
  const i128 n = count_params(architecture, plan).total.value();
  add(out, "6 N a token", 6 * n * step.n_new);
  i128 pairs = 0;
  for (const LayerGroup& group : layer_groups(architecture))
    pairs += pair_macs(plan.specs[group.spec]) * group.n_layers;
  add(out, "12 n_layers n_heads d_head S a token", 6 * pairs * step.n_new * (i128{step.n_past} + step.n_new));
  return out;
}

}  // namespace

i128 visible_pairs(const Visible& visible, Step step, FlopRule::Pairs pairs, std::int64_t n_source) {
  return doubled_pairs(visible, step, pairs, n_source) / 2;
}

ModelFlops count_flops(const Architecture& architecture, const ModelPlan& plan, const FlopRule& rule, Step step,
                       std::int64_t n_source) {
  if (rule.six_n) return closed_form(architecture, plan, step);
  const Context context{rule, step, n_source};
  const i128 passes = rule.training ? 3 : 1;
  ModelFlops out;
  for (const LayerGroup& group : layer_groups(architecture)) {
    for (const Work& work : plan.specs[group.spec].work) {
      const WorkPath& path = chosen_path(work, context);
      i128 products = 0, over_pairs = 0;
      for (const WorkTerm& term : path.terms)
        (term.per == MacPer::pair ? over_pairs : products) += flops_of_term(term, context);
      const std::string name = architecture.specs[group.spec].name + ": " + work.name +
                               (work.paths.size() > 1 ? " (" + path.name + ")" : std::string());
      add(out, name + ", projections", passes * products * group.n_layers);
      add(out, name + ", over the context", passes * over_pairs * group.n_layers);
    }
  }
  if (rule.attention_only) return out;
  for (const Tensor& tensor : plan.once) {
    if (tensor.component == Component::lm_head && !rule.head) continue;
    add(out, tensor.name, passes * 2 * tensor.macs() * step.n_new);
  }
  return out;
}

}  // namespace mha
