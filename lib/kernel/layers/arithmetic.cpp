#include "kernel/layers/arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mha::layers {
namespace {

constexpr double kNormEpsilon = 1e-6;

std::string bias_of(std::string_view name) {
  return std::string(name) + ".bias";
}

}  // namespace

Vectors project(const Vectors& x, Weights& weights, std::string_view name, std::int64_t& multiply_adds) {
  Weight& w = weights[name];
  Vectors y(x.n, w.cols);
  for (std::int64_t t = 0; t < x.n; ++t)
    for (std::int64_t i = 0; i < w.rows; ++i) {
      const double from = *x.at(t, i);
      double* to = y.at(t);
      for (std::int64_t j = 0; j < w.cols; ++j) {
        to[j] += from * w.use(i, j);
        multiply_adds += 1;
      }
    }
  add_bias(weights.find(bias_of(name)), y);
  return y;
}

Vectors project_blocks(const Vectors& x, Weight& weight, std::int64_t n_blocks, std::int64_t& multiply_adds) {
  const std::int64_t width = weight.cols / n_blocks;
  Vectors y(x.n, weight.cols);
  for (std::int64_t t = 0; t < x.n; ++t)
    for (std::int64_t b = 0; b < n_blocks; ++b)
      for (std::int64_t i = 0; i < weight.rows; ++i)
        for (std::int64_t j = b * width; j < (b + 1) * width; ++j) {
          *y.at(t, j) += *x.at(t, b * weight.rows + i) * weight.use(i, j);
          multiply_adds += 1;
        }
  return y;
}

Vectors project_blocks_transposed(const Vectors& x, Weight& weight, std::int64_t n_blocks,
                                  std::int64_t& multiply_adds) {
  const std::int64_t width = weight.cols / n_blocks;
  Vectors y(x.n, n_blocks * weight.rows);
  for (std::int64_t t = 0; t < x.n; ++t)
    for (std::int64_t b = 0; b < n_blocks; ++b)
      for (std::int64_t i = 0; i < weight.rows; ++i)
        for (std::int64_t j = b * width; j < (b + 1) * width; ++j) {
          *y.at(t, b * weight.rows + i) += *x.at(t, j) * weight.use(i, j);
          multiply_adds += 1;
        }
  return y;
}

double dot(const double* a, const double* b, std::int64_t n, std::int64_t& multiply_adds) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    sum += a[i] * b[i];
    multiply_adds += 1;
  }
  return sum;
}

void add_scaled(double factor, const double* x, std::int64_t n, double* out, std::int64_t& multiply_adds) {
  for (std::int64_t i = 0; i < n; ++i) {
    out[i] += factor * x[i];
    multiply_adds += 1;
  }
}

void add(const Vectors& x, Vectors& out) {
  for (std::size_t i = 0; i < out.value.size(); ++i) out.value[i] += x.value[i];
}

void add_bias(Weight* bias, Vectors& out) {
  for (std::int64_t t = 0; bias != nullptr && t < out.n; ++t)
    for (std::int64_t j = 0; j < out.width; ++j) *out.at(t, j) += bias->use(j);
}

Vectors columns(const Vectors& x, std::int64_t first, std::int64_t width) {
  Vectors y(x.n, width);
  for (std::int64_t t = 0; t < x.n; ++t) std::copy_n(x.at(t, first), width, y.at(t));
  return y;
}

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

double silu(double x) {
  return x * sigmoid(x);
}

double softplus(double x) {
  return std::log1p(std::exp(x));
}

void apply(double (*function)(double), Vectors& x) {
  for (double& value : x.value) value = function(value);
}

void multiply(const Vectors& factors, Vectors& x) {
  for (std::size_t i = 0; i < x.value.size(); ++i) x.value[i] *= factors.value[i];
}

void softmax(std::vector<double>& scores, const double* sink) {
  double largest = sink != nullptr ? *sink : -std::numeric_limits<double>::infinity();
  for (const double score : scores) largest = std::max(largest, score);
  double sum = sink != nullptr ? std::exp(*sink - largest) : 0.0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (double& score : scores) score /= sum;
}

void normalise(Vectors& x, std::int64_t width, bool centre, Weight* scale, Weight* shift) {
  for (std::int64_t first = 0; first < x.n * x.width; first += width) {
    double* row = x.value.data() + first;
    double mean = 0, squares = 0;
    for (std::int64_t i = 0; centre && i < width; ++i) mean += row[i] / static_cast<double>(width);
    for (std::int64_t i = 0; i < width; ++i) squares += (row[i] - mean) * (row[i] - mean);
    const double root = std::sqrt(squares / static_cast<double>(width) + kNormEpsilon);
    for (std::int64_t i = 0; i < width; ++i) {
      row[i] = (row[i] - mean) / root;
      if (scale != nullptr) row[i] *= scale->use(i);
      if (shift != nullptr) row[i] += shift->use(i);
    }
  }
}

void rms_norm(Vectors& x, Weight* scale) {
  normalise(x, x.width, false, scale, nullptr);
}

void unit_length(double* x, std::int64_t width) {
  double squares = kNormEpsilon;
  for (std::int64_t i = 0; i < width; ++i) squares += x[i] * x[i];
  for (std::int64_t i = 0; i < width; ++i) x[i] /= std::sqrt(squares);
}

}  // namespace mha::layers
