// rules/models/<id>.yaml, and the same format in a user's own file: a whole model by its layer kinds (docs/model-file.md).
// What is absent is absent from the model; widths and head counts are never derived.
#include <algorithm>

#include "mha/architecture.hpp"
#include "mha/limits.hpp"
#include "mha/rules_loader.hpp"

#include "core/text.hpp"
#include "rules/loaders.hpp"
#include "rules/text_file.hpp"
#include "rules/yaml_reader.hpp"

namespace mha {
namespace {

template <class Enum>
struct Choice {
  std::string_view id;
  Enum value;
};

constexpr Choice<NormKind> kNorms[] = {{"rms", NormKind::rms},
                                       {"layer", NormKind::layer},
                                       {"layer_scale", NormKind::layer_scale},
                                       {"none", NormKind::none}};
constexpr Choice<QkNorm> kQkNorms[] = {{"none", QkNorm::none}, {"per_head", QkNorm::per_head}, {"full", QkNorm::full}};

// An optional key: the fallback stands for "the model has no such thing", never for an unknown number.
class Optional {
 public:
  explicit Optional(MapReader& reader) : reader_(reader) {}

  std::int64_t count(std::string_view key, std::int64_t min, std::int64_t max, std::int64_t fallback = 0) {
    return has(key) ? reader_.count(key, min, max) : fallback;
  }
  bool flag(std::string_view key, bool fallback = false) {
    return has(key) ? reader_.value(key, parse_bool) : fallback;
  }
  std::string choice(std::string_view key, const std::vector<std::string>& choices, std::string fallback) {
    return has(key) ? read_choice(reader_, key, choices) : std::move(fallback);
  }
  bool has(std::string_view key) { return reader_.find(key, false) != nullptr; }

 private:
  MapReader& reader_;
};

template <class Enum, std::size_t N>
Enum read_enum(MapReader& reader, std::string_view key, const Choice<Enum> (&choices)[N], bool required) {
  Enum out = choices[0].value;
  if (reader.find(key, required) == nullptr) return out;
  std::vector<std::string> names;
  for (const Choice<Enum>& choice : choices) names.emplace_back(choice.id);
  const std::string name = read_choice(reader, key, names);
  for (const Choice<Enum>& choice : choices) {
    if (choice.id == name) out = choice.value;
  }
  return out;
}

class ModelReader {
 public:
  ModelReader(const Document& document, bool catalogue) : document_(document), catalogue_(catalogue) {}

  Expected<Architecture> read() {
    MapReader reader(&document_.root, document_.file, "", problems_);
    Optional optional(reader);
    Architecture& a = out_;
    a.origin = document_.file;
    if (catalogue_) {
      a.id = read_id(reader, document_);
      a.source = reader.source("source");
    } else {
      a.id = reader.optional_text("id");
      if (optional.has("source")) a.source = reader.source("source");
    }
    a.name = reader.text("name");
    a.family = reader.optional_text("family");
    a.note = reader.optional_text("note");
    a.d_model = reader.count("d_model", 1, limits::kMaxModelWidth);
    a.vocab_size = reader.count("vocab_size", 1, limits::kMaxVocab);
    a.d_embedding = optional.count("d_embedding", 1, limits::kMaxModelWidth);
    a.tied_embeddings = reader.value("tied_embeddings", parse_bool);
    a.lm_head = optional.flag("lm_head", true);
    a.lm_head_bias = optional.flag("lm_head_bias");
    a.norm = read_enum(reader, "norm", kNorms, true);
    a.final_norm = optional.flag("final_norm", true);
    a.embedding_norm = optional.flag("embedding_norm");
    a.learned_positions = optional.count("learned_positions", 1, limits::kMaxContext);
    a.type_vocab = optional.count("type_vocab", 1, limits::kMaxVocab);
    if (optional.has("max_context")) {
      a.max_context =
          reader.value("max_context", [](std::string_view text) { return parse_length(text, 1, limits::kMaxContext); });
    }
    a.extras = named(reader, "extras");
    a.stored = named(reader, "stored");
    if (optional.has("mtp")) read_mtp(reader);
    const std::int64_t n_layers = reader.count("n_layers", 1, limits::kMaxLayers);
    read_layers(reader);
    read_pattern(reader, n_layers);
    read_owners(reader, optional);
    reader.close();
    if (problems_.empty()) place(check_architecture(a));
    if (!problems_.empty()) return problems_;
    return std::move(out_);
  }

