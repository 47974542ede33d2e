// The counting reference kernel: one attention layer in float64, written from the definition (project, split heads,
// scaled dot product, causal softmax, combine, output projection) and never from an AttentionPlan, so that its counts
// can contradict the cost model. Not fast, and not for use in a model.
//
// What is counted, each where the work is done: multiply-adds of matrix products by term, weights read, elements in the
// cache, exponentials. Bias additions, norms, rotations and the arithmetic of softmax are carried out but are no matrix
// products and are not counted. Masked pairs are never computed, so pair terms follow the causal triangle.
//
// Every number carries a bound on its rounding error, see oracle/arithmetic.hpp. MHA, MQA, GQA, MFA and TPA are
// computed without a rotary embedding, which is a property of the model around them and changes no count; MLA, GLA and
// GTA rotate their rotary parts.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "mha/attention.hpp"

namespace mha::oracle {

// One row of numbers inside a larger array, each with its rounding bound.
struct Row {
  double* value = nullptr;
  double* error = nullptr;
};

// Rows that lie `stride` apart: one head of a cache.
struct Slice {
  const double* value = nullptr;
  const double* error = nullptr;
  std::int64_t stride = 0;
};

struct Rows {  // [n x width], row-major
  Rows() = default;
  Rows(std::int64_t n_rows, std::int64_t row_width)
      : n(n_rows), width(row_width), value(static_cast<std::size_t>(n * width)), error(value.size()) {}

  [[nodiscard]] Row at(std::int64_t row, std::int64_t column = 0) {
    return {value.data() + row * width + column, error.data() + row * width + column};
  }
  [[nodiscard]] Slice slice(std::int64_t row, std::int64_t column = 0) const {
    return {value.data() + row * width + column, error.data() + row * width + column, width};
  }

  void append(const Rows& rows);  // of the same width

  std::int64_t n = 0;
  std::int64_t width = 0;
  std::vector<double> value;
  std::vector<double> error;  // |value - exact| <= error
};

inline constexpr std::int64_t kPool = std::int64_t{1} << 18;  // elements: 2 MiB, in reach of a second-level cache

// y[cols] = x[rows] * W[rows x cols] (+ bias[cols]). Small matrices are stored whole. The rows of a large one are
// windows, at random places, of one pool of random numbers: 10^8 weights then need neither a gigabyte nor the time to
// fill it, while two rows, and two heads in a row, still differ.
struct Matrix {
  [[nodiscard]] const double* row(std::int64_t i) const {
    return value.data() + row_start[static_cast<std::size_t>(i)];
  }

  std::string_view name;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<double> value;
  std::vector<std::int64_t> row_start;  // row i is value[row_start[i], row_start[i] + cols)
  std::vector<double> bias;             // empty: none
};

struct NormScale {
  std::string_view name;
  std::vector<double> value;
};

struct Weights {
  std::vector<Matrix> matrices;
  std::vector<NormScale> norms;
  [[nodiscard]] const Matrix& matrix(std::string_view name) const;
  [[nodiscard]] const NormScale& norm(std::string_view name) const;
};

using Tally = std::map<std::string_view, std::int64_t>;
[[nodiscard]] std::int64_t total(const Tally& tally);

struct Counts {
  Tally multiply_adds;  // by term
  Tally weights_read;   // by tensor, bias with its matrix; a prefill reads each weight once
  std::int64_t exponentials = 0;
};

// What earlier tokens left behind. Only what was appended can be attended to.
class Cache {
 public:
  void append(std::string_view name, const Rows& rows);
  [[nodiscard]] const Rows& entry(std::string_view name) const { return entries_.find(name)->second; }
  [[nodiscard]] std::int64_t n_tokens() const { return entries_.empty() ? 0 : entries_.begin()->second.n; }
  [[nodiscard]] Tally resident() const;  // elements by entry

 private:
  std::map<std::string_view, Rows> entries_;
};

struct Path {
  std::string_view name;  // "direct", "expanded", "absorbed", "factored"
  // Appends x [n_new x d_model] to the cache and returns the layer's output [n_new x d_model]. n_new = 1 is decode, an
  // empty cache is prefill, everything between is a chunk.
  Rows (*forward)(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) = nullptr;
};

// One row of the table of oracles; there is one for each row of variants().
struct Oracle {
  std::string_view id;    // the variant's
  std::string_view twin;  // the oracle that this one must equal when n_kv_heads = n_heads; empty: none
  Weights (*draw)(const Layout& layout, std::int64_t d_model, std::uint64_t seed) = nullptr;
  std::vector<Path> paths;
};

[[nodiscard]] const std::vector<Oracle>& oracles();
[[nodiscard]] const Oracle* find_oracle(std::string_view id);  // nullptr: none

// Inputs of about unit variance, the same on every machine.
[[nodiscard]] Rows draw_tokens(std::int64_t n_tokens, std::int64_t d_model, std::uint64_t seed);
[[nodiscard]] Rows rows_of(const Rows& x, std::int64_t first, std::int64_t n);

}  // namespace mha::oracle
