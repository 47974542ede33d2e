// The learned pooling of compressed attention: each token leaves a row of values and a row of gates; when `ratio`
// tokens are together, a softmax over them, for each channel on its own, weighs the values. What is not yet pooled
// waits in a state. After DeepSeek-V4 (inference/model.py, Compressor; huggingface/transformers, models/deepseek_v4).
#include <algorithm>

#include "kernel/layers/attention.hpp"

namespace mha::layers {
namespace {

std::int64_t row_width(const Compressor& c) {
  return c.halves() * c.width;
}

// The state: slots of values and gates. With overlap the first `ratio` slots are the block before.
struct Slots {
  const Compressor& c;
  std::vector<double>& state;

  [[nodiscard]] double* values(std::int64_t slot) const { return state.data() + slot * 2 * row_width(c); }
  [[nodiscard]] double* gates(std::int64_t slot) const { return values(slot) + row_width(c); }
  [[nodiscard]] std::int64_t first_of_block() const { return (c.halves() - 1) * c.ratio; }

  void keep_block() const {
    if (c.halves() == 2)
      std::copy(state.begin() + static_cast<std::ptrdiff_t>(state.size() / 2), state.end(), state.begin());
  }
};

// The own block with its last half of the channels, and the block before, if there is one, with its first half.
double pooled(const Slots& slots, std::int64_t channel, bool has_previous) {
  const Compressor& c = slots.c;
  std::vector<double> gates, values;
  const auto take = [&](std::int64_t first, std::int64_t at) {
    for (std::int64_t slot = first; slot < first + c.ratio; ++slot) {
      gates.push_back(slots.gates(slot)[at]);
      values.push_back(slots.values(slot)[at]);
    }
  };
  take(slots.first_of_block(), (c.halves() - 1) * c.width + channel);
  if (c.halves() == 2 && has_previous) take(0, channel);
  softmax(gates, nullptr);
  double sum = 0;
  for (std::size_t i = 0; i < gates.size(); ++i) sum += gates[i] * values[i];
  return sum;
}

}  // namespace

void draw_compressor(const Compressor& c, std::int64_t d_model, Weights& weights) {
  weights.matrix(c.name + ".kv", d_model, row_width(c));
  weights.matrix(c.name + ".gate", d_model, row_width(c));
  weights.matrix(c.name + ".positions", c.ratio, row_width(c));
  weights.vector(c.name + ".norm", c.width, 1);
}

void start_compressor(const Compressor& c, MixerState& state) {
  const auto slots = static_cast<std::size_t>(c.halves() * c.ratio);
  state.cached[c.name] = Cached(c.role, c.width, Cached::kUnbounded);
  state.fixed[c.name] = {CacheRole::pending, std::vector<double>(slots * 2 * static_cast<std::size_t>(row_width(c)))};
}

void compress(const Compressor& c, const Vectors& x, Weights& weights, MixerState& state, Count& count) {
  const Vectors values = project(x, weights, c.name + ".kv", count.of(Product::weights));
  const Vectors gates = project(x, weights, c.name + ".gate", count.of(Product::weights));
  Weight& positions = weights[c.name + ".positions"];
  const Slots slots{c, state.state(c.name)};
  for (std::int64_t t = 0; t < x.n; ++t) {
    const std::int64_t position = state.n_tokens + t, in_block = position % c.ratio;
    const std::int64_t slot = slots.first_of_block() + in_block;
    for (std::int64_t i = 0; i < row_width(c); ++i) {
      slots.values(slot)[i] = *values.at(t, i);
      slots.gates(slot)[i] = *gates.at(t, i) + positions.use(in_block, i);
    }
    if (in_block + 1 < c.ratio) continue;
    Vectors entry(1, c.width);
    for (std::int64_t i = 0; i < c.width; ++i) *entry.at(0, i) = pooled(slots, i, position >= c.ratio);
    rms_norm(entry, weights.find(c.name + ".norm"));
    state.rows(c.name).add(entry.at(0));
    slots.keep_block();
  }
}

}  // namespace mha::layers
