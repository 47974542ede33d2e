// grouped latent attention: as MLA, with several latents, each for a group of neighbouring heads (Zadouri, Strauss and
// Dao, arXiv 2505.21487). Latents are split over tensor-parallel ranks down to one a rank, where MLA's is copied to
// all.
//
// Seen in Dao-AILab/grouped-latent-attention, modeling_llama_GLA.py: W_dKV [d_model x (4 d + d_rope)] gives two latents
// of 2 d and one rotary key; each latent has its own RMS norm and its own up-projection for its half of the heads;
// queries come through a normed latent (8 d there). SongtaoLiu0823/MLRA, model/gla_2.py, is the same with kv_lora_rank
// for both latents together, which is d_kv_latent here. The checkpoint's W_dKV is two matrices here, because tensor
// parallelism splits the one and copies the other. The result does not depend on the split.
#include "attention/variants.hpp"
#include "attention/variants/latent.hpp"

namespace mha {
namespace {

std::optional<LayoutProblem> check(const Layout& l, std::int64_t /*d_model*/) {
  if (l.n_kv_heads != l.n_heads)
    return LayoutProblem{"gla-kv-heads", "n_kv_heads has no meaning for GLA: latents serve groups of heads",
                         "leave n_kv_heads out, or set it equal to n_heads; --n-latents sets the groups"};
  if (l.n_latents < 2)
    return LayoutProblem{"gla-latents", "GLA has two latents or more",
                         "use --n-latents 2, or --variants mla for one latent"};
  if (l.n_heads % l.n_latents != 0)
    return LayoutProblem{
        "latents-divide-heads",
        "n_latents " + std::to_string(l.n_latents) + " does not divide n_heads " + std::to_string(l.n_heads),
        "a latent serves n_heads / n_latents heads"};
  if (l.d_kv_latent % l.n_latents != 0)
    return LayoutProblem{
        "latents-divide-width",
        "n_latents " + std::to_string(l.n_latents) + " does not divide d_kv_latent " + std::to_string(l.d_kv_latent),
        "d_kv_latent is the width of all latents together: use a multiple of n_latents"};
  return latent::check(l, "GLA");
}

AttentionPlan lower_gla(const Layout& l, std::int64_t d_model) {
  AttentionPlan plan;
  plan.cache.push_back({"latent", KvPart::key, l.n_latents, l.d_kv_latent / l.n_latents, Sharding::split_kv_heads,
                        "n_latents * (d_kv_latent / n_latents)"});
  if (l.d_rope > 0) plan.cache.push_back({"rope_key", KvPart::key, 1, l.d_rope, Sharding::replicated, "d_rope"});
  StaticVector<WeightMatrix, 8> down;
  down.push_back({"kv_down", d_model, l.d_kv_latent, false, Sharding::split_kv_heads, "d_model", "d_kv_latent"});
  if (l.d_rope > 0) down.push_back({"k_rope", d_model, l.d_rope, false, Sharding::replicated, "d_model", "d_rope"});
  latent::lower_heads(l, d_model, down, plan);
  return plan;
}

// "gla:128/2x256+64 q1024": two latents of 256.
std::string notation_gla(const Layout& l) {
  return "gla:" + std::to_string(l.n_heads) + "/" + std::to_string(l.n_latents) + "x" +
         std::to_string(l.d_kv_latent / l.n_latents) + "+" + std::to_string(l.d_rope) + latent::notation_tail(l);
}

void enumerate(const AxisValues& axes, std::vector<Layout>& out) {
  latent::enumerate(axes, kGla, axes.n_latents, out);
}

}  // namespace

const Variant kGla{"gla",
                   "grouped latent attention",
                   "as mla with several latents, each for a group of heads and split over devices",
                   true,
                   check,
                   enumerate,
                   lower_gla,
                   notation_gla,
                   false,
                   true,
                   {"d_kv_latent", "d_q_latent", "d_nope", "d_rope", "n_latents"}};

}  // namespace mha
