// Tensor names: ggml-org/llama.cpp gguf-py/gguf/constants.py, TENSOR_NAMES.
#include "readers/gguf_tensors.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace mha {
namespace {

using Traits = std::vector<std::pair<std::string, std::string>>;

// What the layers for which `where` holds say: true or false when they agree, nothing when they differ or there are
// none.
template <class Where, class Is>
std::optional<bool> agreed(std::int64_t n_layers, Where where, Is is) {
  std::optional<bool> out;
  for (std::int64_t i = 0; i < n_layers; ++i) {
    if (!where(i)) continue;
    const bool found = is(i);
    if (out && *out != found) return std::nullopt;
    out = found;
  }
  return out;
}

constexpr std::array<std::string_view, 10> kNorms{
    "attn_norm",     "attn_norm_2",     "attn_output_norm", "ffn_norm",       "post_attention_norm",
    "post_ffw_norm", "post_ffw_norm_1", "post_ffw_norm_2",  "pre_ffw_norm_2", "layer_output_norm",
};

class Observer {
 public:
  Observer(const GgufFile& file, const GgufLayers& layers, const GgufShape& shape)
      : file_(file), layers_(layers), shape_(shape) {}

  Traits traits() {
    whole_model();
    norms();
    attention();
    feed_forward();
    linear();
    return std::move(out_);
  }

 private:
  void say(std::string name, std::string value) { out_.emplace_back(std::move(name), std::move(value)); }
  void say(std::string name, std::optional<bool> value) {
    if (value) say(std::move(name), std::string(*value ? "true" : "false"));
  }
  static std::size_t at(std::int64_t layer) { return static_cast<std::size_t>(layer); }
  [[nodiscard]] bool attends(std::int64_t layer) const { return shape_.attention.at(at(layer)); }
  [[nodiscard]] bool has_linear(std::int64_t layer) const {
    return layers_.has_prefix(layer, "ssm_") || layers_.has_prefix(layer, "shortconv.");
  }
  [[nodiscard]] bool has_ffn(std::int64_t layer) const {
    return layers_.has(layer, "ffn_up.weight") || layers_.has_prefix(layer, "ffn_down_exps") ||
           layers_.has_prefix(layer, "ffn_up_exps");
  }
  [[nodiscard]] bool is_moe(std::int64_t layer) const { return layers_.has(layer, "ffn_gate_inp.weight"); }

  template <class Where, class Is>
  std::optional<bool> agree(Where where, Is is) const {
    return agreed(layers_.n_layers(), where, is);
  }

  void whole_model() {
    say("final_norm", file_.tensor("output_norm.weight") != nullptr);
    say("embedding_norm", file_.tensor("token_embd_norm.weight") != nullptr);
    say("lm_head_bias", file_.tensor("output.bias") != nullptr);
    say("type_vocab", file_.tensor("token_types.weight") != nullptr);
    if (shape_.n_nextn > 0) {
      say("mtp_own_embeddings", std::any_of(file_.tensors.begin(), file_.tensors.end(), [](const GgufTensor& tensor) {
            return tensor.name.ends_with(".nextn.embed_tokens.weight");
          }));
    }
    const GgufTensor* positions = file_.tensor("position_embd.weight");
    say("learned_positions", positions != nullptr);
    if (positions == nullptr) return;
    const i128 more = i128{positions->dims[1]} - shape_.max_context;
    if (more > 0 && more < 1000) say("learned_positions_offset", to_decimal(more));
  }

  void norms() {
    std::optional<std::int64_t> count;
    bool same = true;
    bool shift = false;
    for (std::int64_t i = 0; i < layers_.n_layers(); ++i) {
      std::int64_t n = 0;
      for (const std::string_view name : kNorms) {
        const GgufTensor* norm = layers_.find(i, std::string(name) + ".weight");
        if (norm != nullptr && norm->elements == shape_.d_model) ++n;
        shift = shift || layers_.has(i, std::string(name) + ".bias");
      }
      same = same && (!count || *count == n);
      count = n;
    }
    if (!count || !same) return;
    if (*count == 0) {
      say("norm", std::string("none"));
      return;
    }
    say("norms", std::to_string(*count));
    say("norm", std::string(shift ? "layer" : shape_.layer_norm_key ? "layer_scale" : "rms"));
  }

