#include "attention/variants/latent.hpp"

namespace mha::latent {

std::optional<LayoutProblem> check(const Layout& l, const std::string& name) {
  if (l.n_heads < 1 || l.d_nope < 1 || l.d_rope < 0 || l.d_value < 1 || l.d_kv_latent < 1 || l.d_q_latent < 0)
    return LayoutProblem{"layout-incomplete", name + " needs n_heads, d_kv_latent, d_nope and d_value of at least 1",
                         "DeepSeek-V3: 128 heads, d_kv_latent 512, d_nope 128, d_rope 64, d_value 128"};
  if (l.d_head != l.d_nope + l.d_rope)
    return LayoutProblem{l.variant->id == std::string_view("mla") ? "mla-head-width" : "latent-head-width",
                         name + " has d_head = d_nope + d_rope", "leave d_head out"};
  if (l.d_rope % 2 != 0)
    return LayoutProblem{"rope-even", "d_rope " + std::to_string(l.d_rope) + " is odd: rotary embedding turns pairs",
                         "use an even d_rope, such as 64"};
  if (l.rank_kv != 0 || l.rank_q != 0)
    return LayoutProblem{"field-without-variant", "ranks belong to TPA only", "drop them, or use --variants tpa"};
  return std::nullopt;
}

void lower_heads(const Layout& l, std::int64_t d_model, const StaticVector<WeightMatrix, 8>& down_matrices,
                 AttentionPlan& plan) {
  const std::int64_t h = l.n_heads, q = h * l.d_head, o = h * l.d_value;
  const std::int64_t width = l.d_kv_latent / n_latents(l);  // of the latent that one head reads
  const std::int64_t k_up = width * h * l.d_nope, v_up = width * h * l.d_value;
  const bool grouped = l.n_latents > 0;
  const std::string_view width_formula = grouped ? "d_kv_latent / n_latents" : "d_kv_latent";

  StaticVector<MacTerm, 12> shared;  // what both paths do for a new token before attention
  if (l.d_q_latent > 0) {
    plan.matrices.push_back({"q_down", d_model, l.d_q_latent, false, Sharding::replicated, "d_model", "d_q_latent"});
    plan.matrices.push_back(
        {"q_up", l.d_q_latent, q, l.bias.q, Sharding::split_heads, "d_q_latent", "n_heads * (d_nope + d_rope)"});
    plan.norms.push_back({"q_latent_norm", l.d_q_latent, "d_q_latent"});
    shared.push_back({"q_down", MacPer::new_token, d_model * l.d_q_latent, "d_model * d_q_latent"});
    shared.push_back({"q_up", MacPer::new_token, l.d_q_latent * q, "d_q_latent * n_heads * (d_nope + d_rope)"});
  } else {
    plan.matrices.push_back(
        {"q", d_model, q, l.bias.q, Sharding::split_heads, "d_model", "n_heads * (d_nope + d_rope)"});
    shared.push_back({"q", MacPer::new_token, d_model * q, "d_model * n_heads * (d_nope + d_rope)"});
  }
  for (const WeightMatrix& m : down_matrices) plan.matrices.push_back(m);
  plan.matrices.push_back(
      {"k_up", width, h * l.d_nope, l.bias.k, Sharding::split_heads, width_formula, "n_heads * d_nope"});
  plan.matrices.push_back({"v_up", width, o, l.bias.v, Sharding::split_heads, width_formula, "n_heads * d_value"});
  plan.matrices.push_back({"o", o, d_model, l.bias.o, Sharding::split_heads, "n_heads * d_value", "d_model"});
  plan.norms.push_back({"kv_latent_norm", l.d_kv_latent, "d_kv_latent"});
  if (grouped) {
    shared.push_back({"kv_down", MacPer::new_token, d_model * l.d_kv_latent, "d_model * d_kv_latent"});
    if (l.d_rope > 0) shared.push_back({"k_rope", MacPer::new_token, d_model * l.d_rope, "d_model * d_rope"});
  } else {
    shared.push_back(
        {"kv_down", MacPer::new_token, d_model * (l.d_kv_latent + l.d_rope), "d_model * (d_kv_latent + d_rope)"});
  }

  ComputePath expanded;
  expanded.name = "expanded";
  expanded.terms = shared;
  expanded.terms.push_back({"k_up", MacPer::context_token, k_up,
                            grouped ? "d_kv_latent / n_latents * n_heads * d_nope" : "d_kv_latent * n_heads * d_nope"});
  expanded.terms.push_back(
      {"v_up", MacPer::context_token, v_up,
       grouped ? "d_kv_latent / n_latents * n_heads * d_value" : "d_kv_latent * n_heads * d_value"});
  expanded.terms.push_back({"scores", MacPer::pair, q, "n_heads * (d_nope + d_rope)"});
  expanded.terms.push_back({"values", MacPer::pair, o, "n_heads * d_value"});
  expanded.terms.push_back({"o", MacPer::new_token, o * d_model, "n_heads * d_value * d_model"});
  expanded.scratch_per_context_token = h * (l.d_nope + l.d_value);
  plan.paths.push_back(expanded);

  ComputePath absorbed;
  absorbed.name = "absorbed";
  absorbed.terms = shared;
  absorbed.terms.push_back({"q_absorb", MacPer::new_token, k_up,
                            grouped ? "n_heads * d_nope * d_kv_latent / n_latents" : "n_heads * d_nope * d_kv_latent"});
  absorbed.terms.push_back(
      {"scores", MacPer::pair, h * (width + l.d_rope),
       grouped ? "n_heads * (d_kv_latent / n_latents + d_rope)" : "n_heads * (d_kv_latent + d_rope)"});
  absorbed.terms.push_back(
      {"values", MacPer::pair, h * width, grouped ? "n_heads * d_kv_latent / n_latents" : "n_heads * d_kv_latent"});
  absorbed.terms.push_back(
      {"v_up", MacPer::new_token, v_up,
       grouped ? "n_heads * d_kv_latent / n_latents * d_value" : "n_heads * d_kv_latent * d_value"});
  absorbed.terms.push_back({"o", MacPer::new_token, o * d_model, "n_heads * d_value * d_model"});
  plan.paths.push_back(absorbed);

  plan.attention_width = h * l.d_nope;
  plan.kv_width = l.d_kv_latent;
}

constexpr std::int64_t kUsualNope = 128;

std::string notation_tail(const Layout& l) {
  std::string text;
  if (l.d_nope != kUsualNope) text += " d" + std::to_string(l.d_nope);
  if (l.d_value != l.d_nope) text += " v" + std::to_string(l.d_value);
  if (l.d_q_latent > 0) text += " q" + std::to_string(l.d_q_latent);
  return text;
}

void enumerate(const AxisValues& axes, const Variant& variant, const std::vector<std::int64_t>& n_latents,
               std::vector<Layout>& out) {
  for (const std::int64_t n_heads : axes.n_heads) {
    if (!axes.n_kv_heads.empty() && axes.n_kv_heads != std::vector<std::int64_t>{n_heads}) continue;
    for (const std::int64_t d_nope : axes.d_nope) {
      if (axes.coupled && n_heads * d_nope != axes.d_model) continue;
      const std::vector<std::int64_t> d_values =
          axes.d_value.empty() ? std::vector<std::int64_t>{d_nope} : axes.d_value;
      for (const std::int64_t d_value : d_values)
        for (const std::int64_t d_rope : axes.d_rope)
          for (const std::int64_t d_kv_latent : axes.d_kv_latent)
            for (const std::int64_t d_q_latent : axes.d_q_latent)
              for (const std::int64_t latents : n_latents) {
                Layout layout;
                layout.variant = &variant;
                layout.n_heads = layout.n_kv_heads = n_heads;
                layout.d_head = d_nope + d_rope;
                layout.d_value = d_value;
                layout.d_kv_latent = d_kv_latent;
                layout.d_q_latent = d_q_latent;
                layout.d_nope = d_nope;
                layout.d_rope = d_rope;
                layout.n_latents = latents;
                layout.bias = axes.bias;
                if (!variant.check(layout, axes.d_model)) out.push_back(layout);
              }
    }
  }
}

}  // namespace mha::latent
