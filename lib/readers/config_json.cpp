// A Hugging Face config.json as an Architecture. No family has code here: what a family leaves unsaid comes from its
// file under rules/families, and a config of an unknown one is read by its fields alone.
#include "readers/config_json.hpp"

#include <algorithm>

#include "mha/limits.hpp"
#include "mha/model_readers.hpp"

#include "core/text.hpp"
#include "readers/config_fields.hpp"
#include "readers/config_layers.hpp"
#include "readers/config_mixers.hpp"
#include "readers/json_reader.hpp"
#include "rules/family_traits.hpp"

namespace mha {
namespace {

using namespace limits;

// Where multimodal configs keep their language model, deepest first.
constexpr std::string_view kInnerMaps[] = {
    "thinker_config.text_config", "text_config", "language_config", "llm_config", "language_model", "thinker_config",
};

struct Place {
  const Node* config = nullptr;
  std::string path;  // empty: the whole file
};

Place find_config(const Node& root) {
  for (const std::string_view path : kInnerMaps) {
    const Node* inner = find_path(root, path);
    if (inner != nullptr && inner->kind == Node::Kind::map && !inner->children.empty())
      return {inner, std::string(path)};
  }
  return {&root, {}};
}

std::string word_at(const Node& map, std::string_view key) {
  const Node* node = find_path(map, key);
  return node != nullptr && node->kind == Node::Kind::scalar && !is_null(*node) ? node->text : std::string();
}

// Of a family nobody described: the fields that say a trait themselves.
const std::vector<FamilyCase>& general_cases() {
  static const std::vector<FamilyCase> table = {
      {{{"multi_query_attention", {"true"}}}, {}, {{"num_key_value_heads", "multi_query_group_num"}}, {}},
      {{{"attention_bias", {"true"}}}, {}, {}, {{"bias", "qkvo"}}},
      {{{"qkv_bias", {"true"}}}, {}, {}, {{"bias", "qkv"}}},
      {{{"add_qkv_bias", {"true"}}}, {}, {}, {{"bias", "qkv"}}},
      {{{"mlp_bias", {"true"}}}, {}, {}, {{"ffn_bias", "both"}}},
      {{{"use_qk_norm", {"true"}}}, {}, {}, {{"qk_norm", "per_head"}}},
      {{{"attn_output_gate", {"true"}}}, {}, {}, {{"output_gate", "true"}}},
      {{{"topk_method", {"noaux_tc"}}}, {}, {}, {{"correction_bias", "true"}}},
      {{{"mamba_conv_bias", {"true"}}}, {}, {}, {{"linear_conv_bias", "true"}}},
  };
  return table;
}

class Reader {
 public:
  Reader(const Node& root, const std::string& file, const std::vector<FamilyRule>& families)
      : root_(root),
        file_(file),
        families_(families),
        place_(find_config(root)),
        fields_(*place_.config, place_.path, file, problems_, out_.notes) {}

  Expected<Architecture> read() {
    choose_family();
    read_whole();
    if (problems_.empty()) read_layers();
    if (problems_.empty()) read_once();
    if (problems_.empty()) problems_ = check_architecture(out_);
    if (!problems_.empty()) return std::move(problems_);
    return std::move(out_);
  }

 private:
  void choose_family();
  void apply_settings(const std::vector<FamilySetting>& traits);
  void apply_cases(const std::vector<FamilyCase>& cases);
  void override_traits();
  void refuse();
  void read_whole();
  void read_layers();
  void read_once();
  void name_specs(const std::vector<LayerDraft>& drafts);
  bool tied();
  std::vector<NamedParams> extras(const std::vector<std::string>& where);
  LayerSpec spec_of(const LayerDraft& draft, std::int64_t layer, LayerBuilder& builder);

