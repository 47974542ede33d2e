// From request to recommendation: enumerate, cost, constrain, rank, and then describe what was decided. The loop over
// candidates keeps numbers only; everything in words is made afterwards, for the few that are shown.
#include "mha/recommend.hpp"

#include <algorithm>
#include <cmath>

#include "search/axes.hpp"
#include "search/describe.hpp"
#include "search/pareto.hpp"
#include "search/problem.hpp"
#include "search/rank.hpp"

namespace mha {
namespace {

struct Space {
  std::vector<Scored> scored;
  std::vector<std::vector<double>> loss;  // [preset][candidate]
  std::vector<std::size_t> feasible;
  std::vector<double> best_loss;  // [preset], over what is structurally sound, fitting or not
  std::size_t best_index = 0;     // under the deciding preset
};

std::vector<Layout> enumerate_layouts(const Problem& problem) {
  const AxisValues axes = make_axes(*problem.request, problem.shape.shape.d_model);
  std::vector<Layout> layouts;
  for (const Variant* variant : allowed_variants(*problem.request)) variant->enumerate(axes, layouts);
  // MLA's d_head follows from d_nope and d_rope; a pinned d_head holds for it too.
  if (problem.request->d_head)
    layouts.erase(std::remove_if(layouts.begin(), layouts.end(),
                                 [&](const Layout& l) { return l.d_head != *problem.request->d_head; }),
                  layouts.end());
  return layouts;
}

bool limits_met(const Problem& problem, const Candidate& candidate) {
  for (const Assertion& limit : problem.request->limits)
    if (!check_assertion(limit, candidate).met) return false;
  return true;
}

Space cost_all(const Problem& problem, const std::vector<Layout>& layouts) {
  const RuleSet& rules = *problem.rules;
  const std::size_t presets = rules.presets.size();
  Space space;
  space.scored.reserve(layouts.size() * problem.formats.size());
  space.loss.resize(presets);
  space.best_loss.assign(presets, INFINITY);
  std::vector<LossModel> models;
  for (const QualityPreset& preset : rules.presets) models.emplace_back(preset, problem.reference_params);
  for (std::size_t format = 0; format < problem.formats.size(); ++format) {
    const Workload workload = problem.workload_of(format);
    for (const Layout& layout : layouts) {
      const AttentionPlan plan = lower(layout, problem.shape.shape.d_model);
      const ModelShape shape = problem.shape_of(plan);
      const Cost cost = compute_cost(shape, plan, workload, rules.target);
      const ConstraintInput input{*problem.request, rules, workload, layout, plan, shape, cost, problem.shape.budget};
      Scored s;
      s.layout = layout;
      s.d_ff = shape.d_ff;
      s.format = static_cast<std::uint32_t>(format);
      bool sound = true;
      for (std::size_t i = 0; i < problem.constraints.size(); ++i) {
        const ActiveConstraint& active = problem.constraints[i];
        if (!active.reject || active.constraint->test(input, active.thresholds).met) continue;
        s.rejects |= std::uint32_t{1} << i;
        sound = sound && active.constraint->capacity;
      }
      s.objective = problem.objective->value(cost);
      s.decode_s = cost.decode.bound_s;
      s.kv_per_sequence = cost.cache.per_sequence.as_double();
      for (std::size_t p = 0; p < presets; ++p) {
        const double loss = models[p].predict(layout, plan, shape.d_model, cost.params.total).total();
        space.loss[p].push_back(loss);
        if (!sound || loss >= space.best_loss[p]) continue;
        space.best_loss[p] = loss;
        if (p == problem.preset) space.best_index = space.scored.size();
      }
      if (!problem.request->limits.empty()) s.misses_limit = !limits_met(problem, problem.candidate(layout, format));
      if (s.rejects == 0 && !s.misses_limit) space.feasible.push_back(space.scored.size());
      space.scored.push_back(s);
    }
  }
  return space;
}

Ranking rank_under(const Problem& problem, const Space& space, std::size_t preset, double slack, std::size_t most) {
  return rank({space.scored, space.loss[preset], space.feasible, *problem.rules, problem.shape.shape.d_model,
               space.best_loss[preset], slack, problem.rules->presets[preset].noise_band},
              most);
}

// Steps until something feasible is inside; 0 when the slack itself holds one.
double relaxation(const Space& space, std::size_t preset, double slack) {
  double least = INFINITY;
  for (const std::size_t i : space.feasible) least = std::min(least, space.loss[preset][i]);
  const double excess = least - space.best_loss[preset] - slack;
  return excess <= 0 ? 0 : std::ceil(excess / kSlackStep) * kSlackStep;
}

std::vector<ParetoPoint> pareto_points(const Problem& problem, const Space& space, std::size_t recommended,
                                       std::int64_t& front_size) {
  std::vector<CostPoint> points;
  for (const std::size_t i : space.feasible)
    points.push_back({space.loss[problem.preset][i], space.scored[i].decode_s, space.scored[i].kv_per_sequence});
  const std::vector<std::size_t> front = pareto_front(points);
  front_size = static_cast<std::int64_t>(front.size());
  std::vector<bool> on_front(points.size(), false);
  for (const std::size_t i : front) on_front[i] = true;

  // Candidates at the very same point are one mark; the recommended one gives it its name.
  std::vector<std::size_t> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const CostPoint &x = points[a], &y = points[b];
    if (on_front[a] != on_front[b]) return static_cast<bool>(on_front[a]);
    if (x.memory != y.memory) return x.memory < y.memory;
    if (x.loss != y.loss) return x.loss < y.loss;
    if (x.decode_s != y.decode_s) return x.decode_s < y.decode_s;
    const bool first = space.feasible[a] == recommended, second = space.feasible[b] == recommended;
    return first != second ? first : a < b;
  });
  struct Mark {
    std::size_t point;
    std::int64_t same;
  };
  std::vector<Mark> marks;
  for (const std::size_t i : order) {
    const CostPoint* last = marks.empty() ? nullptr : &points[marks.back().point];
    const CostPoint& point = points[i];
    if (last != nullptr && last->memory == point.memory && last->loss == point.loss && last->decode_s == point.decode_s)
      ++marks.back().same;
    else
      marks.push_back({i, 1});
  }

