// rules/families/<id>.yaml: what the config.json files of one model family leave unsaid. A config names widths and
// counts; which projections have biases, how many norms a layer has and what an absent field means stand in the
// family's program text, and here. Plain values; reading lives in lib/rules, meaning in lib/readers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mha/architecture.hpp"
#include "mha/rules.hpp"

namespace mha {

// What a config of the family does not say about its layers. Names are those of the keys under `traits:`.
struct FamilyTraits {
  // Norms and embeddings
  NormKind norm = NormKind::rms;
  std::int64_t norms = 2;  // of d_model a layer
  bool final_norm = true;
  bool embedding_norm = false;
  bool learned_positions = false;             // max_position_embeddings rows ...
  std::int64_t learned_positions_offset = 0;  // ... and so many more (OPT: 2)
  bool type_vocab = false;                    // type_vocab_size rows
  bool lm_head = true;
  bool lm_head_bias = false;
  // Attention
  ProjectionBias bias;
  QkNorm qk_norm = QkNorm::none;
  bool qk_norm_shift = false;
  std::string qk_norm_layers = "all";  // all, or the span of the layers that have it: window, full, cross
  bool value_norm = false;
  std::string sinks = "none";  // none, all, window, full
  bool output_gate = false;
  bool head_gate = false;
  bool tied_values = false;  // of full layers only (Gemma 4)
  bool keeps_kv_weights = false;
  bool encoder = false;     // attends to later tokens, too (BERT)
  bool window_all = false;  // a sliding_window without any pattern holds for every layer (Mistral 7B v0.1)
  // Linear and state-space layers
  std::string mixer = "attention";  // of a layer that no pattern field speaks of: attention, linear, both (Falcon-H1)
  std::string linear;  // id of the kind that "linear_attention", "mamba" or "conv" layers are; empty: by fields
  bool linear_bias = false;
  bool linear_conv_bias = false;
  bool linear_inner_norm = true;
  // Feed-forward
  bool gated_ffn = true;
  bool ffn_bias_up = false, ffn_bias_down = false;  // trait `ffn_bias`: none, up, down, both
  bool ffn_after_linear = true;                     // linear layers have a feed-forward part, too
  bool dense_beside_moe = false;                    // a dense part and experts in the same layer (Gemma 4)
  bool shared_gate = false;
  bool router_bias = false, correction_bias = false;
  bool expert_scale = false;
  bool router_scale = false;  // of d_model
  // Multi-token prediction
  bool mtp_own_embeddings = false;
  friend bool operator==(const FamilyTraits&, const FamilyTraits&) = default;
};

// A field or trait and what it is set to. Of a field, `value` is a number, true, false, a word, `absent`, or an
// expression over fields: "hidden_size / num_attention_heads". Expressions run from left to right, without precedence:
// + - * / (which must come out even), // (rounds down) and `up` (to a multiple). A field in its own expression is what
// the file says.
struct FamilySetting {
  std::string name;
  std::string value;
};

// `when:` {if: {field: [values]}, set: {...}, defaults: {...}, traits: {...}}. All fields must have one of their
// values; `absent` stands for null or no such key, `present` for anything else.
struct FamilyCase {
  std::vector<std::pair<std::string, std::vector<std::string>>> conditions;
  std::vector<FamilySetting> set;  // in place of what the file says
  std::vector<FamilySetting> defaults;
  std::vector<FamilySetting> traits;
};

// Parameters without a field of their own, as an expression over the fields.
struct FamilyExtra {
  std::string name;
  std::string elements;
  std::string where;  // model, all, attention, full, window, cross, linear, moe, dense: the layers that have it
};

struct FamilyRule {
  std::string id;                        // "qwen3-moe"
  std::string name;                      // "Qwen3 MoE"
  std::vector<std::string> model_types;  // of Hugging Face: "qwen3_moe"
  std::vector<std::string> gguf;         // general.architecture: "qwen3moe"
  std::vector<FamilySetting> traits;
  std::vector<FamilySetting> defaults;
  std::vector<std::pair<std::string, std::vector<std::string>>>
      aliases;  // field: spellings, the first that is there counts; dotted paths
  std::vector<FamilyCase> cases;
  std::vector<FamilyExtra> extras;
  Source source;
  std::string note;
};

// The family whose model_types hold `model_type`; nullptr: none.
[[nodiscard]] const FamilyRule* find_family(const std::vector<FamilyRule>& families, std::string_view model_type);
// The family that GGUF's general.architecture names; nullptr: none.
[[nodiscard]] const FamilyRule* find_gguf_family(const std::vector<FamilyRule>& families,
                                                 std::string_view architecture);

}  // namespace mha
