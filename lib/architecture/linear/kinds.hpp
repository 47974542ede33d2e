// The rows of the table of linear and state-space mixers, and what they share: projections, the causal convolution before
// the recurrence, and the two states a sequence keeps (recurrent and convolution).
#pragma once

#include "architecture/parts.hpp"

namespace mha {

extern const LinearKind kGatedDeltaNet;
extern const LinearKind kKimiDelta;
extern const LinearKind kLightning;
extern const LinearKind kMamba1;
extern const LinearKind kMamba2;
extern const LinearKind kRgLru;
extern const LinearKind kShortConv;

namespace linear {

void project(LayerPlan& plan, std::string name, std::int64_t rows, std::int64_t cols, bool bias, std::string formula);
void weigh(LayerPlan& plan, std::string name, std::int64_t elements, std::string formula);

// A depthwise causal convolution over `channels`: d_conv taps each, one multiply-add a tap; the last d_conv - 1 inputs stay.
void convolve(LayerPlan& plan, const LinearMixer& m, std::int64_t channels, const std::string& formula);

// A state of n_heads x rows x cols elements for each sequence.
void keep_state(LayerPlan& plan, const LinearMixer& m, std::int64_t n_heads, std::int64_t elements,
                std::string formula);

// Ends the mixer: the work of every product since `first`, and of the recurrence.
void finish(LayerPlan& plan, std::size_t first, std::string name, std::vector<WorkTerm> recurrence);

}  // namespace linear
}  // namespace mha