 private:
  std::vector<NamedParams> named(MapReader& reader, std::string_view key) {
    std::vector<NamedParams> out;
    if (reader.find(key, false) == nullptr) return out;
    const Node* node = reader.free_map(key);
    if (node == nullptr) return out;
    MapReader inner(node, document_.file, reader.path_of(key), problems_);
    for (const Node& child : node->children) out.push_back({child.key, inner.count(child.key, 0, limits::kMaxParams)});
    return out;
  }

  void read_mtp(MapReader& reader) {
    MapReader mtp = reader.map("mtp");
    Optional optional(mtp);
    out_.mtp.n_layers = mtp.count("n_layers", 1, limits::kMaxLayers);
    out_.mtp.projections = optional.count("projections", 0, 16, 1);
    out_.mtp.norms = optional.count("norms", 0, 16, 3);
    out_.mtp.own_embeddings = optional.flag("own_embeddings");
    mtp.close();
  }

  void read_layers(MapReader& reader) {
    const Node* kinds = reader.free_map("layers");
    if (kinds == nullptr) return;
    if (kinds->children.empty()) {
      reader.invalid("layers", "empty-map", "there is no layer kind", "describe at least one, such as 'full: {...}'");
    }
    for (const Node& child : kinds->children) {
      MapReader kind(&child, document_.file, "layers." + child.key, problems_);
      out_.specs.push_back(read_kind(child.key, kind));
    }
  }

  LayerSpec read_kind(const std::string& name, MapReader& reader) {
    LayerSpec spec;
    spec.name = name;
    Optional optional(reader);
    if (optional.has("attention")) spec.mixers.emplace_back(read_attention(reader, "attention"));
    if (optional.has("cross_attention")) {
      Attention cross = read_attention(reader, "cross_attention");
      cross.span = {Span::Kind::cross, 0};
      spec.mixers.emplace_back(cross);
    }
    if (optional.has("linear")) spec.mixers.emplace_back(read_linear(reader));
    if (optional.has("feed_forward")) spec.ffn = read_feed_forward(reader);
    spec.norms = optional.count("norms", 0, 16, 2);
    spec.extras = named(reader, "extras");
    reader.close();
    return spec;
  }

