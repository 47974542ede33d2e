// Per-rank shares of a whole model: KV heads split to one a rank and then replicate, latents replicate, layers split into
// pipeline stages, growing caches along the tokens under decode-context parallelism.
#include "cost/model_rank.hpp"

#include <algorithm>

#include "mha/limits.hpp"

#include "cost/sharding.hpp"

namespace mha {
namespace {

struct HeadsOf {
  std::int64_t n_heads = 0, n_kv_heads = 0;
};

// Heads of each softmax-attention kind that tensor parallelism has to divide.
std::vector<HeadsOf> heads_to_split(const Architecture& architecture) {
  std::vector<HeadsOf> out;
  for (const LayerSpec& spec : architecture.specs) {
    for (const Mixer& mixer : spec.mixers) {
      if (const auto* attention = std::get_if<Attention>(&mixer)) {
        const Layout& l = attention->layout;
        const bool one_row = l.variant->latent || attention->compression.ratio > 0;
        // GLA: each latent with its heads goes to one rank, or to several that replicate it.
        out.push_back({l.n_heads, one_row ? std::max<std::int64_t>(1, l.n_latents) : l.n_kv_heads});
      }
      if (const auto* linear = std::get_if<LinearMixer>(&mixer)) out.push_back({linear->n_heads, linear->n_heads});
    }
  }
  return out;
}

bool divides(const HeadsOf& heads, std::int64_t tp) {
  return heads.n_heads % tp == 0 && (heads.n_kv_heads % tp == 0 || tp % heads.n_kv_heads == 0);
}

}  // namespace

std::vector<Stage> pipeline_stages(std::int64_t n_layers, std::int64_t stages) {
  std::vector<Stage> out;
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < stages; ++i) {
    const std::int64_t size = n_layers / stages + (i < n_layers % stages ? 1 : 0);
    out.push_back({first, first + size});
    first += size;
  }
  return out;
}

std::vector<LayerGroup> groups_of(const Architecture& architecture, const Stage& stage) {
  std::vector<LayerGroup> groups;
  for (std::int64_t i = stage.first; i < stage.end; ++i) {
    const std::size_t spec = architecture.layers[static_cast<std::size_t>(i)];
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const LayerGroup& g) { return g.spec == spec; });
    if (found == groups.end())
      groups.push_back({1, spec});
    else
      ++found->n_layers;
  }
  return groups;
}

bool cut_along_tokens(const CacheComponent& component) {
  return component.growth.kind == Growth::Kind::token && component.role != CacheRole::index_key;
}

Bytes row_bytes_on_rank(const CacheComponent& component, const ModelFormats& formats, const Parallel& parallel) {
  const StorageFormat& format = formats.of(component);
  // A state's rows are heads; a convolution's rows are taps, and its channels are split.
  if (component.role == CacheRole::conv_state)
    return format.row_bytes(static_cast<std::int64_t>(split(component.row_elements, parallel.tensor))) *
           component.n_rows;
  return format.row_bytes(component.row_elements) *
         on_one_rank(component.n_rows, component.sharding, component.n_rows, parallel.tensor);
}

i128 elements_on_rank(const Tensor& tensor, const Parallel& parallel) {
  return on_one_rank(tensor.elements(), tensor.sharding, tensor.kv_heads, parallel.tensor);
}

