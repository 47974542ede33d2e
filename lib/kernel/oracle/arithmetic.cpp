#include "kernel/oracle/arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mha::oracle {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();  // 2u, see the header
constexpr double kProductEps = 2 * kEps;                         // lambda u
constexpr double kNormEpsilon = 1e-6;

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// splitmix64 (Steele, Lea and Flood): a counter, mixed. Quick, and the same numbers everywhere.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  double uniform() { return static_cast<double>(static_cast<std::int64_t>(next())) * 0x1p-63; }  // in [-1, 1]

 private:
  std::uint64_t state_;
};

// y[0, n) += sum over i < k of x[i] W[row + i, [column, column + n)); y.error holds squares, `x_square` is from
// propagated().
void multiply_add(const double* x, const double* x_square, std::int64_t k, const Matrix& w, std::int64_t row,
                  std::int64_t column, std::int64_t n, Row y, std::int64_t& multiply_adds) {
  double* __restrict value = y.value;
  double* __restrict square = y.error;
  std::int64_t i = 0;
  for (; i + 4 <= k; i += 4) {  // four rows a pass: y is loaded and stored once
    const double* w0 = w.row(row + i) + column;
    const double* w1 = w.row(row + i + 1) + column;
    const double* w2 = w.row(row + i + 2) + column;
    const double* w3 = w.row(row + i + 3) + column;
    const double x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
    const double e0 = x_square[i], e1 = x_square[i + 1], e2 = x_square[i + 2], e3 = x_square[i + 3];
    for (std::int64_t j = 0; j < n; ++j) {
      const double a = w0[j], b = w1[j], c = w2[j], d = w3[j];
      value[j] += (x0 * a + x1 * b) + (x2 * c + x3 * d);
      square[j] += (e0 * (a * a) + e1 * (b * b)) + (e2 * (c * c) + e3 * (d * d));
    }
    multiply_adds += 4 * n;
  }
  for (; i < k; ++i) {
    const double* w0 = w.row(row + i) + column;
    for (std::int64_t j = 0; j < n; ++j) {
      value[j] += x[i] * w0[j];
      square[j] += x_square[i] * (w0[j] * w0[j]);
    }
    multiply_adds += n;
  }
}

struct Product {
  double value = 0;
  double square = 0;
};

// x . w with exact w; x_square as in multiply_add.
Product dot(const double* x, const double* x_square, const double* w, std::int64_t n, std::int64_t& multiply_adds) {
  double value[4] = {}, square[4] = {};
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (std::int64_t lane = 0; lane < 4; ++lane) {
      const double factor = w[i + lane];
      value[lane] += x[i + lane] * factor;
      square[lane] += x_square[i + lane] * (factor * factor);
    }
    multiply_adds += 4;
  }
  for (; i < n; ++i) {
    value[0] += x[i] * w[i];
    square[0] += x_square[i] * (w[i] * w[i]);
    multiply_adds += 1;
  }
  return {(value[0] + value[1]) + (value[2] + value[3]), (square[0] + square[1]) + (square[2] + square[3])};
}

void store(Product product, Row to) {
  *to.value = product.value;
  *to.error = std::sqrt(product.square);
}

// e_i^2 + (lambda n u x_i)^2: what each w_i^2 is multiplied with in the squared bound of an n-term product.
std::vector<double> propagated(const Rows& x, std::int64_t n_terms) {
  std::vector<double> result(x.value.size());
  const double gamma = static_cast<double>(n_terms) * kProductEps;
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = x.error[i] * x.error[i] + (gamma * x.value[i]) * (gamma * x.value[i]);
  return result;
}

void take_roots(Rows& y) {
  for (double& error : y.error) error = std::sqrt(error);
}

void add_bias(Rows& y, const Matrix& w, Counts& counts) {
  std::int64_t& read = counts.weights_read[w.name];
  for (std::size_t j = 0; j < w.bias.size(); ++j) {
    read += 1;
    for (std::int64_t t = 0; t < y.n; ++t) {
      const Row out = y.at(t, static_cast<std::int64_t>(j));
      *out.value += w.bias[j];
      *out.error += kEps * std::abs(*out.value);
    }
  }
}

}  // namespace

