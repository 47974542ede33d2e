// tensor product attention: the keys of a token are a short sum of products of a factor over heads and a factor over
// the width of a head, K_h = 1/R sum_r a_r[h] b_r, values and queries likewise (arXiv 2501.06425). The factors are
// cached.
//
// Seen in SongtaoLiu0823/MLRA, model/tpa.py, and in a copy of the authors' T6.py: W_A_k [d_model x n_heads * rank],
// W_B_k [d_model x rank * d_head], the same for v, and for q with a rank of its own; 1/rank in front of each sum;
// rotary on the B factors, which is linear in K and left to the model around it here, as for grouped heads. One rank
// serves keys and values there too. rank_q = 0 is the paper's TPA-KVonly: queries are projected whole. No matrix is
// low-rank; a token is.
//
// Expanded path: K and V of every cached token are rebuilt, then plain attention. Factored path: the query meets the B
// factors and the products are weighted with A, so nothing is rebuilt, at rank_kv times the products per pair.
#include "attention/variants.hpp"
#include "attention/variants/grouped.hpp"

namespace mha {
namespace {

std::optional<LayoutProblem> check(const Layout& l, std::int64_t /*d_model*/) {
  Layout plain = l;
  plain.rank_kv = plain.rank_q = 0;
  if (auto problem = grouped::check(plain)) return problem;
  if (l.n_kv_heads != l.n_heads)
    return LayoutProblem{"tpa-kv-heads", "in TPA every query head has keys and values of its own",
                         "leave n_kv_heads out, or set it equal to n_heads"};
  if (l.rank_kv < 1 || l.rank_q < 0)
    return LayoutProblem{"tpa-rank", "TPA needs rank_kv of at least 1", "T6: --rank-kv 2 and --rank-q 6"};
  if (l.qk_norm)
    return LayoutProblem{"tpa-qk-norm", "a norm of keys does not pass through their factors", "leave qk_norm out"};
  return std::nullopt;
}

bool allowed(std::int64_t n_heads, std::int64_t n_kv_heads) {
  return n_kv_heads == n_heads;
}

void enumerate(const AxisValues& axes, std::vector<Layout>& out) {
  std::vector<Layout> layouts;
  grouped::enumerate(axes, kTpa, allowed, layouts);
  for (Layout& layout : layouts) {
    layout.qk_norm = false;
    for (const std::int64_t rank_kv : axes.rank_kv)
      for (const std::int64_t rank_q : axes.rank_q) {
        layout.rank_kv = rank_kv;
        layout.rank_q = rank_q;
        if (!check(layout, axes.d_model)) out.push_back(layout);
      }
  }
}

AttentionPlan lower_tpa(const Layout& l, std::int64_t d_model) {
  AttentionPlan plan;
  const std::int64_t h = l.n_heads, q = h * l.d_head, o = h * l.d_value, r = l.rank_kv;
  StaticVector<MacTerm, 12> shared;  // what both paths do for a new token before attention
  if (l.rank_q > 0) {
    plan.matrices.push_back(
        {"q_a", d_model, h * l.rank_q, l.bias.q, Sharding::split_heads, "d_model", "n_heads * rank_q"});
    plan.matrices.push_back(
        {"q_b", d_model, l.rank_q * l.d_head, l.bias.q, Sharding::replicated, "d_model", "rank_q * d_head"});
    shared.push_back({"q_a", MacPer::new_token, d_model * h * l.rank_q, "d_model * n_heads * rank_q"});
    shared.push_back({"q_b", MacPer::new_token, d_model * l.rank_q * l.d_head, "d_model * rank_q * d_head"});
    shared.push_back({"q_mix", MacPer::new_token, h * l.rank_q * l.d_head, "n_heads * rank_q * d_head"});
  } else {
    plan.matrices.push_back({"q", d_model, q, l.bias.q, Sharding::split_heads, "d_model", "n_heads * d_head"});
    shared.push_back({"q", MacPer::new_token, d_model * q, "d_model * n_heads * d_head"});
  }
  plan.matrices.push_back({"k_a", d_model, h * r, l.bias.k, Sharding::split_heads, "d_model", "n_heads * rank_kv"});
  plan.matrices.push_back(
      {"k_b", d_model, r * l.d_head, l.bias.k, Sharding::replicated, "d_model", "rank_kv * d_head"});
  plan.matrices.push_back({"v_a", d_model, h * r, l.bias.v, Sharding::split_heads, "d_model", "n_heads * rank_kv"});
  plan.matrices.push_back(
      {"v_b", d_model, r * l.d_value, l.bias.v, Sharding::replicated, "d_model", "rank_kv * d_value"});
  plan.matrices.push_back({"o", o, d_model, l.bias.o, Sharding::split_heads, "n_heads * d_value", "d_model"});
  shared.push_back({"k_a", MacPer::new_token, d_model * h * r, "d_model * n_heads * rank_kv"});
  shared.push_back({"k_b", MacPer::new_token, d_model * r * l.d_head, "d_model * rank_kv * d_head"});
  shared.push_back({"v_a", MacPer::new_token, d_model * h * r, "d_model * n_heads * rank_kv"});
  shared.push_back({"v_b", MacPer::new_token, d_model * r * l.d_value, "d_model * rank_kv * d_value"});

  // A head's row of A goes where the head goes; the B factors serve all heads.
  plan.cache.push_back({"k_a", KvPart::key, h, r, Sharding::split_heads, "n_heads * rank_kv"});
  plan.cache.push_back({"k_b", KvPart::key, r, l.d_head, Sharding::replicated, "rank_kv * d_head"});
  plan.cache.push_back({"v_a", KvPart::value, h, r, Sharding::split_heads, "n_heads * rank_kv"});
  plan.cache.push_back({"v_b", KvPart::value, r, l.d_value, Sharding::replicated, "rank_kv * d_value"});

  ComputePath expanded;
  expanded.name = "expanded";
  expanded.terms = shared;
  expanded.terms.push_back({"k_mix", MacPer::context_token, h * r * l.d_head, "n_heads * rank_kv * d_head"});
  expanded.terms.push_back({"v_mix", MacPer::context_token, h * r * l.d_value, "n_heads * rank_kv * d_value"});
  expanded.terms.push_back({"scores", MacPer::pair, q, "n_heads * d_head"});
  expanded.terms.push_back({"values", MacPer::pair, o, "n_heads * d_value"});
  expanded.terms.push_back({"o", MacPer::new_token, o * d_model, "n_heads * d_value * d_model"});
  expanded.scratch_per_context_token = h * (l.d_head + l.d_value);
  plan.paths.push_back(expanded);

  ComputePath factored;
  factored.name = "factored";
  factored.terms = shared;
  factored.terms.push_back({"scores", MacPer::pair, h * r * l.d_head, "n_heads * rank_kv * d_head"});
  factored.terms.push_back({"score_mix", MacPer::pair, h * r, "n_heads * rank_kv"});
  factored.terms.push_back({"value_mix", MacPer::pair, h * r, "n_heads * rank_kv"});
  factored.terms.push_back({"values", MacPer::pair, h * r * l.d_value, "n_heads * rank_kv * d_value"});
  factored.terms.push_back({"o", MacPer::new_token, o * d_model, "n_heads * d_value * d_model"});
  plan.paths.push_back(factored);

  plan.attention_width = q;
  plan.kv_width = q;  // K and V are as wide as MHA's, of rank rank_kv; what that costs is the variant's offset
  return plan;
}

// "tpa:24/128 r2 q6"; no q when queries are projected whole; "tpa:24/128-64 r2 q6" when d_value differs.
std::string notation_tpa(const Layout& l) {
  std::string text = "tpa:" + std::to_string(l.n_heads) + "/" + std::to_string(l.d_head);
  if (l.d_value != l.d_head) text += "-" + std::to_string(l.d_value);
  text += " r" + std::to_string(l.rank_kv);
  if (l.rank_q > 0) text += " q" + std::to_string(l.rank_q);
  return text;
}

}  // namespace

const Variant kTpa{"tpa",
                   "tensor product attention",
                   "caches low-rank factors of keys and values over heads and over width",
                   false,
                   check,
                   enumerate,
                   lower_tpa,
                   notation_tpa,
                   false,
                   true,
                   {"rank_kv", "rank_q"}};

}  // namespace mha