  Attention read_attention(MapReader& parent, std::string_view key) {
    MapReader reader = parent.map(key);
    Optional optional(reader);
    Attention a;
    Layout& l = a.layout;
    const auto width = [&](std::string_view name) { return optional.count(name, 1, limits::kMaxHeadWidth); };
    l.n_heads = reader.count("n_heads", 1, limits::kMaxHeads);
    l.d_kv_latent = optional.count("d_kv_latent", 1, limits::kMaxLatent);
    const std::int64_t d_q_latent = optional.count("d_q_latent", 1, limits::kMaxLatent);
    if (l.d_kv_latent > 0) {
      l.d_nope = reader.count("d_nope", 1, limits::kMaxHeadWidth);
      l.d_rope = reader.count("d_rope", 0, limits::kMaxHeadWidth);
      l.d_head = optional.count("d_head", 1, limits::kMaxHeadWidth, l.d_nope + l.d_rope);
      l.d_value = reader.count("d_value", 1, limits::kMaxHeadWidth);
      l.n_kv_heads = optional.count("n_kv_heads", 1, limits::kMaxHeads, l.n_heads);
      l.d_q_latent = d_q_latent;
    } else {
      l.n_kv_heads = reader.count("n_kv_heads", 1, limits::kMaxHeads);
      l.d_head = reader.count("d_head", 1, limits::kMaxHeadWidth);
      const std::int64_t d_value = width("d_value");
      l.d_value = d_value > 0 ? d_value : l.d_head;
      a.d_q_latent = d_q_latent;
    }
    l.n_latents = optional.count("n_latents", 1, limits::kMaxHeads);
    l.rank_kv = optional.count("rank_kv", 1, limits::kMaxRank);
    l.rank_q = optional.count("rank_q", 1, limits::kMaxRank);
    l.variant = variant_for(l);
    if (optional.has("variant")) read_variant(reader, a);
    if (optional.has("bias")) {
      for (const std::string& name : read_names(reader, "bias", {"q", "k", "v", "o"})) {
        l.bias.q = l.bias.q || name == "q";
        l.bias.k = l.bias.k || name == "k";
        l.bias.v = l.bias.v || name == "v";
        l.bias.o = l.bias.o || name == "o";
      }
    }
    a.qk_norm = read_enum(reader, "qk_norm", kQkNorms, false);
    l.qk_norm = a.qk_norm == QkNorm::per_head;
    a.qk_norm_shift = optional.flag("qk_norm_shift");
    read_span(reader, optional, a.span);
    a.sinks = optional.flag("sinks");
    a.output_gate = optional.flag("output_gate");
    a.head_gate = optional.flag("head_gate");
    a.tied_values = optional.flag("tied_values");
    a.values_cached = optional.flag("values_cached", true);
    a.shares_kv = optional.flag("shares_kv");
    a.keeps_kv_weights = optional.flag("keeps_kv_weights");
    a.o_groups = optional.count("o_groups", 1, limits::kMaxHeads);
    a.d_o_latent = optional.count("d_o_latent", 1, limits::kMaxLatent);
    if (optional.has("indexer")) {
      MapReader indexer = reader.map("indexer");
      a.indexer.n_heads = indexer.count("n_heads", 1, limits::kMaxHeads);
      a.indexer.d_head = indexer.count("d_head", 1, limits::kMaxHeadWidth);
      a.indexer.top_k = indexer.count("top_k", 1, limits::kMaxContext);
      indexer.close();
    }
    if (optional.has("compression")) {
      MapReader compression = reader.map("compression");
      a.compression.ratio = compression.count("ratio", 1, limits::kMaxContext);
      a.compression.window = compression.count("window", 0, limits::kMaxContext);
      compression.close();
    }
    reader.close();
    return a;
  }

  static const Variant* variant_for(const Layout& l) {
    if (l.d_kv_latent > 0) return find_variant("mla");
    return find_variant(l.n_kv_heads == l.n_heads ? "mha" : l.n_kv_heads == 1 ? "mqa" : "gqa");
  }

  // A layout that its widths do not tell apart from grouped heads is named: gta, gla, mfa, tpa.
  void read_variant(MapReader& reader, Attention& a) {
    std::vector<std::string> ids;
    for (const Variant* variant : variants()) ids.emplace_back(variant->id);
    const Variant* variant = find_variant(read_choice(reader, "variant", ids));
    if (variant == nullptr) return;
    Layout& l = a.layout;
    l.variant = variant;
    // These keep the query latent, and the halves of a key, in the layout itself.
    if (!variant->by_default) {
      if (l.d_q_latent == 0) l.d_q_latent = a.d_q_latent;
      a.d_q_latent = 0;
      Layout halves = l;
      halves.d_rope = l.d_head / 2;
      halves.d_nope = l.d_head - halves.d_rope;
      if (variant->check(l, out_.d_model) && !variant->check(halves, out_.d_model)) l = halves;
    }
  }

  void read_span(MapReader& reader, Optional& optional, Span& span) {
    if (optional.flag("encoder")) {
      span = {Span::Kind::encoder, 0};
      for (const std::string_view key : {"window", "chunk"}) {
        if (optional.has(key))
          reader.invalid(key, "two-spans", "an encoder layer sees its whole sequence, so that it has no window",
                         "drop encoder, or drop this");
      }
    }
    const auto length = [&](std::string_view key) {
      return reader.value(key, [](std::string_view text) { return parse_length(text, 1, limits::kMaxContext); });
    };
    if (optional.has("window")) span = {Span::Kind::window, length("window")};
    if (!optional.has("chunk")) return;
    if (span.kind == Span::Kind::window)
      reader.invalid("chunk", "two-spans", "a layer has a window or chunks, not both", "drop one of them");
    span = {Span::Kind::chunked, length("chunk")};
  }