  void attention() {
    const auto where = [&](std::int64_t i) { return attends(i); };
    const auto tensor = [&](std::string_view name) {
      return agree(where, [&](std::int64_t i) { return layers_.has(i, name); });
    };
    const std::optional<bool> o = tensor("attn_output.bias");
    const std::optional<bool> all = tensor("attn_qkv.bias");
    if (!shape_.latent && o && all) {
      std::string letters;
      for (const std::string_view letter : {"q", "k", "v"}) {
        if (*all || tensor("attn_" + std::string(letter) + ".bias").value_or(false)) letters += letter;
      }
      if (*o) letters += "o";
      say("bias", letters.empty() ? "none" : letters);
    }
    if (!shape_.latent) qk_norm();
    sinks();
    gates();
    // Keys that serve as values: of full layers only, as Gemma 4 has it.
    const auto full = [&](std::int64_t i) { return attends(i) && !shape_.window.at(at(i)); };
    const auto no_values = agree(
        full, [&](std::int64_t i) { return layers_.has(i, "attn_k.weight") && !layers_.has(i, "attn_v.weight"); });
    if (!shape_.latent) say("tied_values", no_values);
    if (shape_.shared_kv_layers > 0) {
      const std::int64_t first = layers_.n_layers() - shape_.shared_kv_layers;
      say("keeps_kv_weights", agree([&](std::int64_t i) { return i >= first && attends(i); },
                                    [&](std::int64_t i) { return layers_.has(i, "attn_k.weight"); }));
    }
  }

  // "all", "window", "full" or "none": the attention layers that have the tensor. Nothing: some of each.
  [[nodiscard]] std::optional<std::string> spans_with(std::string_view name) const {
    const auto has = [&](std::int64_t i) { return layers_.has(i, name); };
    const auto window = agree([&](std::int64_t i) { return attends(i) && shape_.window.at(at(i)); }, has);
    const auto full = agree([&](std::int64_t i) { return attends(i) && !shape_.window.at(at(i)); }, has);
    if (!layers_.any(name)) return "none";
    const bool windows = std::find(shape_.window.begin(), shape_.window.end(), true) != shape_.window.end();
    if ((!windows || window.value_or(false)) && full.value_or(windows)) return "all";
    if (window == true && full == false) return "window";
    if (window == false && full == true) return "full";
    return std::nullopt;
  }

  void qk_norm() {
    const std::optional<std::string> spans = spans_with("attn_q_norm.weight");
    if (!spans) return;
    if (*spans == "none") {
      say("qk_norm", std::string("none"));
      return;
    }
    for (std::int64_t i = 0; i < layers_.n_layers(); ++i) {
      const GgufTensor* norm = layers_.find(i, "attn_q_norm.weight");
      if (norm == nullptr || !attends(i)) continue;
      const i128 d_head = shape_.d_head.at(at(i));
      // With one query head both kinds are the same.
      if (norm->elements == d_head) {
        say("qk_norm", std::string("per_head"));
      } else if (norm->elements == d_head * shape_.n_heads.at(at(i))) {
        say("qk_norm", std::string("full"));
      } else {
        return;
      }
      say("qk_norm_shift", layers_.has(i, "attn_q_norm.bias"));
      say("qk_norm_layers", *spans);
      return;
    }
  }

  void sinks() {
    std::optional<std::string> spans = spans_with("attn_sinks.weight");
    if (spans == "none") spans = spans_with("attn_sinks");
    if (spans) say("sinks", *spans);
  }

  void gates() {
    const auto where = [&](std::int64_t i) { return attends(i); };
    const auto width = [&](std::int64_t i, std::string_view name) {
      const GgufTensor* tensor = layers_.find(i, name);
      return tensor == nullptr ? i128{0} : i128{tensor->dims[1]};
    };
    const auto heads = [&](std::int64_t i) { return i128{shape_.n_heads.at(at(i))}; };
    // Beside the queries in one matrix twice as wide (Qwen3-Next), or a matrix of its own.
    say("output_gate", agree(where, [&](std::int64_t i) {
          return width(i, "attn_q.weight") == 2 * heads(i) * shape_.d_head.at(at(i)) ||
                 width(i, "attn_gate.weight") == heads(i) * shape_.d_value.at(at(i));
        }));
    say("head_gate", agree(where, [&](std::int64_t i) { return width(i, "attn_gate.weight") == heads(i); }));
  }