  // The plot needs a cloud, not every point of it: all of the front, and the others evenly thinned.
  constexpr std::size_t kMost = 400;
  std::size_t n_front = 0;
  for (const Mark& mark : marks) n_front += on_front[mark.point] ? 1 : 0;
  const std::size_t others = marks.size() - n_front, room = n_front < kMost ? kMost - n_front : 1;
  std::vector<ParetoPoint> shown;
  for (std::size_t m = 0; m < marks.size(); ++m) {
    const std::size_t i = marks[m].point;
    const bool is_recommended = space.feasible[i] == recommended;
    if (!on_front[i] && !is_recommended && others > room) {
      const std::size_t at = m - n_front;
      if (at * room / others == (at + 1) * room / others) continue;
    }
    const Scored& s = space.scored[space.feasible[i]];
    shown.push_back({notation(s.layout), std::string(s.layout.variant->id), points[i].loss, points[i].decode_s,
                     Bytes(static_cast<i128>(points[i].memory)), on_front[i], is_recommended, marks[m].same});
  }
  return shown;
}

std::vector<RejectedRule> tally(const Problem& problem, const Space& space) {
  std::vector<RejectedRule> rejected;
  for (std::size_t i = 0; i < problem.constraints.size(); ++i) {
    RejectedRule row;
    for (const Scored& s : space.scored) {
      if ((s.rejects >> i & 1U) == 0) continue;
      if (row.count++ > 0) continue;
      const Candidate c = problem.candidate(s.layout, s.format);
      row.example = c.notation;
      row.why = judge(problem, c, problem.constraints[i]).why;
    }
    row.rule = problem.constraints[i].constraint->id;
    if (row.count > 0) rejected.push_back(row);
  }
  for (const Assertion& limit : problem.request->limits) {
    RejectedRule row;
    row.rule = "limit: " + limit.text;
    for (const Scored& s : space.scored) {
      if (!s.misses_limit) continue;
      const Candidate c = problem.candidate(s.layout, s.format);
      const AssertionResult result = check_assertion(limit, c);
      if (result.met || row.count++ > 0) continue;
      row.example = c.notation;
      row.why = result.actual + ", " + result.margin;
    }
    if (row.count > 0) rejected.push_back(row);
  }
  return rejected;
}