Weights draw(const std::vector<MatrixShape>& matrices, const std::vector<NormShape>& norms, std::uint64_t seed) {
  Weights weights;
  std::uint64_t stream = seed * 0xd1342543de82ef95U;
  for (const MatrixShape& shape : matrices) {
    Generator generator(stream += 0x2545f4914f6cdd1dU);
    Matrix matrix{shape.name, shape.rows, shape.cols, {}, {}, {}};
    const double scale = std::sqrt(3.0 / static_cast<double>(shape.rows));
    const bool whole = shape.rows * shape.cols <= kPool;
    matrix.value.resize(index(whole ? shape.rows * shape.cols : kPool + shape.cols));
    for (double& w : matrix.value) w = scale * generator.uniform();
    for (std::int64_t i = 0; i < shape.rows; ++i)
      matrix.row_start.push_back(whole ? i * shape.cols : static_cast<std::int64_t>(generator.next() % kPool));
    if (shape.bias) matrix.bias.resize(index(shape.cols));
    for (double& b : matrix.bias) b = 0.5 * generator.uniform();
    weights.matrices.push_back(std::move(matrix));
  }
  for (const NormShape& shape : norms) {
    Generator generator(stream += 0x2545f4914f6cdd1dU);
    NormScale norm{shape.name, std::vector<double>(index(shape.width))};
    for (double& g : norm.value) g = 1.0 + 0.5 * generator.uniform();
    weights.norms.push_back(std::move(norm));
  }
  return weights;
}

Rows draw_tokens(std::int64_t n_tokens, std::int64_t d_model, std::uint64_t seed) {
  Rows x(n_tokens, d_model);
  Generator generator(~seed);
  for (double& value : x.value) value = std::sqrt(3.0) * generator.uniform();
  return x;
}

Rows project(const Rows& x, const Matrix& w, Counts& counts) {
  constexpr std::int64_t kBlock = 256;  // columns: a block of outputs of all rows of x stays in the first-level cache
  Rows y(x.n, w.cols);
  const std::vector<double> x_square = propagated(x, w.rows);
  std::int64_t& multiply_adds = counts.multiply_adds[w.name];
  std::int64_t& read = counts.weights_read[w.name];
  for (std::int64_t column = 0; column < w.cols; column += kBlock) {
    const std::int64_t n = std::min(kBlock, w.cols - column);
    for (std::int64_t row = 0; row < w.rows; row += 4) {
      const std::int64_t k = std::min<std::int64_t>(4, w.rows - row);
      read += k * n;
      for (std::int64_t t = 0; t < x.n; ++t)
        multiply_add(x.slice(t, row).value, x_square.data() + t * x.width + row, k, w, row, column, n, y.at(t, column),
                     multiply_adds);
    }
  }
  take_roots(y);
  add_bias(y, w, counts);
  return y;
}

Rows project_heads(const Rows& x, const Matrix& w, std::int64_t n_heads, Counts& counts) {
  const std::int64_t width = w.cols / n_heads;
  Rows y(x.n, w.cols);
  const std::vector<double> x_square = propagated(x, w.rows);
  std::int64_t& multiply_adds = counts.multiply_adds[w.name];
  std::int64_t& read = counts.weights_read[w.name];
  for (std::int64_t head = 0; head < n_heads; ++head)
    for (std::int64_t row = 0; row < w.rows; row += 4) {
      const std::int64_t k = std::min<std::int64_t>(4, w.rows - row);
      const std::int64_t from = head * w.rows + row;
      read += k * width;
      for (std::int64_t t = 0; t < x.n; ++t)
        multiply_add(x.slice(t, from).value, x_square.data() + t * x.width + from, k, w, row, head * width, width,
                     y.at(t, head * width), multiply_adds);
    }
  take_roots(y);
  add_bias(y, w, counts);
  return y;
}

Rows project_heads_transposed(const Rows& x, std::int64_t head_stride, const Matrix& w, std::int64_t n_heads,
                              std::string_view term, Counts& counts) {
  const std::int64_t width = w.cols / n_heads;
  Rows y(x.n, n_heads * w.rows);
  const std::vector<double> x_square = propagated(x, width);
  std::int64_t& multiply_adds = counts.multiply_adds[term];
  std::int64_t& read = counts.weights_read[w.name];
  for (std::int64_t row = 0; row < w.rows; ++row)
    for (std::int64_t head = 0; head < n_heads; ++head) {
      read += width;
      const double* block = w.row(row) + head * width;
      for (std::int64_t t = 0; t < x.n; ++t) {
        const std::int64_t from = t * x.width + head * head_stride;
        store(dot(x.value.data() + from, x_square.data() + from, block, width, multiply_adds),
              y.at(t, head * w.rows + row));
      }
    }
  return y;
}

