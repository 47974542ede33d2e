// The primitives that all oracles are written in. Each does its arithmetic, counts it in the same loop, and carries
// rounding bounds along.
//
// Derivation of the bounds. Let u = 2^-53 be the unit roundoff and eps = 2u; the factor 2 covers terms of second order
// and the roundings made while the bounds themselves are computed. Worst-case bounds multiply by the square root of the
// width at each stage and would excuse real mistakes after four stages, so wide products use the probabilistic analysis
// (Higham and Mary, SIAM J. Sci. Comput. 41, 2019), in which rounding errors have mean zero and do not conspire with
// the weights:
//   - Product of n terms, in any order of summation: |fl(x.w) - x.w| <= lambda sqrt(n) u sum |x_i w_i| except with
//     probability 2 exp(-lambda^2 / 2). By Cauchy and Schwarz sum |x_i w_i| <= sqrt(n sum (x_i w_i)^2), so the sum of
//     absolute products is bounded through the sum of squared ones. An x_i known to e_i adds w_i^2 e_i^2 to the square:
//       error^2 = sum w_i^2 (e_i^2 + (lambda n u x_i)^2),   lambda = 4.
//     Weights are exact; where both factors carry errors (scores) the other factor's is added, + sum x_i^2 e(w_i)^2.
//   - Softmax, worst case: a score known to d gives an exponential within a factor exp(d); subtracting the maximum and
//     exp itself add u |s - m| and 2u to d. The sum of n exponentials is within the mean of these, weighted by the
//     probabilities, and n u. A probability is thus within  p (exp(d_j + mean d + (n + 2) eps) - 1).
//   - Values, worst case: sum (e(p_j) + n eps |p_j|) |v_j| + |p_j| e(v_j).
//   - One product, quotient or sum of two numbers: the factors' or summands' errors carried through, and eps |result|.
//   - RMS norm, worst case: r^2 = mean x^2 has the relative error (2 sum |x_i| e_i / n) / r^2 + n eps, r half of it,
//     and y = g x / r is within |g| / r (e_i + |x_i| (relative error of r + 3 eps)).
//   - Rotation: |c| e_1 + |s| e_2 + 2 eps (|c x_1| + |s x_2|). The angles' sines and cosines are taken as its
//     definition.
#pragma once

#include "kernel/oracle.hpp"

namespace mha::oracle {

// ---- Weights --------------------------------------------------------------------------------------------------------

struct MatrixShape {
  std::string_view name;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  bool bias = false;
};
struct NormShape {
  std::string_view name;
  std::int64_t width = 0;
};
// Elements of variance 1 / rows, so that products keep the variance of their input.
[[nodiscard]] Weights draw(const std::vector<MatrixShape>& matrices, const std::vector<NormShape>& norms,
                           std::uint64_t seed);

// ---- Projections ----------------------------------------------------------------------------------------------------

// x W (+ bias): every weight is read once, whatever the number of rows of x.
[[nodiscard]] Rows project(const Rows& x, const Matrix& w, Counts& counts);

// Each head with its own block of w.cols / n_heads columns: y[head] = x[head] W[:, head] (+ bias), x [n x n_heads *
// w.rows].
[[nodiscard]] Rows project_heads(const Rows& x, const Matrix& w, std::int64_t n_heads, Counts& counts);

// The same block from the other side: y[head] = W[:, head] x[head], where x[head] starts at column head * head_stride
// of x.
[[nodiscard]] Rows project_heads_transposed(const Rows& x, std::int64_t head_stride, const Matrix& w,
                                            std::int64_t n_heads, std::string_view term, Counts& counts);

// x[head] . bias[head], one number for each head; 0 where w has no bias. Not counted as multiply-adds: bias, not
// matrix.
[[nodiscard]] Rows bias_products(const Rows& x, std::int64_t head_stride, const Matrix& w, std::int64_t n_heads,
                                 Counts& counts);

// ---- Attention of one query over the first n rows of a cache --------------------------------------------------------

struct Scores {
  explicit Scores(std::int64_t n) : value(static_cast<std::size_t>(n)), error(value.size()) {}
  std::vector<double> value, error;
};
void add_scores(Slice query, Slice keys, std::int64_t width, Scores& scores, Counts& counts);  // += q . k_j
void add_constant(Slice constant, Scores& scores);                                             // += one number
void add(const Scores& other, Scores& scores);                                                 // += other_j
void divide(Scores& scores, double by);                                                        // not counted
// *= factor_j, counted under `term`.
void weigh(Scores& scores, Slice factors, std::string_view term, Counts& counts);
void softmax(Scores& scores, double scale, Counts& counts);                                        // in place
void add_values(const Scores& scores, Slice values, std::int64_t width, Row out, Counts& counts);  // += p_j v_j

// ---- Tensor products
// -------------------------------------------------------------------------------------------------

// y[head] = 1/rank sum over r of a[head, r] b[r] for each row: a [n x n_heads * rank], b [n x rank * width]. Both
// factors carry errors, as in scores. The division is not counted.
[[nodiscard]] Rows tensor_product(const Rows& a, const Rows& b, std::int64_t n_heads, std::int64_t rank,
                                  std::string_view term, Counts& counts);

// ---- Elementwise ----------------------------------------------------------------------------------------------------

// RMS norm of each segment of scale.value.size() elements; several segments (heads) share the scale.
void rms_norm(Rows& x, const NormScale& scale, Counts& counts);

// Rotates pairs (2i, 2i + 1) of `width` elements by position * 10000^(-2i / width).
void rotate(Row x, std::int64_t width, std::int64_t position);

[[nodiscard]] Rows columns(const Rows& x, std::int64_t first, std::int64_t width);

void add_row(Slice from, std::int64_t width, Row to);  // to += from
void divide_row(Row x, std::int64_t width, double by);

}  // namespace mha::oracle
