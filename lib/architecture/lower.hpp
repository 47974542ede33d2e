// One function a part of a layer; each appends its tensors, cache and work to the plan.
#pragma once

#include "mha/architecture.hpp"

namespace mha {

void lower_attention(const Attention& attention, std::int64_t d_model, LayerPlan& plan);
void lower_linear(const LinearMixer& mixer, std::int64_t d_model, LayerPlan& plan);
void lower_feed_forward(const FeedForward& ffn, std::int64_t d_model, LayerPlan& plan);

}  // namespace mha
