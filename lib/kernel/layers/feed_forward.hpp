// The feed-forward part of a layer: a dense network, a mixture of experts, or both side by side.
#pragma once

#include "kernel/layers/arithmetic.hpp"

namespace mha::layers {

void draw_feed_forward(const FeedForward& f, std::int64_t d_model, Weights& weights);
[[nodiscard]] Vectors feed_forward(const FeedForward& f, Weights& weights, const Vectors& x, Count& count);

}  // namespace mha::layers