  const Node& root_;
  const std::string& file_;
  const std::vector<FamilyRule>& families_;
  Diagnostics problems_;
  Architecture out_;
  Place place_;
  Fields fields_;
  const FamilyRule* family_ = nullptr;
  FamilyTraits traits_;
  std::int64_t n_layers_ = 0;
};

void Reader::apply_settings(const std::vector<FamilySetting>& traits) {
  // Checked when the family was loaded.
  for (const FamilySetting& setting : traits) (void)set_trait(traits_, setting.name, setting.value);
}

void Reader::apply_cases(const std::vector<FamilyCase>& cases) {
  for (const FamilyCase& one : cases) {
    const bool met = std::all_of(one.conditions.begin(), one.conditions.end(), [&](const auto& condition) {
      return fields_.holds(condition.first, condition.second);
    });
    if (!met) continue;
    fields_.use_values(one.set);
    fields_.use_defaults(one.defaults);
    apply_settings(one.traits);
  }
}

// The GGUF reader knows from the tensors what a config.json leaves unsaid.
void Reader::override_traits() {
  const Node* traits = find_path(root_, "traits");
  if (traits == nullptr || traits->kind != Node::Kind::map) return;
  for (const Node& trait : traits->children) {
    const std::optional<Diagnostic> found = set_trait(traits_, trait.key, trait.text);
    if (found) fields_.problem_at(trait, "traits." + trait.key, found->code, found->what, found->hint);
  }
}

void Reader::choose_family() {
  const std::string inner = word_at(*place_.config, "model_type");
  const std::string outer = word_at(root_, "model_type");
  family_ = find_family(families_, inner);
  if (family_ == nullptr) family_ = find_family(families_, outer);
  const std::string& type = inner.empty() ? outer : inner;
  out_.family = family_ != nullptr ? family_->id : type;
  out_.id = out_.family;
  const std::string name = word_at(root_, "_name_or_path");
  out_.name = name.empty() ? type : name;
  out_.origin = file_;
  out_.source.text = "config.json";
  if (family_ != nullptr) {
    out_.note = family_->note;
    fields_.use_aliases(family_->aliases);
    fields_.use_defaults(family_->defaults);
    apply_settings(family_->traits);
    apply_cases(family_->cases);
  } else {
    apply_cases(general_cases());
    fields_.note(
        "model_type", "unknown-family",
        (type.empty() ? "the config names no model_type" : shown(type) + " is not a known model_type") +
            std::string(": it is described by its fields alone; RMSNorm, two norms a layer and a gated feed-forward "
                        "part are taken, and no bias, QK-norm, sink, gate or embedding norm unless a field says so"),
        "parameter counts may be off by these; rules/families has a file for each known family");
  }
  override_traits();
}

// Fields that say more than this reader understands: going on without them would give a wrong answer without a word.
struct RefusedField {
  std::string_view name;
  std::string_view value;  // empty: any
  std::string_view what;
};

constexpr RefusedField kRefused[] = {
    {"block_configs", "", "block_configs describes each layer on its own, which is not read"},
    {"per_layer_config", "", "per_layer_config changes fields of single layers, which is not read"},
    {"is_encoder_decoder", "true", "this is an encoder with a decoder; only one stack of layers is read"},
};

void Reader::refuse() {
  for (const RefusedField& field : kRefused) {
    const Node* node = fields_.find(field.name);
    if (node == nullptr || (!field.value.empty() && node->text != field.value)) continue;
    if (node->kind != Node::Kind::scalar && node->children.empty()) continue;
    fields_.problem(field.name, "unsupported-field", std::string(field.what),
                    "describe the model in a file of this tool's own");
  }
}

void Reader::read_whole() {
  refuse();
  out_.d_model = fields_.need("hidden_size", 1, kMaxModelWidth);
  out_.vocab_size = fields_.need("vocab_size", 1, kMaxVocab);
  n_layers_ = fields_.need("num_hidden_layers", 1, kMaxLayers);
  out_.max_context = fields_.count_or("max_position_embeddings", 1, kMaxContext, 0);
}

// Of multimodal configs the outer map may say it, too; the language model's own word counts.
bool Reader::tied() {
  if (!fields_.stated("tie_word_embeddings")) {
    const Node* outer = find_path(root_, "tie_word_embeddings");
    if (outer != nullptr && (outer->text == "true" || outer->text == "false") && !outer->quoted) {
      return outer->text == "true";
    }
  }
  if (!fields_.has("tie_word_embeddings")) {
    fields_.note("tie_word_embeddings", "untied-taken",
                 "the config does not say whether the output head shares the embedding; it is taken to be separate",
                 "add \"tie_word_embeddings\"");
  }
  return fields_.flag("tie_word_embeddings");
}

std::vector<NamedParams> Reader::extras(const std::vector<std::string>& where) {
  std::vector<NamedParams> found;
  if (family_ == nullptr) return found;
  for (const FamilyExtra& extra : family_->extras) {
    if (std::find(where.begin(), where.end(), extra.where) == where.end()) continue;
    const std::optional<std::int64_t> elements = fields_.evaluate(extra.elements, extra.name);
    if (!elements) {
      fields_.problem(
          extra.name, "missing-field",
          "the parameters '" + extra.name + "' are " + extra.elements + ", of which the config lacks a field",
          "add the field");
    } else if (*elements > 0) {
      found.push_back({extra.name, *elements});
    }
  }
  return found;
}

std::string_view span_name(Span::Kind kind) {
  static constexpr std::string_view kNames[] = {"full", "window", "chunked", "cross", "encoder"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string mixer_name(const LayerDraft& draft) {
  using Mix = LayerDraft::Mix;
  if (draft.mix == Mix::none) return "";
  if (draft.mix == Mix::linear) return "linear";
  std::string name(span_name(draft.span));
  if (draft.ratio == 0) name = "window";
  if (draft.ratio > 0) name = "compressed-" + std::to_string(draft.ratio);
  if (draft.owner >= 0) name += "-shared";
  if (draft.borrows_picks) name += "-borrowing";
  return draft.mix == Mix::both ? name + "-linear" : name;
}

std::string ffn_name(const LayerDraft& draft) {
  if (draft.ffn == LayerDraft::Ffn::moe) return draft.hashed ? "hash-moe" : "moe";
  return draft.ffn == LayerDraft::Ffn::dense ? "dense" : "";
}

LayerSpec Reader::spec_of(const LayerDraft& draft, std::int64_t layer, LayerBuilder& builder) {
  using Mix = LayerDraft::Mix;
  LayerSpec spec;
  std::vector<std::string> where = {"all"};
  if (draft.mix == Mix::attention || draft.mix == Mix::both) {
    spec.mixers.emplace_back(builder.attention(draft, layer));
    where.insert(where.end(), {"attention", std::string(span_name(draft.span))});
  }
  if (draft.mix == Mix::linear || draft.mix == Mix::both) {
    spec.mixers.emplace_back(builder.linear(layer));
    where.emplace_back("linear");
  }
  spec.ffn = builder.feed_forward(draft, layer);
  where.emplace_back(draft.ffn == LayerDraft::Ffn::moe ? "moe" : ffn_name(draft));
  spec.norms = traits_.norms;
  spec.extras = extras(where);
  return spec;
}

bool same_spec(const LayerSpec& a, const LayerSpec& b) {
  return a.mixers == b.mixers && a.ffn == b.ffn && a.norms == b.norms && a.extras == b.extras;
}

void Reader::read_layers() {
  const std::vector<LayerDraft> drafts = draft_layers(fields_, traits_, n_layers_);
  if (!problems_.empty()) return;
  LayerBuilder builder(fields_, traits_, out_.d_model, n_layers_);
  std::vector<LayerDraft> of_spec;
  for (std::int64_t i = 0; i < n_layers_; ++i) {
    const LayerDraft& draft = drafts[static_cast<std::size_t>(i)];
    LayerSpec spec = spec_of(draft, i, builder);
    if (!problems_.empty()) return;  // the next layers would say the same
    auto known = std::find_if(out_.specs.begin(), out_.specs.end(),
                              [&](const LayerSpec& other) { return same_spec(other, spec); });
    if (known == out_.specs.end()) {
      out_.specs.push_back(std::move(spec));
      of_spec.push_back(draft);
      known = out_.specs.end() - 1;
    }
    out_.layers.push_back(static_cast<std::uint16_t>(known - out_.specs.begin()));
  }
  name_specs(of_spec);
  assign_kv_owners(out_);
}

// "full", or "dense" where only the feed-forward part differs, or both words.
void Reader::name_specs(const std::vector<LayerDraft>& drafts) {
  const auto differ = [&](std::string (*name)(const LayerDraft&)) {
    return std::any_of(drafts.begin(), drafts.end(), [&](const LayerDraft& d) { return name(d) != name(drafts[0]); });
  };
  const bool mixers = differ(mixer_name), ffns = differ(ffn_name);
  std::vector<std::string> taken;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const std::string mixer = mixer_name(drafts[i]), ffn = ffn_name(drafts[i]);
    std::string name = mixer.empty() ? ffn : mixer;
    if (ffns && !mixers && !ffn.empty()) name = ffn;
    if (ffns && mixers && !ffn.empty() && !mixer.empty()) name = mixer + "-" + ffn;
    std::string unique = name;
    for (int n = 2; std::find(taken.begin(), taken.end(), unique) != taken.end(); ++n) {
      unique = name + "-" + std::to_string(n);
    }
    taken.push_back(unique);
    out_.specs[i].name = unique;
  }
}

void Reader::read_once() {
  out_.norm = traits_.norm;
  out_.final_norm = traits_.final_norm;
  out_.embedding_norm = traits_.embedding_norm;
  out_.lm_head = traits_.lm_head;
  out_.lm_head_bias = traits_.lm_head && traits_.lm_head_bias;
  out_.tied_embeddings = traits_.lm_head && tied();
  const std::int64_t embedding = fields_.count_or("embedding_size", 1, kMaxModelWidth, 0);
  out_.d_embedding = embedding == out_.d_model ? 0 : embedding;
  if (traits_.learned_positions) {
    out_.learned_positions = fields_.need("max_position_embeddings", 1, kMaxContext) + traits_.learned_positions_offset;
  }
  if (traits_.type_vocab) out_.type_vocab = fields_.need("type_vocab_size", 1, kMaxVocab);
  out_.extras = extras({"model"});
  out_.mtp.n_layers = fields_.count_or("num_nextn_predict_layers", 0, kMaxLayers, 0);
  out_.mtp.own_embeddings = traits_.mtp_own_embeddings;
  if (fields_.has("quantization_config")) {
    fields_.note("quantization_config", "ignored-field",
                 "how the checkpoint's weights are quantised is not part of the model");
  }
}

}  // namespace

std::vector<std::string> model_types_of(const Node& config) {
  std::vector<std::string> out;
  for (const Node* map : {find_config(config).config, &config}) {
    const std::string type = word_at(*map, "model_type");
    if (!type.empty()) out.push_back(type);
  }
  return out;
}

Expected<Architecture> architecture_from_config(const Node& config, const std::string& file,
                                                const std::vector<FamilyRule>& families) {
  if (config.kind != Node::Kind::map) {
    return Diagnostic{Severity::error, "wrong-kind", Location{file, config.line, config.column, {}},
                      "a config.json is a map of fields, not a list or a single value",
                      "write {\"model_type\": \"llama\", \"hidden_size\": 4096, ...}"};
  }
  return Reader(config, file, families).read();
}

Expected<Architecture> read_config_json(std::string_view text, const std::string& file,
                                        const std::vector<FamilyRule>& families) {
  const Expected<Node> config = read_json(text, file);
  if (!config) return config.error();
  return architecture_from_config(*config, file, families);
}

}  // namespace mha
