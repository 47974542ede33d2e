// RG-LRU: h = a h + sqrt(1 - a^2) (i x), where the recurrence gate in a and the input gate i are block-diagonal, a
// block a head; a convolution comes before, and a second branch gates the result. After De et al. 2024 (Griffin, arXiv
// 2402.19427) and huggingface/transformers, models/recurrent_gemma.
#include <cmath>

#include "kernel/layers/linear/kinds.hpp"

namespace mha::layers::linear {
namespace {

double gelu(double x) {
  return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
}

}  // namespace

void draw_rg_lru(const LinearMixer& m, std::int64_t d_model, Weights& weights) {
  const std::int64_t inner = m.n_heads * m.d_value;
  weights.matrix("x", d_model, inner, m.bias);
  weights.matrix("y", d_model, inner, m.bias);
  draw_convolution(m, inner, weights);
  weights.matrix("input_gate", m.d_value, inner, true);
  weights.matrix("recurrent_gate", m.d_value, inner, true);
  weights.vector("recurrent", inner);
  weights.matrix("out", inner, d_model, m.bias);
}

void start_rg_lru(const LinearMixer& m, MixerState& state) {
  start_convolution(m, m.n_heads * m.d_value, state);
  start_state(m.n_heads * m.d_value, state);
}

Vectors rg_lru(const LinearMixer& m, Weights& weights, const Vectors& x, MixerState& state, Count& count) {
  constexpr double kSharpness = 8.0;  // c of the paper
  std::int64_t& products = count.of(Product::weights);
  const Vectors u = convolve(m, weights, project(x, weights, "x", products), state, count);
  Vectors input = project_blocks(u, weights["input_gate"], m.n_heads, products);
  Vectors recurrent = project_blocks(u, weights["recurrent_gate"], m.n_heads, products);
  add_bias(weights.find("input_gate.bias"), input);
  add_bias(weights.find("recurrent_gate.bias"), recurrent);
  Weight& sharpness = weights["recurrent"];
  std::vector<double>& h = state.state("state");
  Vectors y(x.n, u.width);
  for (std::int64_t t = 0; t < x.n; ++t)
    for (std::int64_t i = 0; i < u.width; ++i) {
      const double rate = kSharpness * sigmoid(*recurrent.at(t, i)) * softplus(sharpness.use(i));
      double next = std::sqrt(1.0 - std::exp(-2.0 * rate)) * sigmoid(*input.at(t, i)) * *u.at(t, i);
      add_scaled(std::exp(-rate), &h[static_cast<std::size_t>(i)], 1, &next, count.of(Product::state));
      *y.at(t, i) = h[static_cast<std::size_t>(i)] = next;
    }
  Vectors gate = project(x, weights, "y", products);
  apply(gelu, gate);
  multiply(gate, y);
  return project(y, weights, "out", products);
}

}  // namespace mha::layers::linear
