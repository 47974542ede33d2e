// Tensor product attention (arXiv 2501.06425). A token's key of head h is 1/R sum over r < R of a[h, r] b[r], where a
// [n_heads x R] and b [R x d_head] are both projected from the token; values likewise, queries with a rank of their own
// or projected whole. A token leaves the four factors of its keys and values in the cache.
//
// expanded: K and V of every cached token are rebuilt at every step, then plain attention. factored: q . K_h = 1/R sum
// a[h, r] (q . b[r]), and sum p V_h = 1/R sum over tokens and r of (p a[h, r]) b[r]. Divisions by a rank are no
// products of matrices and are not counted; each other multiplication is.
#include <cmath>

#include "kernel/oracle/arithmetic.hpp"
#include "kernel/oracle/variants.hpp"

namespace mha::oracle {
namespace {

double scale(const Layout& layout) {
  return 1.0 / std::sqrt(static_cast<double>(layout.d_head));
}

Rows project_queries(const Weights& weights, const Layout& layout, const Rows& x, Counts& counts) {
  if (layout.rank_q == 0) return project(x, weights.matrix("q"), counts);
  const Rows a = project(x, weights.matrix("q_a"), counts), b = project(x, weights.matrix("q_b"), counts);
  return tensor_product(a, b, layout.n_heads, layout.rank_q, "q_mix", counts);
}

void cache_factors(const Weights& weights, const Rows& x, Cache& cache, Counts& counts) {
  for (const std::string_view name : {"k_a", "k_b", "v_a", "v_b"})
    cache.append(name, project(x, weights.matrix(name), counts));
}

}  // namespace

Weights draw_tpa(const Layout& layout, std::int64_t d_model, std::uint64_t seed) {
  std::vector<MatrixShape> matrices;
  if (layout.rank_q > 0) {
    matrices.push_back({"q_a", d_model, layout.n_heads * layout.rank_q, layout.bias.q});
    matrices.push_back({"q_b", d_model, layout.rank_q * layout.d_head, layout.bias.q});
  } else {
    matrices.push_back({"q", d_model, layout.n_heads * layout.d_head, layout.bias.q});
  }
  matrices.push_back({"k_a", d_model, layout.n_heads * layout.rank_kv, layout.bias.k});
  matrices.push_back({"k_b", d_model, layout.rank_kv * layout.d_head, layout.bias.k});
  matrices.push_back({"v_a", d_model, layout.n_heads * layout.rank_kv, layout.bias.v});
  matrices.push_back({"v_b", d_model, layout.rank_kv * layout.d_value, layout.bias.v});
  matrices.push_back({"o", layout.n_heads * layout.d_value, d_model, layout.bias.o});
  return draw(matrices, {}, seed);
}

Rows tpa_expanded(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) {
  const std::int64_t n_past = cache.n_tokens();
  const Rows queries = project_queries(weights, layout, x, counts);
  cache_factors(weights, x, cache, counts);
  const Rows keys =
      tensor_product(cache.entry("k_a"), cache.entry("k_b"), layout.n_heads, layout.rank_kv, "k_mix", counts);
  const Rows values =
      tensor_product(cache.entry("v_a"), cache.entry("v_b"), layout.n_heads, layout.rank_kv, "v_mix", counts);
  Rows heads(x.n, layout.n_heads * layout.d_value);
  for (std::int64_t head = 0; head < layout.n_heads; ++head)
    for (std::int64_t t = 0; t < x.n; ++t) {
      Scores scores(n_past + t + 1);
      add_scores(queries.slice(t, head * layout.d_head), keys.slice(0, head * layout.d_head), layout.d_head, scores,
                 counts);
      softmax(scores, scale(layout), counts);
      add_values(scores, values.slice(0, head * layout.d_value), layout.d_value, heads.at(t, head * layout.d_value),
                 counts);
    }
  return project(heads, weights.matrix("o"), counts);
}

Rows tpa_factored(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts) {
  const std::int64_t n_past = cache.n_tokens(), rank = layout.rank_kv;
  const double divisor = static_cast<double>(rank);
  const Rows queries = project_queries(weights, layout, x, counts);
  cache_factors(weights, x, cache, counts);
  Rows heads(x.n, layout.n_heads * layout.d_value);
  for (std::int64_t head = 0; head < layout.n_heads; ++head)
    for (std::int64_t t = 0; t < x.n; ++t) {
      Scores scores(n_past + t + 1);
      for (std::int64_t r = 0; r < rank; ++r) {
        Scores products(n_past + t + 1);
        add_scores(queries.slice(t, head * layout.d_head), cache.entry("k_b").slice(0, r * layout.d_head),
                   layout.d_head, products, counts);
        weigh(products, cache.entry("k_a").slice(0, head * rank + r), "score_mix", counts);
        add(products, scores);
      }
      divide(scores, divisor);
      softmax(scores, scale(layout), counts);
      const Row out = heads.at(t, head * layout.d_value);
      for (std::int64_t r = 0; r < rank; ++r) {
        Scores weighted = scores;
        weigh(weighted, cache.entry("v_a").slice(0, head * rank + r), "value_mix", counts);
        Rows part(1, layout.d_value);
        add_values(weighted, cache.entry("v_b").slice(0, r * layout.d_value), layout.d_value, part.at(0), counts);
        add_row(part.slice(0), layout.d_value, out);
      }
      divide_row(out, layout.d_value, divisor);
    }
  return project(heads, weights.matrix("o"), counts);
}

}  // namespace mha::oracle