Diagnostics check_parallel(const Architecture& architecture, const Parallel& p) {
  Diagnostics problems;
  const auto refuse = [&](std::string key, std::string what, std::string hint) {
    problems.push_back(
        {Severity::error, "parallel-illegal", Location{{}, 0, 0, std::move(key)}, std::move(what), std::move(hint)});
  };
  const auto in_range = [&](const std::string& key, std::int64_t value) {
    if (value >= 1 && value <= limits::kMaxTensorParallel) return true;
    refuse(key, to_decimal(value) + " ranks is out of range",
           "give a number from 1 to " + to_decimal(limits::kMaxTensorParallel));
    return false;
  };
  if (!in_range("tensor_parallel", p.tensor) || !in_range("pipeline_parallel", p.pipeline) ||
      !in_range("decode_context_parallel", p.decode_context))
    return problems;
  for (const HeadsOf& heads : heads_to_split(architecture)) {
    if (divides(heads, p.tensor)) continue;
    std::string legal;
    for (const std::int64_t tp : legal_tensor_parallel(architecture, limits::kMaxTensorParallel))
      legal += (legal.empty() ? "" : ", ") + to_decimal(tp);
    refuse("tensor_parallel",
           to_decimal(p.tensor) + " ranks cannot share " + to_decimal(heads.n_heads) + " heads and " +
               to_decimal(heads.n_kv_heads) + " KV heads",
           "legal degrees are " + legal + ": they divide the heads, and divide the KV heads or are a multiple of them");
    break;
  }
  if (p.tensor % p.decode_context != 0)
    refuse("decode_context_parallel",
           to_decimal(p.decode_context) + " does not divide " + to_decimal(p.tensor) + " tensor-parallel ranks",
           "decode-context parallelism cuts tokens among the ranks of a tensor-parallel group");
  if (p.pipeline > architecture.n_layers())
    refuse("pipeline_parallel",
           to_decimal(p.pipeline) + " stages are more than " + to_decimal(architecture.n_layers()) + " layers",
           "give at most one stage a layer");
  return problems;
}

std::vector<std::int64_t> legal_tensor_parallel(const Architecture& architecture, std::int64_t up_to) {
  const std::vector<HeadsOf> heads = heads_to_split(architecture);
  std::vector<std::int64_t> out;
  for (std::int64_t tp = 1; tp <= up_to; ++tp) {
    if (std::all_of(heads.begin(), heads.end(), [&](const HeadsOf& h) { return divides(h, tp); })) out.push_back(tp);
    if (heads.empty()) break;
  }
  return out;
}

RankCache cache_per_rank(const Architecture& architecture, const ModelPlan& plan, const ModelFormats& formats,
                         std::int64_t n_ctx, const Parallel& parallel, std::int64_t n_source) {
  RankCache most;
  const std::vector<Stage> stages = pipeline_stages(architecture.n_layers(), parallel.pipeline);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    RankCache rank;
    rank.stage = static_cast<std::int64_t>(i);
    rank.n_layers = stages[i].end - stages[i].first;
    for (const LayerGroup& group : groups_of(architecture, stages[i])) {
      for (const CacheComponent& component : plan.specs[group.spec].cache) {
        if (!formats.counts(component)) continue;
        std::int64_t rows = cached_rows(component.growth, n_ctx, n_source);
        if (cut_along_tokens(component)) rows = static_cast<std::int64_t>(split(rows, parallel.decode_context));
        const Bytes bytes = row_bytes_on_rank(component, formats, parallel) * group.n_layers * rows;
        const bool whole = row_bytes_on_rank(component, formats, parallel) == row_bytes(component, formats) &&
                           (parallel.decode_context == 1 || !cut_along_tokens(component));
        (whole ? rank.replicated : rank.split) += bytes;
        rank.per_sequence += bytes;
      }
    }
    if (i == 0 || rank.per_sequence > most.per_sequence) most = rank;
  }
  return most;
}

Params params_per_rank(const Architecture& architecture, const ModelPlan& plan, const Parallel& parallel) {
  const std::vector<Stage> stages = pipeline_stages(architecture.n_layers(), parallel.pipeline);
  Params most;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    i128 elements = 0;
    for (const LayerGroup& group : groups_of(architecture, stages[i])) {
      for (const Tensor& t : plan.specs[group.spec].tensors) elements += elements_on_rank(t, parallel) * group.n_layers;
    }
    const bool first = i == 0, last = i + 1 == stages.size();
    for (const Tensor& t : plan.once) {
      const bool is_head = t.component == Component::lm_head || t.name == "final_norm";
      if (is_head ? last : first) elements += elements_on_rank(t, parallel);
      // A tied table works at both ends; with more than one stage each end has a copy.
      if (t.name == "embedding" && architecture.tied_embeddings && last && !first)
        elements += elements_on_rank(t, parallel);
    }
    most = std::max(most, Params(elements));
  }
  return most;
}

}  // namespace mha
