// The primitives that all layers are written in. Each does its arithmetic, marks the weights it uses and counts its
// multiply-adds in the same loop.
#pragma once

#include "kernel/layer_oracle.hpp"

namespace mha::layers {

// ---- Products with weights ------------------------------------------------------------------------------------------

// x W, plus the weight "<name>.bias" where there is one.
[[nodiscard]] Vectors project(const Vectors& x, Weights& weights, std::string_view name, std::int64_t& multiply_adds);

// Each block of x with its own columns of W, without bias: y[b] = x[b] W[:, b], x [n x n_blocks * rows].
[[nodiscard]] Vectors project_blocks(const Vectors& x, Weight& weight, std::int64_t n_blocks,
                                     std::int64_t& multiply_adds);

// The same from the other side: y[b] = W[:, b] x[b], x [n x n_blocks * cols / n_blocks].
[[nodiscard]] Vectors project_blocks_transposed(const Vectors& x, Weight& weight, std::int64_t n_blocks,
                                                std::int64_t& multiply_adds);

// ---- Sums of products -----------------------------------------------------------------------------------------------

[[nodiscard]] double dot(const double* a, const double* b, std::int64_t n, std::int64_t& multiply_adds);
void add_scaled(double factor, const double* x, std::int64_t n, double* out, std::int64_t& multiply_adds);

// ---- Elementwise: not counted ---------------------------------------------------------------------------------------

void add(const Vectors& x, Vectors& out);
void add_bias(Weight* bias, Vectors& out);  // nullptr: none
[[nodiscard]] Vectors columns(const Vectors& x, std::int64_t first, std::int64_t width);
[[nodiscard]] double sigmoid(double x);
[[nodiscard]] double silu(double x);
[[nodiscard]] double softplus(double x);
void apply(double (*function)(double), Vectors& x);
void multiply(const Vectors& factors, Vectors& x);

// Softmax in place; a sink takes part in the sum and has no value.
void softmax(std::vector<double>& scores, const double* sink);

// Over each segment of `width` elements: root mean square (centre false) or mean and deviation. Scale and shift may be
// absent and are shared by the segments.
void normalise(Vectors& x, std::int64_t width, bool centre, Weight* scale, Weight* shift);
void rms_norm(Vectors& x, Weight* scale);  // over whole rows
void unit_length(double* x, std::int64_t width);

}  // namespace mha::layers