Rows bias_products(const Rows& x, std::int64_t head_stride, const Matrix& w, std::int64_t n_heads, Counts& counts) {
  const std::int64_t width = w.cols / n_heads;
  Rows y(x.n, n_heads);
  if (w.bias.empty()) return y;
  const std::vector<double> x_square = propagated(x, width);
  std::int64_t& read = counts.weights_read[w.name];
  std::int64_t not_counted = 0;
  for (std::int64_t head = 0; head < n_heads; ++head) {
    read += width;
    for (std::int64_t t = 0; t < x.n; ++t) {
      const std::int64_t from = t * x.width + head * head_stride;
      store(dot(x.value.data() + from, x_square.data() + from, w.bias.data() + head * width, width, not_counted),
            y.at(t, head));
    }
  }
  return y;
}

void add_scores(Slice query, Slice keys, std::int64_t width, Scores& scores, Counts& counts) {
  const double gamma = static_cast<double>(width) * kProductEps;
  std::int64_t& multiply_adds = counts.multiply_adds["scores"];
  for (std::size_t j = 0; j < scores.value.size(); ++j) {
    const double* key = keys.value + static_cast<std::int64_t>(j) * keys.stride;
    const double* key_error = keys.error + static_cast<std::int64_t>(j) * keys.stride;
    double value = 0, square = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      const double product = query.value[i] * key[i];
      const double from_query = query.error[i] * key[i], from_key = query.value[i] * key_error[i];
      value += product;
      square += from_query * from_query + from_key * from_key + (gamma * product) * (gamma * product);
      multiply_adds += 1;
    }
    scores.value[j] += value;
    scores.error[j] += std::sqrt(square) + kEps * std::abs(scores.value[j]);
  }
}

void add_constant(Slice constant, Scores& scores) {
  for (std::size_t j = 0; j < scores.value.size(); ++j) {
    scores.value[j] += *constant.value;
    scores.error[j] += *constant.error + kEps * std::abs(scores.value[j]);
  }
}

void add(const Scores& other, Scores& scores) {
  for (std::size_t j = 0; j < scores.value.size(); ++j) {
    scores.value[j] += other.value[j];
    scores.error[j] += other.error[j] + kEps * std::abs(scores.value[j]);
  }
}

void divide(Scores& scores, double by) {
  for (std::size_t j = 0; j < scores.value.size(); ++j) {
    scores.value[j] /= by;
    scores.error[j] = scores.error[j] / by + kEps * std::abs(scores.value[j]);
  }
}

void weigh(Scores& scores, Slice factors, std::string_view term, Counts& counts) {
  std::int64_t& multiply_adds = counts.multiply_adds[term];
  for (std::size_t j = 0; j < scores.value.size(); ++j) {
    const double factor = factors.value[static_cast<std::int64_t>(j) * factors.stride];
    const double factor_error = factors.error[static_cast<std::int64_t>(j) * factors.stride];
    scores.error[j] = scores.error[j] * (std::abs(factor) + factor_error) + std::abs(scores.value[j]) * factor_error;
    scores.value[j] *= factor;
    scores.error[j] += kEps * std::abs(scores.value[j]);
    multiply_adds += 1;
  }
}

void softmax(Scores& scores, double scale, Counts& counts) {
  const std::size_t n = scores.value.size();
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < n; ++j) {
    scores.value[j] *= scale;
    scores.error[j] = scores.error[j] * scale + kEps * std::abs(scores.value[j]);
    largest = std::max(largest, scores.value[j]);
  }
  double sum = 0, sum_error = 0;  // sum_error: weighted by the exponentials
  for (std::size_t j = 0; j < n; ++j) {
    const double shifted = scores.value[j] - largest;
    scores.error[j] += kEps * (std::abs(shifted) + 2);
    scores.value[j] = std::exp(shifted);
    counts.exponentials += 1;
    sum += scores.value[j];
    sum_error += scores.value[j] * scores.error[j];
  }
  const double mean = sum_error / sum + static_cast<double>(n + 2) * kEps;
  for (std::size_t j = 0; j < n; ++j) {
    scores.value[j] /= sum;
    scores.error[j] = scores.value[j] * std::expm1(scores.error[j] + mean);
  }
}

void add_values(const Scores& scores, Slice values, std::int64_t width, Row out, Counts& counts) {
  const double gamma = static_cast<double>(scores.value.size()) * kEps;
  std::int64_t& multiply_adds = counts.multiply_adds["values"];
  for (std::size_t j = 0; j < scores.value.size(); ++j) {
    const double* value = values.value + static_cast<std::int64_t>(j) * values.stride;
    const double* value_error = values.error + static_cast<std::int64_t>(j) * values.stride;
    const double p = scores.value[j], size = std::abs(p);  // a weighted probability may be negative
    const double p_error = scores.error[j] + gamma * size;
    for (std::int64_t i = 0; i < width; ++i) {
      out.value[i] += p * value[i];
      out.error[i] += p_error * (std::abs(value[i]) + value_error[i]) + size * value_error[i];
      multiply_adds += 1;
    }
  }
}

