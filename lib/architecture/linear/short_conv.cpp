// Gated short convolution (LFM2): x -> B, C, x of n_heads * d_value channels each; y = C conv(B x). No recurrent state: only the
// convolution's last inputs stay.
#include "architecture/linear/kinds.hpp"

namespace mha {
namespace {

using namespace linear;

void lower(const LinearMixer& m, std::int64_t d_model, LayerPlan& plan) {
  const std::size_t first = plan.tensors.size();
  const std::int64_t inner = m.n_heads * m.d_value;
  project(plan, "in", d_model, 3 * inner, m.bias, "d_model * 3 * n_heads * d_value");
  convolve(plan, m, inner, "n_heads * d_value");
  project(plan, "out", inner, d_model, m.bias, "n_heads * d_value * d_model");
  finish(plan, first, "short convolution", {});
}

}  // namespace

const LinearKind kShortConv{"short-conv",
                            "gated short convolution",
                            "a causal convolution between two gates; LFM2",
                            "huggingface/transformers, models/lfm2/modeling_lfm2.py",
                            {"n_heads", "d_value", "d_conv"},
                            lower};

}  // namespace mha