Diagnostics no_feasible(const Problem& problem, const Space& space) {
  Diagnostic d;
  d.code = "no-feasible-layout";
  if (space.scored.empty()) {
    d.what = "no layout has d_model " + std::to_string(problem.shape.shape.d_model) +
             " and the widths and heads that the request pins";
    d.hint = problem.request->decoupled ? "drop a pin such as --n-heads or --d-head"
                                        : "drop a pin such as --n-heads or --d-head, or let the attention width differ "
                                          "from d_model with --decoupled";
    return {d};
  }
  d.what = "none of " + std::to_string(space.scored.size()) + " candidate layouts satisfies the request";
  Diagnostics all;
  const std::vector<RejectedRule> rejected = tally(problem, space);
  for (const RejectedRule& row : rejected) {
    Diagnostic note;
    note.severity = Severity::note;
    note.code = row.rule;
    note.what = "rejects " + std::to_string(row.count) + ", for example " + row.example + ": " + row.why;
    all.push_back(note);
  }
  d.hint = advice_for(rejected);
  all.insert(all.begin(), d);
  return all;
}

}  // namespace

Expected<Recommendation> recommend(const Request& request, const RuleSet& rules) {
  Expected<Problem> stated = state_problem(request, rules);
  if (!stated) return stated.error();
  const Problem& problem = *stated;
  const Space space = cost_all(problem, enumerate_layouts(problem));
  if (space.feasible.empty()) return no_feasible(problem, space);

  const double asked = request.quality_slack.value_or(problem.priority->quality_slack);
  const double relaxed = relaxation(space, problem.preset, asked);
  const Ranking ranking = rank_under(problem, space, problem.preset, asked + relaxed, kMaxRanked);
  const std::size_t first = ranking.order.front().index;

  Recommendation r;
  r.request = request;
  r.target = rules.target;
  r.priority = *problem.priority;
  r.preset = rules.presets[problem.preset];
  r.workload = problem.workload_of(space.scored[first].format);
  r.shape_row = problem.shape.row;
  r.shape_note = problem.shape.note;
  r.quality_slack = asked + relaxed;
  r.slack_relaxed_by = relaxed;
  r.best_loss = space.best_loss[problem.preset];
  r.best_notation = notation(space.scored[space.best_index].layout);
  r.ranked_total = static_cast<std::int64_t>(space.feasible.size());
  r.counts.enumerated = static_cast<std::int64_t>(space.scored.size());
  r.counts.feasible = static_cast<std::int64_t>(space.feasible.size());
  r.counts.rejected = r.counts.enumerated - r.counts.feasible;
  r.counts.within_slack = static_cast<std::int64_t>(ranking.within_slack);

  for (const RankedIndex& place : ranking.order) {
    Ranked row;
    row.rank = place.position;
    row.tie_class = place.tie_class;
    const Scored& s = space.scored[place.index];
    row.candidate = problem.candidate(s.layout, s.format);
    for (const ActiveConstraint& active : problem.constraints)
      row.verdicts.push_back(judge(problem, row.candidate, active));
    if (place.tie_class == 1)
      for (const TieBreak& tie : tie_breaks())
        row.tie_breaks.push_back(std::string(tie.id) + ": " + tie.describe(s, rules, problem.shape.shape.d_model));
    if (row.rank > 1)
      row.why_not = why_not({problem, space.scored, space.loss[problem.preset], r.best_loss, r.quality_slack}, place,
                            ranking.order.front());
    r.ranked.push_back(std::move(row));
  }
  for (const TieBreak& tie : tie_breaks())
    r.tie_break_rules.push_back(std::string(tie.id) + ": " + std::string(tie.text) + " (" + std::string(tie.source) +
                                ")");
  r.rejected = tally(problem, space);
  r.pareto = pareto_points(problem, space, first, r.counts.pareto);

  for (std::size_t p = 0; p < rules.presets.size(); ++p) {
    const double preset_slack = asked + relaxation(space, p, asked);
    const Ranking other = rank_under(problem, space, p, preset_slack, 1);
    const std::size_t winner = other.order.front().index;
    const bool same = std::any_of(ranking.order.begin(), ranking.order.end(), [&](const RankedIndex& place) {
      return place.tie_class == 1 && place.index == winner;
    });
    r.preset_winners.push_back({rules.presets[p].id, notation(space.scored[winner].layout), same});
  }
  describe_winner(problem, r);
  return r;
}

Expected<Candidate> evaluate(const Request& request, const RuleSet& rules) {
  Expected<Problem> stated = state_problem(request, rules);
  if (!stated) return stated.error();
  const Problem& problem = *stated;
  // A pinned layout is costed as it is, whatever the rules would say of it.
  const std::vector<Layout> layouts = enumerate_layouts(problem);
  if (layouts.size() == 1 && problem.formats.size() == 1) return problem.candidate(layouts.front(), 0);
  if (layouts.empty()) return no_feasible(problem, Space{});
  Expected<Recommendation> found = recommend(request, rules);
  if (!found) return found.error();
  return found->winner();
}

}  // namespace mha
