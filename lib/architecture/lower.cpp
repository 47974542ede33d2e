// Architecture -> ModelPlan: each layer kind once, and the tensors that a model has once.
#include "architecture/lower.hpp"

#include "architecture/parts.hpp"

namespace mha {
namespace {

struct LowerMixer {
  std::int64_t d_model;
  LayerPlan& plan;
  void operator()(const Attention& attention) const { lower_attention(attention, d_model, plan); }
  void operator()(const LinearMixer& mixer) const { lower_linear(mixer, d_model, plan); }
};

std::string norm_formula(NormKind kind) {
  return kind == NormKind::layer ? "2 * d_model" : "d_model";
}

Tensor norm_tensor(std::string name, const Architecture& a, std::int64_t copies) {
  Tensor t = parts::vector(std::move(name), Component::norms, norm_elements(a.norm, a.d_model), Sharding::replicated,
                           norm_formula(a.norm));
  t.copies = t.active = copies;
  return t;
}

Tensor extra_tensor(const NamedParams& extra) {
  return parts::vector(extra.name, Component::other, extra.elements, Sharding::replicated, "stated in the description");
}

std::vector<Tensor> once(const Architecture& a) {
  std::vector<Tensor> out;
  const std::int64_t width = a.d_embedding > 0 ? a.d_embedding : a.d_model;
  const std::string width_name = a.d_embedding > 0 ? "d_embedding" : "d_model";
  // A look-up is no product: the embedding table costs memory, not work.
  Tensor table = parts::matrix("embedding", Component::embedding, a.vocab_size, width, Sharding::split_heads,
                               "vocab_size * " + width_name);
  table.product = false;
  out.push_back(table);
  const auto look_up = [&](std::string name, std::int64_t rows, std::string formula) {
    if (rows == 0) return;
    Tensor t =
        parts::matrix(std::move(name), Component::embedding, rows, width, Sharding::replicated, std::move(formula));
    t.product = false;
    out.push_back(t);
  };
  look_up("positions", a.learned_positions, "learned_positions * " + width_name);
  look_up("types", a.type_vocab, "type_vocab * " + width_name);
  if (a.d_embedding > 0) {
    out.push_back(parts::matrix("embedding.in", Component::embedding, a.d_embedding, a.d_model, Sharding::replicated,
                                "d_embedding * d_model"));
    if (a.lm_head) {
      out.push_back(parts::matrix("embedding.out", Component::embedding, a.d_model, a.d_embedding, Sharding::replicated,
                                  "d_model * d_embedding"));
    }
  }
  if (a.embedding_norm) out.push_back(norm_tensor("embedding_norm", a, 1));
  if (a.final_norm) out.push_back(norm_tensor("final_norm", a, 1));
  if (a.lm_head) {
    // A tied head multiplies with the embedding table: work without parameters of its own.
    Tensor head =
        parts::matrix("lm_head", Component::lm_head, width, a.vocab_size, Sharding::split_heads,
                      width_name + " * vocab_size" + (a.tied_embeddings ? " (the embedding: counted once)" : ""));
    if (a.tied_embeddings) head.copies = 0;
    out.push_back(head);
    if (a.lm_head_bias) {
      out.push_back(
          parts::vector("lm_head.bias", Component::lm_head, a.vocab_size, Sharding::split_heads, "vocab_size"));
    }
  }
  for (const NamedParams& extra : a.extras) out.push_back(extra_tensor(extra));
  return out;
}

std::vector<Tensor> multi_token_prediction(const Architecture& a) {
  std::vector<Tensor> out;
  const MultiTokenPrediction& mtp = a.mtp;
  if (mtp.n_layers == 0) return out;
  Tensor projection = parts::matrix("mtp.projection", Component::other, 2 * a.d_model, a.d_model, Sharding::replicated,
                                    "2 * d_model * d_model");
  projection.copies = projection.active = mtp.n_layers * mtp.projections;
  out.push_back(projection);
  out.push_back(norm_tensor("mtp.norms", a, mtp.n_layers * mtp.norms));
  if (mtp.own_embeddings) {
    Tensor tables = parts::matrix("mtp.embedding_and_head", Component::embedding, a.vocab_size, a.d_model,
                                  Sharding::split_heads, "2 * vocab_size * d_model");
    tables.product = false;
    tables.copies = tables.active = 2 * mtp.n_layers;
    out.push_back(tables);
  }
  return out;
}

}  // namespace

LayerPlan lower(const LayerSpec& spec, const Architecture& architecture) {
  LayerPlan plan;
  for (const Mixer& mixer : spec.mixers) std::visit(LowerMixer{architecture.d_model, plan}, mixer);
  lower_feed_forward(spec.ffn, architecture.d_model, plan);
  if (spec.norms > 0 && architecture.norm != NormKind::none)
    plan.tensors.push_back(norm_tensor("norms", architecture, spec.norms));
  for (const NamedParams& extra : spec.extras) plan.tensors.push_back(extra_tensor(extra));
  return plan;
}

ModelPlan lower(const Architecture& architecture) {
  ModelPlan plan;
  for (const LayerSpec& spec : architecture.specs) plan.specs.push_back(lower(spec, architecture));
  plan.once = once(architecture);
  plan.mtp = multi_token_prediction(architecture);
  return plan;
}

std::string_view name_of(Component component) {
  static constexpr std::string_view kNames[kComponents] = {"embedding", "lm_head", "attention", "indexer", "linear",
                                                           "ffn",       "experts", "router",    "norms",   "other"};
  return kNames[static_cast<std::size_t>(component)];
}

std::string_view name_of(CacheRole role) {
  static constexpr std::string_view kNames[] = {"key",   "value", "latent",  "rope_key",  "index_key",
                                                "entry", "state", "pending", "conv_state"};
  return kNames[static_cast<std::size_t>(role)];
}

}  // namespace mha
