// The feed-forward part of a layer: dense, mixture of experts, or both. An expert's matrices are stored n_experts times and
// used top_k times by a token; shared experts and the router are used by every token.
#include "architecture/lower.hpp"
#include "architecture/parts.hpp"

namespace mha {
namespace {

struct Mlp {
  std::string prefix;
  Component component;
  std::int64_t width_in, width;
  std::string in_formula, formula;
  std::int64_t copies = 1, active = 1;
};

void add_mlp(const Mlp& mlp, const FeedForward& f, LayerPlan& plan) {
  const auto add = [&](const std::string& name, std::int64_t rows, std::int64_t cols, const std::string& formula,
                       bool bias, const std::string& bias_formula) {
    Tensor t = parts::matrix(mlp.prefix + name, mlp.component, rows, cols, Sharding::split_heads, formula);
    t.copies = mlp.copies;
    t.active = mlp.active;
    plan.tensors.push_back(t);
    if (!bias) return;
    Tensor b = parts::vector(t.name + ".bias", mlp.component, cols, Sharding::split_heads, bias_formula);
    b.copies = mlp.copies;
    b.active = mlp.active;
    plan.tensors.push_back(b);
  };
  if (f.gated) add("gate", mlp.width_in, mlp.width, mlp.in_formula + " * " + mlp.formula, f.bias_up, mlp.formula);
  add("up", mlp.width_in, mlp.width, mlp.in_formula + " * " + mlp.formula, f.bias_up, mlp.formula);
  add("down", mlp.width, mlp.width_in, mlp.formula + " * " + mlp.in_formula, f.bias_down, mlp.in_formula);
}

void add_router(const FeedForward& f, std::int64_t d_model, LayerPlan& plan) {
  const auto router = Component::router;
  plan.tensors.push_back(
      parts::matrix("router", router, d_model, f.n_experts, Sharding::replicated, "d_model * n_experts"));
  const auto per_expert = [&](bool there, std::string name) {
    if (there) {
      plan.tensors.push_back(parts::vector(std::move(name), router, f.n_experts, Sharding::replicated, "n_experts"));
    }
  };
  per_expert(f.router_bias, "router.bias");
  per_expert(f.correction_bias, "router.correction_bias");
  if (f.expert_scale) {  // of the experts that a token is sent to
    Tensor scale = parts::vector("router.expert_scale", router, 1, Sharding::replicated, "n_experts");
    scale.copies = f.n_experts;
    scale.active = f.top_k;
    plan.tensors.push_back(scale);
  }
  if (f.router_scale > 0) {
    plan.tensors.push_back(parts::vector("router.scale", router, f.router_scale, Sharding::replicated, "router_scale"));
  }
}

}  // namespace

void lower_feed_forward(const FeedForward& f, std::int64_t d_model, LayerPlan& plan) {
  if (!f.any()) return;
  const std::size_t first = plan.tensors.size();
  if (f.d_ff > 0) add_mlp({"", Component::ffn, d_model, f.d_ff, "d_model", "d_ff"}, f, plan);
  if (f.n_experts > 0) {
    add_router(f, d_model, plan);
    const bool latent = f.d_latent > 0;
    if (latent) {
      plan.tensors.push_back(parts::matrix("experts.down_to_latent", Component::experts, d_model, f.d_latent,
                                           Sharding::replicated, "d_model * d_latent"));
      plan.tensors.push_back(parts::matrix("experts.up_from_latent", Component::experts, f.d_latent, d_model,
                                           Sharding::replicated, "d_latent * d_model"));
    }
    add_mlp({"expert.", Component::experts, latent ? f.d_latent : d_model, f.d_ff_expert,
             latent ? "d_latent" : "d_model", "d_ff_expert", f.n_experts, f.top_k},
            f, plan);
    if (f.d_ff_shared > 0) {
      add_mlp({"shared.", Component::experts, d_model, f.d_ff_shared, "d_model", "d_ff_shared"}, f, plan);
      if (f.shared_gate) {
        plan.tensors.push_back(
            parts::matrix("shared.router", Component::router, d_model, 1, Sharding::replicated, "d_model"));
      }
    }
  }
  plan.work.push_back(parts::work_of_tensors("feed-forward", plan.tensors, first));
}

}  // namespace mha
