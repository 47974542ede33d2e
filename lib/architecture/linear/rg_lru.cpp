// RG-LRU (Griffin, RecurrentGemma): two branches of n_heads * d_value channels; one passes a convolution and a gated
// linear recurrence whose two gates are block-diagonal, a block a head; the other gates the result. State: one element
// a channel, h = a h + b: one product a token, and nothing more to read it.
#include "architecture/linear/kinds.hpp"

namespace mha {
namespace {

using namespace linear;

void lower(const LinearMixer& m, std::int64_t d_model, LayerPlan& plan) {
  const std::size_t first = plan.tensors.size();
  const std::int64_t inner = m.n_heads * m.d_value;
  project(plan, "x", d_model, inner, m.bias, "d_model * n_heads * d_value");
  project(plan, "y", d_model, inner, m.bias, "d_model * n_heads * d_value");
  convolve(plan, m, inner, "n_heads * d_value");
  project(plan, "input_gate", m.d_value, inner, true, "n_heads * d_value * d_value");
  project(plan, "recurrent_gate", m.d_value, inner, true, "n_heads * d_value * d_value");
  weigh(plan, "recurrent", inner, "n_heads * d_value");
  project(plan, "out", inner, d_model, m.bias, "n_heads * d_value * d_model");
  keep_state(plan, m, m.n_heads, m.d_value, "n_heads * d_value");
  finish(plan, first, "rg-lru", {parts::per_token("state", inner, "n_heads * d_value")});
}

}  // namespace

const LinearKind kRgLru{"rg-lru",
                        "real-gated linear recurrent unit",
                        "gated linear recurrence, one element a channel; RecurrentGemma",
                        "De et al. 2024 (Griffin), google-deepmind/recurrentgemma",
                        {"n_heads", "d_value", "d_conv"},
                        lower};

}  // namespace mha