  void feed_forward() {
    const auto where = [&](std::int64_t i) { return has_ffn(i); };
    const auto moe = [&](std::int64_t i) { return is_moe(i); };
    const auto either = [&](std::string_view part) {
      return agree(where, [&](std::int64_t i) {
        return layers_.has(i, std::string(part) + ".bias") || layers_.has(i, std::string(part) + "_exps.bias");
      });
    };
    say("gated_ffn", agree(where, [&](std::int64_t i) {
          const GgufTensor* up = layers_.find(i, "ffn_up.weight");  // gate and up in one matrix: Phi-3, GLM-4
          return layers_.has_prefix(i, "ffn_gate.") || layers_.has_prefix(i, "ffn_gate_exps.") ||
                 layers_.has_prefix(i, "ffn_gate_up_exps.") ||
                 (up != nullptr && shape_.d_ff > 0 && i128{up->dims[1]} == 2 * i128{shape_.d_ff});
        }));
    const std::optional<bool> up = either("ffn_up");
    const std::optional<bool> down = either("ffn_down");
    if (up && down) say("ffn_bias", std::string(*up && *down ? "both" : *up ? "up" : *down ? "down" : "none"));
    say("dense_beside_moe", agree(moe, [&](std::int64_t i) { return layers_.has(i, "ffn_up.weight"); }));
    say("shared_gate", agree(moe, [&](std::int64_t i) { return layers_.has(i, "ffn_gate_inp_shexp.weight"); }));
    say("router_bias", agree(moe, [&](std::int64_t i) { return layers_.has(i, "ffn_gate_inp.bias"); }));
    say("correction_bias", agree(moe, [&](std::int64_t i) { return layers_.has_prefix(i, "exp_probs_b"); }));
    say("router_scale", agree(moe, [&](std::int64_t i) {
          const GgufTensor* scale = layers_.find(i, "ffn_gate_inp.scale");
          return scale != nullptr && scale->elements == shape_.d_model;
        }));
  }

  void linear() {
    const auto where = [&](std::int64_t i) { return has_linear(i); };
    const auto only = [&](std::int64_t i) { return has_linear(i) && !attends(i); };
    say("linear_conv_bias", agree(where, [&](std::int64_t i) {
          return layers_.has(i, "ssm_conv1d.bias") || layers_.has(i, "shortconv.conv.bias");
        }));
    say("linear_bias", agree(where, [&](std::int64_t i) {
          return layers_.has(i, "ssm_in.bias") || layers_.has(i, "shortconv.in_proj.bias");
        }));
    say("linear_inner_norm", agree(where, [&](std::int64_t i) {
          return layers_.has(i, "ssm_norm.weight") || layers_.has(i, "ssm_dt_norm.weight");
        }));
    say("ffn_after_linear", agree(only, [&](std::int64_t i) { return has_ffn(i); }));
    if (agree(where, [&](std::int64_t) { return true; })) {
      const auto every = [](std::int64_t) { return true; };
      say("parallel_mixers",
          agree(every, [&](std::int64_t i) { return has_linear(i) && layers_.has(i, "attn_q.weight"); }));
    }
  }

  const GgufFile& file_;
  const GgufLayers& layers_;
  const GgufShape& shape_;
  Traits out_;
};

}  // namespace

GgufLayers::GgufLayers(const GgufFile& file, std::int64_t n_layers) : layers_(static_cast<std::size_t>(n_layers)) {
  constexpr std::string_view kPrefix = "blk.";
  for (const GgufTensor& tensor : file.tensors) {
    const std::string_view name = tensor.name;
    if (!name.starts_with(kPrefix)) continue;
    const char* const end = name.data() + name.size();
    std::size_t layer = 0;
    const auto [rest, error] = std::from_chars(name.data() + kPrefix.size(), end, layer);
    if (error != std::errc() || rest == end || *rest != '.' || layer >= layers_.size()) continue;
    layers_[layer].emplace(std::string(rest + 1, end), &tensor);
  }
}

const GgufTensor* GgufLayers::find(std::int64_t layer, std::string_view name) const {
  const auto& tensors = layers_.at(static_cast<std::size_t>(layer));
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : found->second;
}

bool GgufLayers::any(std::string_view name) const {
  return std::any_of(layers_.begin(), layers_.end(), [&](const auto& tensors) { return tensors.contains(name); });
}

bool GgufLayers::has_prefix(std::int64_t layer, std::string_view prefix) const {
  const auto& tensors = layers_.at(static_cast<std::size_t>(layer));
  const auto found = tensors.lower_bound(prefix);
  return found != tensors.end() && std::string_view(found->first).starts_with(prefix);
}

std::vector<std::pair<std::string, std::string>> gguf_traits(const GgufFile& file, const GgufLayers& layers,
                                                             const GgufShape& shape) {
  return Observer(file, layers, shape).traits();
}

}  // namespace mha
