// What block_count, head_count_kv and the MLA widths hold: the converters of ggml-org/llama.cpp (conversion/*.py), and
// how its model code reads them.
#include "readers/gguf_config.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "mha/family.hpp"
#include "mha/limits.hpp"

#include "readers/gguf_keys.hpp"
#include "readers/gguf_tensors.hpp"
#include "rules/family_traits.hpp"

namespace mha {
namespace {

Node scalar(std::string_view key, std::string text, bool quoted = false) {
  Node node;
  node.key = key;
  node.text = std::move(text);
  node.quoted = quoted;
  return node;
}

Node sequence(std::string_view key, std::vector<Node> items) {
  Node node;
  node.kind = Node::Kind::sequence;
  node.key = key;
  node.children = std::move(items);
  return node;
}

using Counts = std::vector<std::int64_t>;

bool all_equal(const Counts& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

std::int64_t largest(const Counts& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

class Translation {
 public:
  Translation(const GgufFile& file, const std::string& model_type) : file_(file), model_type_(model_type) {}

  Expected<GgufConfig> run() {
    const Expected<std::string> architecture = gguf_architecture(file_);
    if (!architecture) return architecture.error();
    architecture_ = *architecture;
    out_.root.kind = Node::Kind::map;
    out_.root.line = out_.root.column = 0;
    put_text("model_type", model_type_);
    layers();
    if (!problems_.empty()) return problems_;
    plain_keys();
    if (problems_.empty()) heads();
    if (problems_.empty()) widths();
    if (problems_.empty()) layer_types();
    state_space();
    shared_experts();
    router();
    vocabulary();
    if (!problems_.empty()) return problems_;
    if (!file_.tensors.empty()) tensors();
    name();
    unused_keys();
    return std::move(out_);
  }

 private:
  // ---- Reading ----

  [[nodiscard]] std::string full(std::string_view key) const { return architecture_ + "." + std::string(key); }
  [[nodiscard]] const GgufValue* value(std::string_view key) const { return file_.find(full(key)); }

  void problem(std::string_view key, std::string code, const std::string& what, std::string hint) {
    const GgufValue* at = value(key);
    problems_.push_back(Diagnostic{Severity::error, std::move(code), Location{file_.file, 0, 0, full(key)},
                                   at == nullptr ? what : "at byte " + std::to_string(at->at) + ": " + what,
                                   std::move(hint)});
  }
  void note(std::string key, std::string code, std::string what, std::string hint) {
    out_.notes.push_back(Diagnostic{Severity::note, std::move(code), Location{file_.file, 0, 0, std::move(key)},
                                    std::move(what), std::move(hint)});
  }

  std::string described(const GgufValue& found) {
    return (found.is_array ? "an array of " : "a ") + std::string(name_of(found.type));
  }

  std::optional<std::int64_t> in_range(std::string_view key, i128 number) {
    // A bound for arithmetic here; what each field may be is checked where its meaning is known.
    constexpr i128 kMost = i128{1} << 40;
    if (number >= 0 && number <= kMost) return static_cast<std::int64_t>(number);
    problem(key, "out-of-range", to_decimal(number) + " is no count",
            "give a whole number from 0 to " + to_decimal(kMost));
    return std::nullopt;
  }

  std::optional<std::int64_t> count(std::string_view key) {
    const GgufValue* found = value(key);
    if (found == nullptr) return std::nullopt;
    if (found->is_array || !is_integer(found->type)) {
      problem(key, "wrong-type", "this is " + described(*found), "an integer is expected");
      return std::nullopt;
    }
    return in_range(key, found->integers.at(0));
  }

  // One number for each of the model's layers; empty when the key is missing or wrong.
  Counts per_layer(std::string_view key) {
    const GgufValue* found = value(key);
    if (found == nullptr) return {};
    if (!is_integer(found->type) && found->type != GgufType::boolean) {
      problem(key, "wrong-type", "this is " + described(*found), "an integer is expected, or one for each layer");
      return {};
    }
    if (!found->is_array) {
      const std::optional<std::int64_t> one = in_range(key, found->integers.at(0));
      return one ? Counts(static_cast<std::size_t>(n_layers_), *one) : Counts{};
    }
    // Multi-token-prediction layers stand behind the others; some converters give them an entry, too.
    const auto most = static_cast<std::uint64_t>(n_layers_ + n_nextn_);
    if (found->n_items < static_cast<std::uint64_t>(n_layers_) || found->n_items > most) {
      problem(key, "wrong-length",
              "the array has " + std::to_string(found->n_items) + " entries, the model " + std::to_string(n_layers_) +
                  " layers",
              "one entry a layer is needed; a layer without it has 0");
      return {};
    }
    if (!found->kept) {
      problem(key, "out-of-range", "the file's arrays hold too many numbers", "the file is damaged");
      return {};
    }
    Counts out;
    for (std::int64_t i = 0; i < n_layers_; ++i) {
      const std::optional<std::int64_t> one = in_range(key, found->integers.at(static_cast<std::size_t>(i)));
      if (!one) return {};
      out.push_back(*one);
    }
    return out;
  }

  // ---- Writing ----

  void put(std::string_view key, std::int64_t number) {
    out_.root.children.push_back(scalar(key, std::to_string(number)));
  }
  void put_text(std::string_view key, const std::string& text) {
    out_.root.children.push_back(scalar(key, text, true));
  }
  void put_flag(std::string_view key, bool value) {
    out_.root.children.push_back(scalar(key, value ? "true" : "false"));
  }
  void put_layers(std::string_view key, const Counts& values) {
    if (largest(values) == 0) return;  // mamba's feed_forward_length is 0: there is none
    if (all_equal(values)) {
      put(key, values.front());
      return;
    }
    std::vector<Node> items;
    for (const std::int64_t one : values) items.push_back(scalar({}, std::to_string(one)));
    out_.root.children.push_back(sequence(key, std::move(items)));
  }

  // ---- Steps ----

  void layers() {
    const std::optional<std::int64_t> blocks = count("block_count");
    n_nextn_ = count("nextn_predict_layers").value_or(0);
    if (!problems_.empty()) return;
    if (!blocks) {
      problem("block_count", "missing-field", "the number of layers is missing",
              "the file is damaged or holds no model");
      return;
    }
    // block_count includes the multi-token-prediction layers.
    n_layers_ = *blocks - n_nextn_;
    if (n_layers_ < 1 || n_layers_ > limits::kMaxLayers || n_nextn_ > limits::kMaxLayers) {
      problem("block_count", "out-of-range",
              std::to_string(*blocks) + " layers" +
                  (n_nextn_ > 0 ? ", " + std::to_string(n_nextn_) + " of them for multi-token prediction" : ""),
              "a model has 1 to " + std::to_string(limits::kMaxLayers) + " layers");
      return;
    }
    put("num_hidden_layers", n_layers_);
    put("num_nextn_predict_layers", n_nextn_);
  }

  void plain_keys() {
    for (const GgufKeyRow& row : gguf_keys()) {
      if (value(row.gguf) == nullptr) continue;
      if (row.form == GgufKeyRow::Form::count || row.form == GgufKeyRow::Form::positive) {
        const std::optional<std::int64_t> number = count(row.gguf);
        if (number && (*number > 0 || row.form == GgufKeyRow::Form::count)) put(row.config, *number);
      } else if (row.form == GgufKeyRow::Form::per_layer) {
        put_layers(row.config, per_layer(row.gguf));
      } else if (row.form == GgufKeyRow::Form::flag) {
        const GgufValue& found = *value(row.gguf);
        if (found.is_array || found.type != GgufType::boolean) {
          problem(row.gguf, "wrong-type", "this is " + described(found), "a bool is expected");
        } else {
          put_flag(row.config, found.integers.at(0) != 0);
        }
      }
    }
    if (value("embedding_length") == nullptr) {
      problem("embedding_length", "missing-field", "the model's width is missing",
              "the file is damaged or holds no model");
    } else if (problems_.empty()) {
      d_model_ = count("embedding_length").value_or(0);
    }
  }

  void heads() {
    heads_ = per_layer("attention.head_count");
    if (heads_.empty() && value("attention.head_count") != nullptr) return;
    kv_heads_ = per_layer("attention.head_count_kv");
    if (kv_heads_.empty() && value("attention.head_count_kv") != nullptr) return;
    if (heads_.empty()) heads_ = Counts(static_cast<std::size_t>(n_layers_), 0);
    if (kv_heads_.empty()) kv_heads_ = heads_;  // llama.cpp's rule
    latent_ = count("attention.kv_lora_rank").value_or(0) > 0;
    if (largest(heads_) == 0) {
      if (largest(kv_heads_) > 0) {
        problem("attention.head_count", "missing-field", "there are KV heads and no query heads",
                "the file is damaged");
      }
      return;  // a model without attention
    }
    if (largest(kv_heads_) == 0) {
      problem("attention.head_count_kv", "out-of-range",
              "no layer has KV heads, yet there are " + std::to_string(largest(heads_)) + " query heads",
              "a layer with attention has at least 1 KV head; only layers without have 0");
      return;
    }
    for (std::int64_t i = 0; i < n_layers_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (kv_heads_[at] > 0 && heads_[at] == 0) {
        problem("attention.head_count", "out-of-range",
                "layer " + std::to_string(i) + " has " + std::to_string(kv_heads_[at]) + " KV heads and no query heads",
                "a layer without attention has 0 of both");
        return;
      }
      if (kv_heads_[at] == 0) heads_[at] = 0;
    }
  }

  // The width that every layer with attention has, from the model's width; llama.cpp's rule where no key gives it.
  std::optional<std::int64_t> usual_width(std::string_view key) {
    Counts heads;
    for (const std::int64_t n : heads_) {
      if (n > 0) heads.push_back(n);
    }
    if (!all_equal(heads) || d_model_ % heads.front() != 0) {
      problem(key, "missing-field",
              "the width of a head is missing, and the model's width " + std::to_string(d_model_) +
                  " divided by the heads does not give one",
              "the file is damaged or was written by an unfinished converter");
      return std::nullopt;
    }
    return d_model_ / heads.front();
  }

  std::optional<std::int64_t> width(std::string_view key) {
    return value(key) != nullptr ? count(key) : usual_width(key);
  }

  void widths() {
    if (largest(heads_) == 0) return;
    if (latent_) {
      latent_widths();
      return;
    }
    if (value("attention.key_length_mla") != nullptr) {
      problem("attention.kv_lora_rank", "missing-field", "there are MLA head widths and no latent",
              "the file is damaged");
      return;
    }
    const std::optional<std::int64_t> key = width("attention.key_length");
    if (!key) return;
    const std::optional<std::int64_t> value_width = width("attention.value_length");
    if (!value_width) return;
    d_head_ = *key;
    d_value_ = *value_width;
    put_layers("num_attention_heads", filled(heads_));
    put_layers("num_key_value_heads", filled(kv_heads_));
    window_key_ = count("attention.key_length_swa");
    window_value_ = count("attention.value_length_swa");
    if (window_key_ && *window_key_ != d_head_ && architecture_.starts_with("gemma4")) {
      // Gemma 4's config calls the width of its window layers head_dim, and that of the others global_head_dim.
      put("head_dim", *window_key_);
      put("global_head_dim", d_head_);
      return;
    }
    put("head_dim", d_head_);
    put("v_head_dim", d_value_);
    if (window_key_) put("swa_head_dim", *window_key_);
    if (window_value_) put("swa_v_head_dim", *window_value_);
  }

  // Layers without attention take the others' number, so that one number says it: which layers attend is said
  // elsewhere.
  static Counts filled(Counts values) {
    const std::int64_t usual = largest(values);
    for (std::int64_t& n : values) n = n == 0 ? usual : n;
    return values;
  }

  // MLA comes in two spellings. Old files give the widths of the expanded heads (192 and 128) and as many KV heads as
  // query heads. New ones describe the absorbed form, one KV head that is the latent (576 and 512), and keep the
  // expanded widths in keys of their own. One pair is never taken for the other.
  void latent_widths() {
    const std::int64_t latent = count("attention.kv_lora_rank").value_or(0);
    const bool absorbed =
        value("attention.key_length_mla") != nullptr || value("attention.value_length_mla") != nullptr;
    for (const std::string_view key : {"attention.key_length_mla", "attention.value_length_mla"}) {
      if (absorbed && value(key) == nullptr) {
        problem(key, "missing-field", "the width of an expanded head is missing",
                "MLA files have it for keys and values");
      }
    }
    if (!problems_.empty()) return;
    std::optional<std::int64_t> rope = count("rope.dimension_count");
    if (!rope && absorbed && value("attention.key_length") != nullptr) {
      rope = count("attention.key_length").value_or(0) - latent;
    }
    if (!rope || *rope < 0) {
      if (problems_.empty()) {
        problem("rope.dimension_count", "missing-field", "the width of MLA's rotary part is missing",
                "DeepSeek-V3 has 64; it is not guessed");
      }
      return;
    }
    const std::optional<std::int64_t> key =
        absorbed ? count("attention.key_length_mla") : width("attention.key_length");
    if (!key) return;
    const std::optional<std::int64_t> value_width =
        absorbed ? count("attention.value_length_mla") : width("attention.value_length");
    if (!value_width) return;
    const std::string_view key_name = absorbed ? "attention.key_length_mla" : "attention.key_length";
    const bool one_head = largest(kv_heads_) == 1;
    if (absorbed) {
      same_width("attention.key_length", latent + *rope,
                 "the latent and the rotary part, " + std::to_string(latent) + " + " + std::to_string(*rope));
      same_width("attention.value_length", latent, "the latent, " + std::to_string(latent));
      if (!one_head) {
        problem("attention.head_count_kv", "out-of-range",
                "there are " + std::to_string(largest(kv_heads_)) + " KV heads beside the widths of absorbed MLA",
                "absorbed MLA has 1, the latent");
      }
    } else if (one_head && largest(heads_) > 1 && *key == latent + *rope) {
      problem("attention.key_length_mla", "missing-field",
              "key_length " + std::to_string(*key) +
                  " is that of absorbed MLA, and the widths of the expanded heads are missing",
              "convert the model again; DeepSeek-V3 has key_length_mla 192 and value_length_mla 128");
    }
    if (problems_.empty() && *key <= *rope) {
      problem(key_name, "out-of-range",
              "a head of " + std::to_string(*key) + " has no room beside the rotary part of " + std::to_string(*rope),
              "the key length of an expanded head includes the rotary part, such as 192 with 64");
    }
    if (!problems_.empty()) return;
    d_head_ = *key;
    d_value_ = *value_width;
    const Counts heads = filled(heads_);
    put_layers("num_attention_heads", heads);
    put_layers("num_key_value_heads", heads);
    put("kv_lora_rank", latent);
    put("qk_rope_head_dim", *rope);
    put("qk_nope_head_dim", *key - *rope);
    put("v_head_dim", d_value_);
  }

  void same_width(std::string_view key, std::int64_t right, const std::string& because) {
    if (value(key) == nullptr) return;
    const std::optional<std::int64_t> given = count(key);
    if (given && *given != right) {
      problem(key, "inconsistent", std::to_string(*given) + " is not " + std::to_string(right),
              "beside key_length_mla this width is that of " + because);
    }
  }

  // ---- Kinds of layers ----

  // What a layer without KV heads is.
  std::string other_kind() const {
    if (value("shortconv.l_cache") != nullptr) return "conv";
    if (value("kda.head_dim") != nullptr || value("full_attention_interval") != nullptr) return "linear_attention";
    if (value("ssm.conv_kernel") != nullptr) return "mamba";
    return {};
  }

  // Said for every layer, because a family's default must not speak where the file does; not said where a window is
  // given and neither the file nor llama.cpp's code tells which layers have it.
  void layer_types() {
    const auto n = static_cast<std::size_t>(n_layers_);
    std::vector<std::string> types(n, "full_attention");
    const bool said = windows(types);
    if (problems_.empty()) others(types);
    if (!problems_.empty()) return;
    attention_.assign(n, true);
    window_.assign(n, false);
    for (std::size_t i = 0; i < n; ++i) {
      attention_[i] = types[i] != other_kind();
      window_[i] = types[i] == "sliding_attention" || types[i] == "chunked_attention";
    }
    if (blocks_of_one_part() || !said) return;
    std::vector<Node> items;
    for (const std::string& type : types) items.push_back(scalar({}, type, true));
    out_.root.children.push_back(sequence("layer_types", std::move(items)));
  }

  // False when there is a window and nothing says whose.
  bool windows(std::vector<std::string>& types) {
    const GgufWindowRow* const row = find_gguf_window(architecture_);
    const bool known = row != nullptr;
    std::optional<std::int64_t> window = count("attention.sliding_window");
    if (known && row->chunk > 0 && !window) {
      window = row->chunk;
      put("attention_chunk_size", row->chunk);
    } else if (window && known && row->chunk > 0) {
      put("attention_chunk_size", *window);
    }
    if (!window) return true;
    if (ignores_gguf_window(architecture_)) {
      note(full("attention.sliding_window"), "inactive-window",
           "a sliding window of " + std::to_string(*window) + " is given, and llama.cpp uses none in " + architecture_ +
               " models",
           "it is left out here, too");
      return true;
    }
    const std::string sliding = known && row->chunk > 0 ? "chunked_attention" : "sliding_attention";
    if (*window == 0) return true;
    if (sliding == "sliding_attention") put("sliding_window", *window);
    const GgufValue* pattern = value("attention.sliding_window_pattern");
    Counts slides;
    if (pattern != nullptr && pattern->is_array) {
      slides = per_layer("attention.sliding_window_pattern");
    } else if (pattern != nullptr || known) {
      std::int64_t every = known ? row->every : 0;
      if (pattern != nullptr && pattern->type == GgufType::boolean) {
        every = pattern->integers.at(0) != 0 ? 0 : 1;  // all layers, or none
      } else if (pattern != nullptr) {
        const std::optional<std::int64_t> given = count("attention.sliding_window_pattern");
        if (!given) return false;
        every = *given;
      }
      const bool first = known && row->full_first;
      for (std::int64_t i = 0; i < n_layers_; ++i) {
        slides.push_back(every == 0 || (first ? i % every != 0 : i % every < every - 1) ? 1 : 0);
      }
    }
    for (std::size_t i = 0; i < slides.size(); ++i) {
      if (slides[i] != 0) types[i] = sliding;
    }
    return !slides.empty();
  }

  // Layers without softmax attention.
  void others(std::vector<std::string>& types) {
    const std::string other = other_kind();
    Counts without(types.size(), 0);
    if (value("attention.recurrent_layers") != nullptr) {
      without = per_layer("attention.recurrent_layers");
    } else if (const std::optional<std::int64_t> every = count("full_attention_interval"); every && *every > 0) {
      for (std::size_t i = 0; i < types.size(); ++i) {
        without[i] = (static_cast<std::int64_t>(i) + 1) % *every != 0 ? 1 : 0;
      }
    }
    if (without.empty()) return;  // reported
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (kv_heads_.at(i) == 0) without[i] = 1;
    }
    if (largest(without) == 0) {
      if (other == "mamba") types.assign(types.size(), "hybrid");  // attention and state space side by side: Falcon-H1
      return;
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (without[i] == 0) continue;
      if (other.empty() && !one_part()) {
        problem("attention.head_count_kv", "unsupported-layer",
                "layer " + std::to_string(i) + " has no attention, and no key says what it has instead",
                "state-space layers have ssm.*, convolutions shortconv.*; other replacements are not read");
        return;
      }
      types[i] = other;
    }
  }

  // Nemotron-H: each layer is one thing, a mixer or a feed-forward part, and its config spells them in one word.
  [[nodiscard]] bool one_part() const { return architecture_.starts_with("nemotron_h"); }

  bool blocks_of_one_part() {
    if (!one_part()) return false;
    const Counts ff = per_layer("feed_forward_length");
    if (ff.empty()) return false;
    const bool moe = count("expert_count").value_or(0) > 0;
    std::string word;
    for (std::size_t i = 0; i < ff.size(); ++i) {
      word += ff[i] > 0 ? (moe ? 'E' : '-') : kv_heads_[i] > 0 ? '*' : 'M';
      attention_[i] = word.back() == '*';
    }
    put_text("hybrid_override_pattern", word);
    for (Node& child : out_.root.children) {
      if (child.key == "intermediate_size") {
        child = scalar("intermediate_size", std::to_string(largest(ff)));
      }
    }
    return true;
  }

  // ---- Linear and state-space layers ----

  void state_space() {
    const std::optional<std::int64_t> conv = count("ssm.conv_kernel");
    const std::optional<std::int64_t> inner = count("ssm.inner_size");
    const std::optional<std::int64_t> state = count("ssm.state_size");
    const std::optional<std::int64_t> rank = count("ssm.time_step_rank");
    const std::optional<std::int64_t> groups = count("ssm.group_count");
    const std::optional<std::int64_t> kda = count("kda.head_dim");
    if (kda) {
      Node kimi;
      kimi.kind = Node::Kind::map;
      kimi.key = "linear_attn_config";
      kimi.children.push_back(scalar("head_dim", std::to_string(*kda)));
      kimi.children.push_back(scalar("num_heads", std::to_string(groups.value_or(largest(heads_)))));
      if (conv) kimi.children.push_back(scalar("short_conv_kernel_size", std::to_string(*conv)));
      out_.root.children.push_back(std::move(kimi));
      return;
    }
    if (!conv) return;
    if (rank && *rank > 0 && inner && *inner % *rank != 0 && groups.value_or(0) > 0) {
      problem("ssm.inner_size", "out-of-range",
              std::to_string(*inner) + " does not divide by " + std::to_string(*rank) + " heads",
              "the inner size is heads times width of a head");
      return;
    }
    // Mamba-2 and the gated delta net have heads, counted by time_step_rank; in Mamba-1 it is a rank.
    const bool heads = groups.value_or(0) > 0 && rank.value_or(0) > 0;
    if (other_kind() == "linear_attention") {
      put("linear_conv_kernel_dim", *conv);
      if (state) put("linear_key_head_dim", *state);
      if (groups) put("linear_num_key_heads", *groups);
      if (rank) put("linear_num_value_heads", *rank);
      if (inner && heads) put("linear_value_head_dim", *inner / *rank);
      return;
    }
    put("mamba_d_conv", *conv);
    if (state) put("mamba_d_state", *state);
    if (heads) {
      put("mamba_n_groups", *groups);
      put("mamba_num_heads", *rank);
      if (inner) put("mamba_head_dim", *inner / *rank);
    } else {
      if (rank) put("mamba_dt_rank", *rank);
      if (inner) put("mamba_intermediate_size", *inner);
    }
    if (inner && d_model_ > 0 && *inner % d_model_ == 0) put("mamba_expand", *inner / d_model_);
  }

  // ---- Experts, vocabulary, name ----

  // The key and the tensor give the whole width; a config's field is that of one expert.
  void shared_experts() {
    std::optional<std::int64_t> whole = count("expert_shared_feed_forward_length");
    for (std::int64_t i = 0; i < n_layers_ && !whole; ++i) {
      const GgufTensor* up = file_.tensor("blk." + std::to_string(i) + ".ffn_up_shexp.weight");
      if (up != nullptr)
        whole = static_cast<std::int64_t>(std::min<std::uint64_t>(up->dims[1], limits::kMaxFeedForward));
    }
    const std::optional<std::int64_t> n = count("expert_shared_count");
    if (whole && *whole > 0) {
      put("shared_expert_intermediate_size", *whole);
      put("n_shared_experts", 1);
    } else if (n) {
      put("n_shared_experts", *n);
    }
  }

  // DeepSeek-V2 and V3 share an architecture name. V3 scores its experts by sigmoid, and with that came the correction
  // bias of balancing without an auxiliary loss.
  void router() {
    constexpr std::int64_t kSigmoid = 2;
    if (count("expert_gating_func") == kSigmoid && architecture_ == "deepseek2") put_text("topk_method", "noaux_tc");
  }

  void vocabulary() {
    const std::optional<std::int64_t> key = count("vocab_size");
    const GgufValue* tokens = file_.find("tokenizer.ggml.tokens");
    const GgufTensor* table = file_.tensor("token_embd.weight");
    std::optional<i128> rows;
    if (table != nullptr) {
      rows = i128{table->dims[1]};
      if (key && *key != *rows) {
        note(full("vocab_size"), "tensor-differs",
             "vocab_size is " + std::to_string(*key) + ", and the embedding has " + to_decimal(*rows) + " rows",
             "the rows of the tensor count");
      }
    } else if (key) {
      rows = i128{*key};
    } else if (tokens != nullptr && tokens->is_array) {
      rows = i128{tokens->n_items};
    }
    if (rows) out_.root.children.push_back(scalar("vocab_size", to_decimal(*rows)));
    // Gemma 3n and 4: a second embedding, of each layer.
    const GgufTensor* by_layer = file_.tensor("per_layer_token_embd.weight");
    if (by_layer != nullptr) {
      out_.root.children.push_back(scalar("vocab_size_per_layer_input", std::to_string(by_layer->dims[1])));
    }
  }

  void name() {
    const GgufValue* given = file_.find("general.name");
    if (given == nullptr || given->is_array || given->type != GgufType::string || !given->kept) return;
    // Into messages and reports: printable ASCII only.
    const auto plain = [](char c) { return c >= 0x20 && c < 0x7F; };
    if (!given->text.empty() && given->text.size() <= 200 &&
        std::all_of(given->text.begin(), given->text.end(), plain)) {
      put_text("_name_or_path", given->text);
    }
  }

  // ---- What the tensors show ----

  void tensors() {
    const GgufLayers layers(file_, n_layers_);
    if (!has_all_tensors(file_)) {
      note({}, "part-of-a-model", "this file is one of several parts, so its tensors are not looked at",
           "biases, norms and a tied head are taken from the family; merge the parts to have them checked");
      return;
    }
    put_flag("tie_word_embeddings", file_.tensor("output.weight") == nullptr);
    expert_layers(layers);
    GgufShape shape;
    shape.d_model = d_model_;
    shape.n_heads = heads_;
    const auto n = static_cast<std::size_t>(n_layers_);
    shape.d_head.assign(n, d_head_);
    shape.d_value.assign(n, d_value_);
    for (std::size_t i = 0; i < n; ++i) {
      if (window_[i] && window_key_) shape.d_head[i] = *window_key_;
      if (window_[i] && window_value_) shape.d_value[i] = *window_value_;
    }
    shape.attention = attention_;
    shape.window = window_;
    shape.d_ff = largest(per_layer("feed_forward_length"));
    shape.max_context = count("context_length").value_or(0);
    shape.shared_kv_layers = std::min(count("attention.shared_kv_layers").value_or(0), n_layers_);
    shape.n_nextn = n_nextn_;
    shape.latent = latent_;
    shape.layer_norm_key =
        value("attention.layer_norm_epsilon") != nullptr && value("attention.layer_norm_rms_epsilon") == nullptr;
    Node traits;
    traits.kind = Node::Kind::map;
    traits.key = "traits";
    FamilyTraits scratch;
    for (auto& [trait, text] : gguf_traits(file_, layers, shape)) {
      // What the table of traits has no word for is left to the family; the total will show the difference.
      if (!set_trait(scratch, trait, text)) traits.children.push_back(scalar(trait, std::move(text)));
    }
    out_.root.children.push_back(std::move(traits));
  }

  void expert_layers(const GgufLayers& layers) {
    if (count("expert_count").value_or(0) <= 1 || one_part()) return;
    std::vector<Node> items;
    bool any = false;
    for (std::int64_t i = 0; i < n_layers_; ++i) {
      const bool moe = layers.has(i, "ffn_gate_inp.weight");
      if (!moe && !layers.has(i, "ffn_down.weight")) return;  // of an unusual kind, or a test's
      any = any || moe;
      items.push_back(scalar({}, moe ? "sparse" : "dense", true));
    }
    if (any) out_.root.children.push_back(sequence("mlp_layer_types", std::move(items)));
  }

  void unused_keys() {
    for (const auto& [key, found] : file_.metadata) {
      const std::string_view name = key;
      if (!name.starts_with(architecture_ + ".")) continue;
      const std::string_view rest = name.substr(architecture_.size() + 1);
      if (is_gguf_key(rest)) continue;
      note(key, "unknown-key", "at byte " + std::to_string(found.at) + ": this key is not used", "");
    }
  }

  const GgufFile& file_;
  const std::string& model_type_;
  std::string architecture_;
  GgufConfig out_;
  Diagnostics problems_;
  std::int64_t n_layers_ = 0, n_nextn_ = 0, d_model_ = 0, d_head_ = 0, d_value_ = 0;
  std::optional<std::int64_t> window_key_, window_value_;
  bool latent_ = false;
  Counts heads_, kv_heads_;  // by layer; 0: no attention
  std::vector<bool> attention_, window_;
};

bool is_scale(std::string_view name) {
  return name.ends_with(".scale") || name.ends_with(".input_scale") || name.ends_with(".weight_scale");
}

}  // namespace

Expected<std::string> gguf_architecture(const GgufFile& file) {
  const auto wrong = [&](std::string_view key, std::string code, std::string what, std::string hint) {
    return Diagnostic{Severity::error, std::move(code), Location{file.file, 0, 0, std::string(key)}, std::move(what),
                      std::move(hint)};
  };
  const GgufValue* type = file.find("general.type");
  if (type != nullptr && type->type == GgufType::string && !type->is_array && type->text != "model") {
    return wrong("general.type", "not-a-model", "this file is no whole model",
                 "general.type of a model is 'model'; adapters, projectors and importance matrices describe none");
  }
  constexpr std::string_view kKey = "general.architecture";
  const GgufValue* given = file.find(kKey);
  if (given == nullptr) {
    return wrong(kKey, "missing-field", "the architecture is missing",
                 "give a model's file; of a model in several parts, the first one");
  }
  const std::string at = "at byte " + std::to_string(given->at) + ": ";
  if (given->is_array || given->type != GgufType::string) {
    return wrong(kKey, "wrong-type", at + "this is no string", "it is a name such as llama or qwen3moe");
  }
  const auto plain = [](char c) { return c > 0x20 && c < 0x7F; };
  if (given->text.empty() || given->text.size() > 64 || !std::all_of(given->text.begin(), given->text.end(), plain)) {
    return wrong(kKey, "out-of-range", at + "this is no architecture's name", "it is a name such as llama or qwen3moe");
  }
  return given->text;
}

Expected<GgufConfig> gguf_config(const GgufFile& file, const std::string& model_type) {
  return Translation(file, model_type).run();
}

bool has_all_tensors(const GgufFile& file) {
  const GgufValue* parts = file.find("split.count");
  return parts == nullptr || parts->is_array || !is_integer(parts->type) || parts->integers.at(0) <= 1;
}

std::vector<NamedParams> gguf_stored(const GgufFile& file) {
  i128 rope = 0;
  i128 scales = 0;
  i128 both = 0;
  for (const GgufTensor& tensor : file.tensors) {
    const std::string_view name = tensor.name;
    if (name.starts_with("rope_f") || name.ends_with(".rope_freqs.weight") || name.ends_with(".attn_rot_embd.weight")) {
      rope += tensor.elements;
    } else if (is_scale(name)) {
      scales += tensor.elements;
    } else if (name.ends_with(".attn_kv_b.weight")) {
      const std::string block(name.substr(0, name.size() - std::string_view("attn_kv_b.weight").size()));
      if (file.tensor(block + "attn_k_b.weight") != nullptr) both += tensor.elements;
    }
  }
  std::vector<NamedParams> out;
  const auto add = [&](std::string_view name, i128 elements) {
    if (elements > 0 && elements < limits::kMaxParams) {
      out.push_back({std::string(name), static_cast<std::int64_t>(elements)});
    }
  };
  add("rotary tables", rope);
  add("scales of quantised tensors", scales);
  add("kv_b beside its split halves", both);
  return out;
}

}  // namespace mha
