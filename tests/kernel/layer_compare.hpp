// What a layer's reference counts against what a plan says: every difference as a line of text. No tolerance.
#pragma once

#include <cmath>

#include "mha/model_cost.hpp"

#include "kernel/layer_oracle.hpp"
#include "layer_cases.hpp"

namespace mha::test {

using layers::Layer;
using layers::LayerState;
using layers::Product;
using layers::Vectors;

inline Vectors random_vectors(std::int64_t n, std::int64_t width, std::uint64_t seed) {
  Random random(seed);
  Vectors x(n, width);
  for (double& value : x.value)
    value = static_cast<double>(random.between(-1000, 1000)) / 577.0;  // about unit variance
  return x;
}

inline Vectors rows_between(const Vectors& x, std::int64_t first, std::int64_t n) {
  Vectors part(n, x.width);
  std::copy_n(x.at(first), n * x.width, part.value.begin());
  return part;
}

// Largest difference, against the largest value.
inline double relative_difference(const Vectors& a, const Vectors& b) {
  if (a.n != b.n || a.width != b.width) return std::numeric_limits<double>::infinity();
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.value.size(); ++i) {
    if (!std::isfinite(a.value[i]) || !std::isfinite(b.value[i])) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, std::abs(a.value[i] - b.value[i]));
    size = std::max(size, std::abs(a.value[i]));
  }
  return size > 0 ? difference / size : difference;
}

// ---- What the plan says ---------------------------------------------------------------------------------------------

using Products = std::array<i128, layers::kProducts>;

inline Products analytic(const Work& work, const WorkPath& path, Step step, std::int64_t n_source) {
  Products sums{};
  const auto add = [&](Product product, i128 macs) { sums[static_cast<std::size_t>(product)] += macs; };
  for (const WorkTerm& term : path.terms) {
    switch (term.per) {
      case MacPer::new_token:
        add(term.name == "state" ? Product::state : Product::weights, term.macs * step.n_new);
        break;
      case MacPer::context_token:
        add(Product::context, term.macs * (step.n_past + step.n_new));
        break;
      case MacPer::pair:
        add(work.name == "indexer" ? Product::index
            : term.scores          ? Product::scores
                                   : Product::values,
            term.macs * visible_pairs(term.visible, step, FlopRule::Pairs::triangle, n_source));
        break;
    }
  }
  return sums;
}

// Matrices that no token of a step is multiplied with are multiplied with the source: keys and values of
// cross-attention.
inline i128 source_macs(const LayerPlan& plan) {
  i128 macs = 0;
  for (const Tensor& t : plan.tensors) macs += t.macs();
  for (const Work& work : plan.work)
    for (const WorkTerm& term : work.paths.front().terms)
      if (term.per == MacPer::new_token && term.name != "state") macs -= term.macs;
  return macs;
}

inline std::map<CacheRole, i128> analytic_cache(const LayerPlan& plan, std::int64_t n_tokens, std::int64_t n_source) {
  std::map<CacheRole, i128> sums;
  for (const CacheComponent& c : plan.cache)
    sums[c.role] += i128{cached_rows(c.growth, n_tokens, n_source)} * c.n_rows * c.row_elements;
  return sums;
}

inline i128 active_params(const LayerPlan& plan) {
  i128 sum = 0;
  for (const Tensor& t : plan.tensors) sum += t.active_elements();
  return sum;
}

// ---- Running a case -------------------------------------------------------------------------------------------------

// The layer of a case, the owner of the cache it reads, and one sequence.
struct Runner {
  Runner(const LayerCase& c, std::uint64_t seed, bool absorbed_path)
      : layer(c.spec, c.d_model, c.norm, seed),
        source(random_vectors(c.n_source, c.d_model, seed + 1)),
        absorbed(absorbed_path),
        state(layer.start()) {
    if (!c.owner) return;
    owner.emplace(*c.owner, c.d_model, c.norm, seed + 2);
    owner_state = owner->start();
  }

  Vectors step(const Vectors& x) {
    if (owner) static_cast<void>(owner->forward(x, owner_state, {nullptr, nullptr, absorbed}));
    Vectors y = layer.forward(x, state, {&source, owner ? &owner_state : nullptr, absorbed});
    owner_state.settle();
    state.settle();
    return y;
  }

  Layer layer;
  Vectors source;
  bool absorbed;
  LayerState state;
  std::optional<Layer> owner;
  LayerState owner_state;
};

inline Vectors run_steps(Runner& runner, const Vectors& x, const std::vector<std::int64_t>& steps) {
  Vectors all(0, x.width);
  for (const std::int64_t n : steps) {
    const Vectors y = runner.step(rows_between(x, all.n, n));
    all.value.insert(all.value.end(), y.value.begin(), y.value.end());
    all.n += n;
  }
  return all;
}