  // A list of names out of `choices`.
  std::vector<std::string> read_names(MapReader& reader, std::string_view key,
                                      const std::vector<std::string>& choices) {
    return reader.list(key, [&](std::string_view text) -> Expected<std::string> {
      if (std::find(choices.begin(), choices.end(), text) != choices.end()) return std::string(text);
      return Diagnostic{
          Severity::error, "unknown-name", {}, shown(text) + " is not a choice here", did_you_mean(text, choices)};
    });
  }

  LinearMixer read_linear(MapReader& parent) {
    MapReader reader = parent.map("linear");
    Optional optional(reader);
    LinearMixer m;
    std::vector<std::string> kinds;
    for (const LinearKind* kind : linear_kinds()) kinds.emplace_back(kind->id);
    m.kind = find_linear_kind(read_choice(reader, "kind", kinds));
    m.n_heads = reader.count("n_heads", 1, limits::kMaxModelWidth);
    m.n_key_heads = optional.count("n_key_heads", 1, limits::kMaxModelWidth);
    m.d_key = optional.count("d_key", 1, limits::kMaxModelWidth);
    m.d_value = reader.count("d_value", 1, limits::kMaxModelWidth);
    m.d_conv = optional.count("d_conv", 1, 1024);
    m.d_latent = optional.count("d_latent", 1, limits::kMaxModelWidth);
    m.conv_bias = optional.flag("conv_bias");
    m.bias = optional.flag("bias");
    m.full_gate = optional.flag("full_gate");
    m.inner_norm = optional.flag("inner_norm", true);
    m.state_format = read_format(reader, optional, "state_format", m.state_format);
    m.conv_format = read_format(reader, optional, "conv_format", m.conv_format);
    reader.close();
    return m;
  }

  std::string_view read_format(MapReader& reader, Optional& optional, std::string_view key, std::string_view fallback) {
    std::vector<std::string> names;
    for (const StorageFormat& format : storage_formats()) names.emplace_back(format.id);
    const StorageFormat* format = find_format(optional.choice(key, names, std::string(fallback)));
    static_cast<void>(reader);
    return format == nullptr ? fallback : format->id;
  }

  FeedForward read_feed_forward(MapReader& parent) {
    MapReader reader = parent.map("feed_forward");
    Optional optional(reader);
    FeedForward f;
    f.d_ff = optional.count("d_ff", 1, limits::kMaxFeedForward);
    f.gated = reader.value("gated", parse_bool);
    if (optional.has("bias")) {
      for (const std::string& name : read_names(reader, "bias", {"up", "down"})) {
        f.bias_up = f.bias_up || name == "up";
        f.bias_down = f.bias_down || name == "down";
      }
    }
    f.n_experts = optional.count("n_experts", 1, limits::kMaxHeads);
    if (f.n_experts > 0) {
      f.top_k = reader.count("top_k", 1, limits::kMaxHeads);
      f.d_ff_expert = reader.count("d_ff_expert", 1, limits::kMaxFeedForward);
    }
    f.d_ff_shared = optional.count("d_ff_shared", 1, limits::kMaxFeedForward);
    f.d_latent = optional.count("d_latent", 1, limits::kMaxModelWidth);
    f.shared_gate = optional.flag("shared_gate");
    f.router_bias = optional.flag("router_bias");
    f.correction_bias = optional.flag("correction_bias");
    f.expert_scale = optional.flag("expert_scale");
    f.router_scale = optional.count("router_scale", 1, limits::kMaxModelWidth);
    reader.close();
    return f;
  }