void rms_norm(Rows& x, const NormScale& scale, Counts& counts) {
  const std::int64_t width = static_cast<std::int64_t>(scale.value.size());
  const std::int64_t n_segments = x.n * x.width / width;
  const double n = static_cast<double>(width);
  std::vector<double> root(index(n_segments)), root_error(root.size());  // the second is relative
  for (std::size_t s = 0; s < root.size(); ++s) {
    const double* value = x.value.data() + s * scale.value.size();
    const double* error = x.error.data() + s * scale.value.size();
    double squares = 0, squares_error = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      squares += value[i] * value[i];
      squares_error += 2 * std::abs(value[i]) * error[i];
    }
    squares_error += n * kEps * squares;
    const double mean = squares / n + kNormEpsilon;
    root[s] = std::sqrt(mean);
    root_error[s] = 0.5 * squares_error / n / mean;
  }
  std::int64_t& read = counts.weights_read[scale.name];
  for (std::int64_t i = 0; i < width; ++i) {
    const double g = scale.value[index(i)];
    read += 1;
    for (std::size_t s = 0; s < root.size(); ++s) {
      double& value = x.value[s * scale.value.size() + index(i)];
      double& error = x.error[s * scale.value.size() + index(i)];
      error = std::abs(g) / root[s] * (error + std::abs(value) * (root_error[s] + 3 * kEps));
      value = g * value / root[s];
    }
  }
}

void rotate(Row x, std::int64_t width, std::int64_t position) {
  for (std::int64_t i = 0; i + 1 < width; i += 2) {
    const double angle =
        static_cast<double>(position) * std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(width));
    const double c = std::cos(angle), s = std::sin(angle);
    const double a = x.value[i], b = x.value[i + 1];
    const double a_error = x.error[i], b_error = x.error[i + 1];
    x.value[i] = c * a - s * b;
    x.value[i + 1] = s * a + c * b;
    x.error[i] = std::abs(c) * a_error + std::abs(s) * b_error + 2 * kEps * (std::abs(c * a) + std::abs(s * b));
    x.error[i + 1] = std::abs(s) * a_error + std::abs(c) * b_error + 2 * kEps * (std::abs(s * a) + std::abs(c * b));
  }
}

Rows tensor_product(const Rows& a, const Rows& b, std::int64_t n_heads, std::int64_t rank, std::string_view term,
                    Counts& counts) {
  const std::int64_t width = b.width / rank;
  const double gamma = static_cast<double>(rank) * kProductEps, divisor = static_cast<double>(rank);
  Rows y(a.n, n_heads * width);
  std::int64_t& multiply_adds = counts.multiply_adds[term];
  for (std::int64_t t = 0; t < a.n; ++t)
    for (std::int64_t head = 0; head < n_heads; ++head)
      for (std::int64_t i = 0; i < width; ++i) {
        double value = 0, square = 0;
        for (std::int64_t r = 0; r < rank; ++r) {
          const Slice left = a.slice(t, head * rank + r), right = b.slice(t, r * width + i);
          const double product = *left.value * *right.value;
          const double from_left = *left.error * *right.value, from_right = *left.value * *right.error;
          value += product;
          square += from_left * from_left + from_right * from_right + (gamma * product) * (gamma * product);
          multiply_adds += 1;
        }
        const Row to = y.at(t, head * width + i);
        *to.value = value / divisor;
        *to.error = std::sqrt(square) / divisor + kEps * std::abs(*to.value);
      }
  return y;
}

void add_row(Slice from, std::int64_t width, Row to) {
  for (std::int64_t i = 0; i < width; ++i) {
    to.value[i] += from.value[i];
    to.error[i] += from.error[i] + kEps * std::abs(to.value[i]);
  }
}

void divide_row(Row x, std::int64_t width, double by) {
  for (std::int64_t i = 0; i < width; ++i) {
    x.value[i] /= by;
    x.error[i] = x.error[i] / by + kEps * std::abs(x.value[i]);
  }
}

Rows columns(const Rows& x, std::int64_t first, std::int64_t width) {
  Rows result(x.n, width);
  for (std::int64_t t = 0; t < x.n; ++t) {
    const Slice from = x.slice(t, first);
    const Row to = result.at(t);
    std::copy(from.value, from.value + width, to.value);
    std::copy(from.error, from.error + width, to.error);
  }
  return result;
}

}  // namespace mha::oracle