class Comparison {
 public:
  Comparison(const LayerCase& c, const LayerPlan& plan, std::uint64_t seed) : c_(c), plan_(plan), seed_(seed) {}

  std::vector<std::string> run(bool absorbed) {
    Runner runner(c_, seed_, absorbed);
    expect("parameters", layer_params(plan_).value(), runner.layer.stored());
    expect("parts", static_cast<i128>(plan_.work.size()), static_cast<std::int64_t>(runner.layer.counts().size()));
    if (!differences.empty()) return differences;
    const Vectors x = random_vectors(c_.n_tokens(), c_.d_model, seed_ + 3);
    compare_cache(runner, 0);
    std::int64_t past = 0;
    for (const std::int64_t n : c_.steps) {
      runner.layer.reset_counts();
      static_cast<void>(runner.step(rows_between(x, past, n)));
      compare_work(runner, {past, n}, absorbed);
      past += n;
      compare_cache(runner, past);
    }
    return differences;
  }

  // Weights used by one token. What is used once in a block of tokens (the compressor's positions and norm) is used by
  // the block that the token ends; an expert only counts when the token itself is sent to it.
  std::vector<std::string> run_active(bool absorbed) {
    Runner runner(c_, seed_, absorbed);
    const Attention* a = c_.attention();
    const std::int64_t n = a != nullptr && a->compression.ratio > 0 ? a->compression.ratio : 1;
    const Vectors x = random_vectors(n, c_.d_model, seed_ + 4);
    for (std::int64_t t = 0; t < n; ++t) {
      runner.layer.forget(true);
      static_cast<void>(runner.step(rows_between(x, t, 1)));
    }
    expect("active parameters", active_params(plan_), runner.layer.read(false) + runner.layer.read(true));
    return differences;
  }

  std::vector<std::string> differences;

 private:
  void expect(const std::string& what, i128 analytic, std::int64_t counted) {
    if (analytic != counted)
      differences.push_back(what + ": analytic " + to_decimal(analytic) + ", counted " + to_decimal(counted));
  }

  void compare_work(const Runner& runner, Step step, bool absorbed) {
    static constexpr const char* kNames[layers::kProducts] = {"weights", "source", "context", "scores",
                                                              "values",  "index",  "state"};
    for (std::size_t part = 0; part < plan_.work.size(); ++part) {
      const Work& work = plan_.work[part];
      Products sums = analytic(work, work.paths[work.paths.size() > 1 && absorbed ? 1 : 0], step, c_.n_source);
      if (part == 0 && c_.n_source > 0 && step.n_past == 0)
        sums[static_cast<std::size_t>(Product::source)] = source_macs(plan_) * c_.n_source;
      for (std::size_t i = 0; i < sums.size(); ++i)
        expect(runner.layer.counts()[part].part + " " + kNames[i] + " after " + to_decimal(step.n_past), sums[i],
               runner.layer.counts()[part].multiply_adds[i]);
    }
  }

  void compare_cache(const Runner& runner, std::int64_t n_tokens) {
    // The source is there from the first step on.
    const auto expected = analytic_cache(plan_, n_tokens, n_tokens > 0 ? c_.n_source : 0);
    const auto counted = runner.state.elements();
    for (std::size_t i = 0; i <= static_cast<std::size_t>(CacheRole::conv_state); ++i) {
      const auto role = static_cast<CacheRole>(i);
      const auto e = expected.find(role);
      const auto k = counted.find(role);
      expect(std::string(name_of(role)) + " of " + to_decimal(n_tokens) + " tokens",
             e == expected.end() ? i128{0} : e->second, k == counted.end() ? 0 : k->second);
    }
  }

  const LayerCase& c_;
  const LayerPlan& plan_;
  std::uint64_t seed_;
};

inline std::vector<bool> paths_of(const LayerCase& c) {
  if (!c.latent()) return {false};
  // The plan charges the expanded path of a window for the whole context, which no window holds.
  const Span::Kind kind = c.attention()->span.kind;
  if (kind == Span::Kind::window || kind == Span::Kind::chunked) return {true};
  return {false, true};
}

inline std::vector<std::string> differences(const LayerCase& c, const LayerPlan& plan, std::uint64_t seed) {
  std::vector<std::string> all;
  for (const bool absorbed : paths_of(c)) {
    for (std::string& line : Comparison(c, plan, seed).run(absorbed)) all.push_back(std::move(line));
    for (std::string& line : Comparison(c, plan, seed).run_active(absorbed)) all.push_back(std::move(line));
  }
  return all;
}

}  // namespace mha::test