  // [dense*3, moe*58]: in this order, from the start again until n_layers are named. One kind needs no pattern.
  void read_pattern(MapReader& reader, std::int64_t n_layers) {
    if (reader.find("pattern", out_.specs.size() > 1) == nullptr) {
      if (out_.specs.size() == 1) out_.layers.assign(static_cast<std::size_t>(n_layers), 0);
      return;
    }
    std::vector<std::uint16_t> once;
    const auto items = reader.list("pattern", parse_text);
    for (const std::string& item : items) {
      const std::size_t star = item.find('*');
      const std::string name = item.substr(0, star);
      std::int64_t times = 1;
      if (star != std::string::npos) {
        const Expected<std::int64_t> parsed = parse_count(item.substr(star + 1), 1, limits::kMaxLayers);
        if (!parsed) {
          reader.invalid("pattern", "bad-pattern", shown(item) + " is not 'kind' or 'kind*count'", "such as window*5");
          return;
        }
        times = *parsed;
      }
      const auto found =
          std::find_if(out_.specs.begin(), out_.specs.end(), [&](const LayerSpec& spec) { return spec.name == name; });
      if (found == out_.specs.end()) {
        std::vector<std::string> names;
        for (const LayerSpec& spec : out_.specs) names.push_back(spec.name);
        reader.invalid("pattern", "unknown-layer-kind", shown(name) + " is not a kind of 'layers'",
                       did_you_mean(name, names));
        return;
      }
      once.insert(once.end(), static_cast<std::size_t>(times), static_cast<std::uint16_t>(found - out_.specs.begin()));
      if (once.size() > static_cast<std::size_t>(limits::kMaxLayers)) break;
    }
    if (once.empty()) {
      reader.invalid("pattern", "bad-pattern", "the pattern names no layer", "such as [window*5, full]");
      return;
    }
    if (once.size() > static_cast<std::size_t>(std::max<std::int64_t>(n_layers, 1))) {
      reader.invalid(
          "pattern", "wrong-length",
          "the pattern names " + std::to_string(once.size()) + " layers, n_layers is " + to_decimal(n_layers),
          "shorten the pattern, or correct n_layers");
      return;
    }
    for (std::int64_t i = 0; i < n_layers; ++i) out_.layers.push_back(once[static_cast<std::size_t>(i) % once.size()]);
  }

  // A layer with shares_kv reads the last layer before it that has the same span and keeps its own; a
  // list `kv_owner` says otherwise.
  void read_owners(MapReader& reader, Optional& optional) {
    if (optional.has("kv_owner")) {
      for (const std::int64_t owner :
           reader.list("kv_owner", [](std::string_view text) { return parse_count(text, 0, limits::kMaxLayers); }))
        out_.kv_owner.push_back(static_cast<std::int32_t>(owner));
      if (out_.kv_owner.size() != out_.layers.size())
        reader.invalid("kv_owner", "wrong-length", "there must be one owner a layer",
                       "list " + std::to_string(out_.layers.size()) + " layer numbers, from 0");
      return;
    }
    assign_kv_owners(out_);
    for (std::size_t i = 0; i < out_.layers.size(); ++i) {
      if (out_.kv_owner[i] != -2) continue;
      reader.invalid("layers", "no-kv-owner",
                     "layer " + std::to_string(i) + " shares keys and values, but no earlier layer of its span has any",
                     "put a layer with its own before it, or list kv_owner");
      return;
    }
  }

  // Problems of the finished model are given the line of the key that they are about.
  void place(Diagnostics found) {
    for (Diagnostic& problem : found) {
      problem.where.file = document_.file;
      const Node* at = &document_.root;
      std::string_view rest = problem.where.key;
      while (at != nullptr && !rest.empty()) {
        const std::size_t dot = rest.find('.');
        const std::string_view key = rest.substr(0, dot);
        const Node* next = child_of(*at, key);
        if (next == nullptr) break;
        at = next;
        rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
      }
      problem.where.line = at->line;
      problem.where.column = at->column;
      problems_.push_back(std::move(problem));
    }
  }

  // The child `key`, also one level further down ("layers.full.n_heads" lies in layers.full.attention).
  static const Node* child_of(const Node& node, std::string_view key) {
    for (const Node& child : node.children) {
      if (child.key == key) return &child;
    }
    for (const Node& child : node.children) {
      for (const Node& inner : child.children) {
        if (inner.key == key) return &inner;
      }
    }
    return nullptr;
  }

  const Document& document_;
  bool catalogue_;
  Diagnostics problems_;
  Architecture out_;
};

}  // namespace

Expected<Architecture> read_model_rule(const Document& document) {
  return ModelReader(document, true).read();
}

Expected<Architecture> read_model_yaml(std::string_view text, const std::string& file) {
  Diagnostics problems = check_text(text, file);
  if (!problems.empty()) return problems;
  const Expected<Node> root = read_yaml(text, file);
  if (!root) return root.error();
  return ModelReader(Document{file, {}, *root}, false).read();
}

}  // namespace mha
