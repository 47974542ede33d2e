// Networks of one hidden layer, gated or plain; a router sends each token to its top_k experts, and only those compute.
// After Shazeer et al. 2017 (arXiv 1701.06538); correction bias after DeepSeek-V3, which selects with it and weighs
// without; expert scale after Gemma 4; experts on a latent after Nemotron-3.
#include "kernel/layers/feed_forward.hpp"

#include <algorithm>
#include <numeric>

namespace mha::layers {
namespace {

void draw_network(const FeedForward& f, const std::string& prefix, std::int64_t d_in, std::int64_t d_ff, bool routed,
                  Weights& weights) {
  if (f.gated) weights.matrix(prefix + "gate", d_in, d_ff, f.bias_up, routed);
  weights.matrix(prefix + "up", d_in, d_ff, f.bias_up, routed);
  weights.matrix(prefix + "down", d_ff, d_in, f.bias_down, routed);
}

double relu(double x) {
  return std::max(0.0, x);
}

Vectors network(const FeedForward& f, const std::string& prefix, Weights& weights, const Vectors& x, Count& count) {
  std::int64_t& products = count.of(Product::weights);
  Vectors hidden = project(x, weights, prefix + "up", products);
  if (f.gated) {
    Vectors gate = project(x, weights, prefix + "gate", products);
    apply(silu, gate);
    multiply(gate, hidden);
  } else {
    apply(relu, hidden);
  }
  return project(hidden, weights, prefix + "down", products);
}

std::string expert_name(std::int64_t expert) {
  return "expert." + std::to_string(expert) + ".";
}

struct Choice {
  std::int64_t expert = 0;
  double weight = 0;
};

Vectors router_scores(const FeedForward& f, Weights& weights, const Vectors& x, Count& count) {
  Vectors scaled = x;
  Weight* scale = weights.find("router.scale");
  for (std::int64_t t = 0; scale != nullptr && t < x.n; ++t)
    for (std::int64_t i = 0; i < f.router_scale; ++i) *scaled.at(t, i) *= scale->use(i);
  Vectors scores = project(scaled, weights, "router", count.of(Product::weights));
  apply(sigmoid, scores);
  return scores;
}

// The top_k experts of one token, and their shares.
std::vector<Choice> choose(const FeedForward& f, Weights& weights, const double* scores) {
  std::vector<double> rank(scores, scores + f.n_experts);
  if (Weight* correction = weights.find("router.correction_bias"); correction != nullptr)
    for (std::int64_t e = 0; e < f.n_experts; ++e) rank[static_cast<std::size_t>(e)] += correction->use(e);
  std::vector<std::int64_t> order(rank.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const double x = rank[static_cast<std::size_t>(a)], y = rank[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  });
  order.resize(static_cast<std::size_t>(f.top_k));
  double sum = 0;
  for (const std::int64_t e : order) sum += scores[e];
  std::vector<Choice> chosen;
  for (const std::int64_t e : order) {
    Weight* scale = weights.find(expert_name(e) + "scale");
    chosen.push_back({e, scores[e] / sum * (scale != nullptr ? scale->use(0) : 1.0)});
  }
  return chosen;
}

Vectors experts(const FeedForward& f, Weights& weights, const Vectors& x, Count& count) {
  const Vectors scores = router_scores(f, weights, x, count);
  std::int64_t& products = count.of(Product::weights);
  const Vectors in = f.d_latent > 0 ? project(x, weights, "to_latent", products) : x;
  Vectors sum(in.n, in.width);
  for (std::int64_t t = 0; t < x.n; ++t) {
    Vectors one(1, in.width);
    std::copy_n(in.at(t), in.width, one.at(0));
    for (const Choice& choice : choose(f, weights, scores.at(t))) {
      const Vectors y = network(f, expert_name(choice.expert), weights, one, count);
      for (std::int64_t i = 0; i < y.width; ++i) *sum.at(t, i) += choice.weight * *y.at(0, i);
    }
  }
  return f.d_latent > 0 ? project(sum, weights, "from_latent", products) : sum;
}

Vectors shared_experts(const FeedForward& f, Weights& weights, const Vectors& x, Count& count) {
  Vectors y = network(f, "shared.", weights, x, count);
  if (!f.shared_gate) return y;
  const Vectors gate = project(x, weights, "shared.router", count.of(Product::weights));
  for (std::int64_t t = 0; t < y.n; ++t)
    for (std::int64_t i = 0; i < y.width; ++i) *y.at(t, i) *= sigmoid(*gate.at(t));
  return y;
}

}  // namespace

void draw_feed_forward(const FeedForward& f, std::int64_t d_model, Weights& weights) {
  if (f.d_ff > 0) draw_network(f, "", d_model, f.d_ff, false, weights);
  if (f.n_experts == 0) return;
  weights.matrix("router", d_model, f.n_experts, f.router_bias);
  if (f.correction_bias) weights.vector("router.correction_bias", f.n_experts);
  weights.vector("router.scale", f.router_scale, 1);
  if (f.d_latent > 0) {
    weights.matrix("to_latent", d_model, f.d_latent);
    weights.matrix("from_latent", f.d_latent, d_model);
  }
  for (std::int64_t e = 0; e < f.n_experts; ++e) {
    draw_network(f, expert_name(e), f.d_latent > 0 ? f.d_latent : d_model, f.d_ff_expert, true, weights);
    if (f.expert_scale) weights.vector(expert_name(e) + "scale", 1, 1, true);
  }
  if (f.d_ff_shared == 0) return;
  draw_network(f, "shared.", d_model, f.d_ff_shared, false, weights);
  if (f.shared_gate) weights.matrix("shared.router", d_model, 1);
}

Vectors feed_forward(const FeedForward& f, Weights& weights, const Vectors& x, Count& count) {
  Vectors y(x.n, x.width);
  if (f.d_ff > 0) add(network(f, "", weights, x, count), y);
  if (f.n_experts > 0) add(experts(f, weights, x, count), y);
  if (f.n_experts > 0 && f.d_ff_shared > 0) add(shared_experts(f, weights, x, count), y);
  return y;
}

}  // namespace mha::layers
