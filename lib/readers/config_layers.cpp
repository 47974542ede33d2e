#include "readers/config_layers.hpp"

#include <algorithm>
#include <string>

#include "mha/limits.hpp"

#include "core/text.hpp"

namespace mha {
namespace {

using Mix = LayerDraft::Mix;
using Ffn = LayerDraft::Ffn;
using Drafts = std::vector<LayerDraft>;

// ---- Words and letters ----------------------------------------------------------------------------------------------

struct LayerWord {
  std::string_view word;
  Mix mix;
  Span::Kind span;
  Ffn ffn = Ffn::unsaid;
  bool sparse = false;
  bool compressed = false;
};

const std::vector<LayerWord>& layer_words() {
  using Kind = Span::Kind;
  static const std::vector<LayerWord> table = {
      {"full_attention", Mix::attention, Kind::full},
      {"attention", Mix::attention, Kind::full},
      {"global_attention", Mix::attention, Kind::full},
      {"global", Mix::attention, Kind::full},
      {"sliding_attention", Mix::attention, Kind::window},
      {"sliding_window_attention", Mix::attention, Kind::window},
      {"local_attention", Mix::attention, Kind::window},
      {"local", Mix::attention, Kind::window},
      {"chunked_attention", Mix::attention, Kind::chunked},
      {"linear_attention", Mix::linear, Kind::full},
      {"mamba", Mix::linear, Kind::full},
      {"mamba2", Mix::linear, Kind::full},
      {"recurrent", Mix::linear, Kind::full},
      {"conv", Mix::linear, Kind::full},
      {"hybrid", Mix::both, Kind::full},
      {"hybrid_sliding", Mix::both, Kind::window},
      {"mlp", Mix::none, Kind::full, Ffn::dense},
      {"moe", Mix::none, Kind::full, Ffn::moe},
      {"deepseek_sparse_attention", Mix::attention, Kind::full, Ffn::unsaid, true},
      {"minimax_m3_sparse", Mix::attention, Kind::full, Ffn::unsaid, true},
      {"compressed_sparse_attention", Mix::attention, Kind::full, Ffn::unsaid, true, true},
      {"heavily_compressed_attention", Mix::attention, Kind::full, Ffn::unsaid, false, true},
  };
  return table;
}

struct FfnWord {
  std::string_view word;
  Ffn ffn;
  bool hashed = false;
};

const std::vector<FfnWord>& ffn_words() {
  static const std::vector<FfnWord> table = {
      {"dense", Ffn::dense}, {"sparse", Ffn::moe}, {"moe", Ffn::moe}, {"hash_moe", Ffn::moe, true}};
  return table;
}

struct LayerLetter {
  char letter;
  Mix mix;
  Span::Kind span;
  Ffn ffn;
};

// Nemotron-H: each layer is a mixer or a feed-forward part.
constexpr LayerLetter kHybridLetters[] = {
    {'M', Mix::linear, Span::Kind::full, Ffn::none},
    {'*', Mix::attention, Span::Kind::full, Ffn::none},
    {'-', Mix::none, Span::Kind::full, Ffn::dense},
    {'E', Mix::none, Span::Kind::full, Ffn::moe},
};

// EXAONE 4: local and global.
constexpr LayerLetter kSpanLetters[] = {
    {'L', Mix::attention, Span::Kind::window, Ffn::unsaid},
    {'G', Mix::attention, Span::Kind::full, Ffn::unsaid},
};

template <std::size_t N>
const LayerLetter* find_letter(const LayerLetter (&letters)[N], char c) {
  const auto it =
      std::find_if(std::begin(letters), std::end(letters), [&](const LayerLetter& l) { return l.letter == c; });
  return it == std::end(letters) ? nullptr : &*it;
}

template <class Row>
std::vector<std::string> words_of(const std::vector<Row>& table) {
  std::vector<std::string> out;
  for (const Row& row : table) out.emplace_back(row.word);
  return out;
}

struct Context {
  Fields& fields;
  const FamilyTraits& traits;
  Drafts& drafts;
  [[nodiscard]] std::int64_t n() const { return static_cast<std::int64_t>(drafts.size()); }
  LayerDraft& at(std::int64_t i) const { return drafts[static_cast<std::size_t>(i)]; }
};

std::string name_at(std::string_view field, std::size_t i) {
  return std::string(field) + "[" + std::to_string(i) + "]";
}

// The entries of a list that says one thing a layer. Multi-token-prediction layers, which are no layers of the model,
// may follow. Null when the length is wrong.
const Node* layer_list(const Context& c, std::string_view field) {
  const Node* node = c.fields.find(field);
  if (node == nullptr) return nullptr;
  if (node->kind != Node::Kind::sequence) {
    c.fields.problem(field, "wrong-kind", "this must be a list with one entry a layer", "write [a, b]");
    return nullptr;
  }
  const auto size = static_cast<std::int64_t>(node->children.size());
  const std::int64_t mtp = c.fields.count_or("num_nextn_predict_layers", 0, limits::kMaxLayers, 0);
  if (size == c.n() || (mtp > 0 && size == c.n() + mtp)) return node;
  c.fields.problem(field, "wrong-length",
                   "the list has " + std::to_string(size) + " entries for " + std::to_string(c.n()) + " layers",
                   "give one entry a layer");
  return nullptr;
}

// Layer numbers of a list, each below n() once `first` is taken off.
std::vector<std::int64_t> layer_numbers(const Context& c, std::string_view field, std::int64_t first) {
  std::vector<std::int64_t> out = c.fields.counts(field, first, c.n() - 1 + first);
  for (std::int64_t& number : out) number -= first;
  return out;
}

// ---- Mixers: one row a way of saying it ----------------------------------------------------------------------------

void mark_linear_but(const Context& c, std::int64_t period, std::int64_t offset) {
  for (std::int64_t i = 0; i < c.n(); ++i) c.at(i).mix = i % period == offset ? Mix::attention : Mix::linear;
}

void apply_word(const Context& c, const Node& item, std::string_view field, std::size_t i, LayerDraft& draft) {
  const std::vector<LayerWord>& table = layer_words();
  const auto word = std::find_if(table.begin(), table.end(), [&](const LayerWord& w) { return w.word == item.text; });
  if (item.kind != Node::Kind::scalar || word == table.end()) {
    c.fields.problem_at(item, name_at(field, i), "unknown-layer-type",
                        shown(item.text) + " is not a known kind of layer", did_you_mean(item.text, words_of(table)));
    return;
  }
  draft.mix = word->mix;
  draft.span = word->span;
  draft.ffn = word->ffn;
  draft.sparse = word->sparse;
  if (word->compressed) {
    const std::string rate = "compress_rates." + std::string(word->word);
    const std::int64_t usual = word->sparse ? 4 : 128;
    draft.ratio = c.fields.count_or(rate, 1, limits::kMaxContext, usual);
  }
}

void layer_types(const Context& c, std::string_view field) {
  const Node* list = layer_list(c, field);
  if (list == nullptr) return;
  for (std::int64_t i = 0; i < c.n(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    apply_word(c, list->children[at], field, at, c.at(i));
  }
}

// A short list that repeats (RecurrentGemma).
void block_types(const Context& c, std::string_view field) {
  const Node* list = c.fields.find(field);
  if (list->kind != Node::Kind::sequence || list->children.empty()) {
    c.fields.problem(field, "wrong-kind", "this must be a list of layer kinds, which repeats",
                     "write [\"recurrent\", \"recurrent\", \"attention\"]");
    return;
  }
  const std::size_t size = list->children.size();
  for (std::size_t i = 0; i < std::min(size, c.drafts.size()); ++i) {
    apply_word(c, list->children[i], field, i, c.drafts[i]);
  }
  for (std::size_t i = size; i < c.drafts.size(); ++i) c.drafts[i] = c.drafts[i % size];
  // Attention of such a model is local, whatever the word.
  if (!c.fields.has("sliding_window")) return;
  for (LayerDraft& draft : c.drafts) draft.span = Span::Kind::window;
}

template <std::size_t N>
void apply_letters(const Context& c, std::string_view field, const LayerLetter (&letters)[N], bool repeats) {
  const Node* node = c.fields.find(field);
  const std::string& text = node->text;
  if (node->kind != Node::Kind::scalar || text.empty() || (!repeats && text.size() != c.drafts.size())) {
    c.fields.problem(
        field, "wrong-length",
        "the pattern has " + std::to_string(text.size()) + " letters for " + std::to_string(c.n()) + " layers",
        "give one letter a layer");
    return;
  }
  for (std::size_t i = 0; i < c.drafts.size(); ++i) {
    const char letter = text[i % text.size()];
    const LayerLetter* row = find_letter(letters, letter);
    if (row == nullptr) {
      std::vector<std::string> known;
      for (const LayerLetter& l : letters) known.emplace_back(1, l.letter);
      c.fields.problem(field, "unknown-layer-type", shown(std::string(1, letter)) + " is not a known kind of layer",
                       did_you_mean(std::string(1, letter), known));
      return;
    }
    c.drafts[i].mix = row->mix;
    c.drafts[i].span = row->span;
    c.drafts[i].ffn = row->ffn;
  }
}

void hybrid_string(const Context& c, std::string_view field) {
  apply_letters(c, field, kHybridLetters, false);
}

// Every n-th layer sees everything; or a string of L and G that repeats.
void window_pattern(const Context& c, std::string_view field) {
  if (!c.fields.has("sliding_window")) return;  // no window: nothing to alternate
  const Node* node = c.fields.find(field);
  if (node->quoted) {
    apply_letters(c, field, kSpanLetters, true);
    c.drafts.back().span = Span::Kind::full;
    return;
  }
  const std::optional<std::int64_t> period = c.fields.count(field, 1, limits::kMaxLayers);
  for (std::int64_t i = 0; period && i < c.n(); ++i) {
    c.at(i).span = (i + 1) % *period == 0 ? Span::Kind::full : Span::Kind::window;
  }
}

void full_interval(const Context& c, std::string_view field) {
  const std::optional<std::int64_t> period = c.fields.count(field, 1, limits::kMaxLayers);
  if (period) mark_linear_but(c, *period, *period - 1);
}

void attention_period(const Context& c, std::string_view field) {
  const std::optional<std::int64_t> period = c.fields.count(field, 1, limits::kMaxLayers);
  if (!period) return;
  const std::int64_t offset = c.fields.need("attn_layer_offset", 0, *period - 1);
  mark_linear_but(c, *period, offset);
}

void attention_indices(const Context& c, std::string_view field) {
  const std::vector<std::int64_t> indices = layer_numbers(c, field, 0);
  for (std::int64_t i = 0; i < c.n(); ++i) {
    const bool named = std::find(indices.begin(), indices.end(), i) != indices.end();
    c.at(i).mix = named ? Mix::attention : Mix::linear;
  }
}

// One number a layer, `attention` of which is softmax attention (MiniMax-Text-01: 1).
void attention_flags(const Context& c, std::string_view field) {
  if (layer_list(c, field) == nullptr) return;
  const std::vector<std::int64_t> flags = c.fields.counts(field, 0, 1);
  for (std::size_t i = 0; i < flags.size() && i < c.drafts.size(); ++i) {
    c.drafts[i].mix = flags[i] == 1 ? Mix::attention : Mix::linear;
  }
}

// MiMo-V2: 1 is a window layer.
void window_flags(const Context& c, std::string_view field) {
  if (layer_list(c, field) == nullptr) return;
  const std::vector<std::int64_t> flags = c.fields.counts(field, 0, 1);
  for (std::size_t i = 0; i < flags.size() && i < c.drafts.size(); ++i) {
    c.drafts[i].span = flags[i] == 1 ? Span::Kind::window : Span::Kind::full;
  }
}

// Kimi Linear: lists of layer numbers that start at 1; together they name every layer once.
void linear_lists(const Context& c, std::string_view field) {
  const std::vector<std::int64_t> full = layer_numbers(c, std::string(field) + ".full_attn_layers", 1);
  const std::vector<std::int64_t> linear = layer_numbers(c, std::string(field) + ".kda_layers", 1);
  if (c.fields.failed()) return;
  std::vector<int> seen(c.drafts.size(), 0);
  for (const std::int64_t i : full) ++seen[static_cast<std::size_t>(i)];
  for (const std::int64_t i : linear) {
    ++seen[static_cast<std::size_t>(i)];
    c.at(i).mix = Mix::linear;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == 1) continue;
    c.fields.problem(field, "wrong-length",
                     "layer " + std::to_string(i + 1) + (seen[i] == 0 ? " is in neither" : " is more than once in") +
                         " full_attn_layers and kda_layers",
                     "name each layer once; the first is 1");
    return;
  }
}

// DeepSeek-V4.
void compress_ratios(const Context& c, std::string_view field) {
  if (layer_list(c, field) == nullptr) return;
  const std::vector<std::int64_t> ratios = c.fields.counts(field, 0, limits::kMaxContext);
  for (std::size_t i = 0; i < ratios.size() && i < c.drafts.size(); ++i) {
    c.drafts[i].ratio = ratios[i];
    c.drafts[i].sparse = ratios[i] == 4;  // the other rate is small enough to read all entries
  }
}

// Llama 4: layers with rotary embedding see their chunk only. 1: with.
void chunked(const Context& c, std::string_view) {
  const std::vector<std::int64_t> flags =
      c.fields.stated("no_rope_layers") ? c.fields.counts("no_rope_layers", 0, 1) : std::vector<std::int64_t>{};
  if (!flags.empty() && layer_list(c, "no_rope_layers") == nullptr) return;
  const std::int64_t period = c.fields.count_or("no_rope_layer_interval", 1, limits::kMaxLayers, 4);
  for (std::int64_t i = 0; i < c.n(); ++i) {
    const bool rope = flags.empty() ? (i + 1) % period != 0 : flags[static_cast<std::size_t>(i)] == 1;
    c.at(i).span = rope ? Span::Kind::chunked : Span::Kind::full;
  }
}

// GPT-Neo: [[["global", "local"], 12]].
void attention_types(const Context& c, std::string_view field) {
  const Node* list = c.fields.find(field);
  std::vector<const Node*> kinds;
  for (const Node& group : list->children) {
    if (group.children.size() != 2) break;
    const std::optional<std::int64_t> times = c.fields.count_of(group.children[1], field, 1, limits::kMaxLayers);
    for (std::int64_t k = 0; times && k < *times; ++k) {
      for (const Node& word : group.children[0].children) kinds.push_back(&word);
      if (kinds.size() > c.drafts.size()) break;
    }
  }
  if (kinds.size() != c.drafts.size()) {
    c.fields.problem(field, "wrong-length",
                     "this describes " + std::to_string(kinds.size()) + " layers of " + std::to_string(c.n()),
                     "write [[[\"global\", \"local\"], 12]] for 24 layers");
    return;
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) apply_word(c, *kinds[i], field, i, c.drafts[i]);
}

void window_from(const Context& c, std::string_view) {
  if (!c.fields.flag("use_sliding_window")) return;
  if (!c.fields.has("sliding_window")) return;
  const std::int64_t first = c.fields.count_or("max_window_layers", 0, limits::kMaxLayers, 0);
  for (std::int64_t i = first; i < c.n(); ++i) c.at(i).span = Span::Kind::window;
}

struct PatternRow {
  std::string_view field;
  void (*apply)(const Context& context, std::string_view field);
};

// Of each group the first field that is there counts: lists before the numbers that some configs keep beside them.
const std::vector<PatternRow>& mixer_patterns() {
  static const std::vector<PatternRow> table = {
      {"layer_types", layer_types},
      {"layers_block_type", layer_types},
      {"hybrid_override_pattern", hybrid_string},
      {"block_types", block_types},
      {"attn_type_list", attention_flags},
      {"linear_attn_config", linear_lists},
      {"hybrid_layer_pattern", window_flags},
      {"compress_ratios", compress_ratios},
      {"attention_types", attention_types},
      {"attn_layer_indices", attention_indices},
      {"attn_layer_period", attention_period},
      {"full_attention_interval", full_interval},
      {"layer_group_size", full_interval},
      {"attention_chunk_size", chunked},
      {"sliding_window_pattern", window_pattern},
      {"use_sliding_window", window_from},
  };
  return table;
}

// ---- Feed-forward ---------------------------------------------------------------------------------------------------

template <class Is>
void mark_moe(const Context& c, Is is) {
  for (std::int64_t i = 0; i < c.n(); ++i) {
    if (c.at(i).ffn == Ffn::unsaid) c.at(i).ffn = is(i) ? Ffn::moe : Ffn::dense;
  }
}

void mlp_layer_types(const Context& c, std::string_view field) {
  const Node* list = layer_list(c, field);
  if (list == nullptr) return;
  for (std::int64_t i = 0; i < c.n(); ++i) {
    const Node& item = list->children[static_cast<std::size_t>(i)];
    const std::vector<FfnWord>& table = ffn_words();
    const auto word = std::find_if(table.begin(), table.end(), [&](const FfnWord& w) { return w.word == item.text; });
    if (word == table.end()) {
      c.fields.problem_at(item, name_at(field, static_cast<std::size_t>(i)), "unknown-layer-type",
                          shown(item.text) + " is not a known kind of feed-forward layer",
                          did_you_mean(item.text, words_of(table)));
      return;
    }
    if (c.at(i).ffn == Ffn::unsaid) c.at(i).ffn = word->ffn;
    c.at(i).hashed = word->hashed;
  }
}

std::int64_t first_moe(const Context& c) {
  return c.fields.count_or("first_k_dense_replace", 0, limits::kMaxLayers, 0);
}

void moe_frequency(const Context& c, std::string_view field) {
  if (c.fields.find(field)->kind == Node::Kind::sequence) {
    if (layer_list(c, field) == nullptr) return;
    const std::vector<std::int64_t> flags = c.fields.counts(field, 0, 1);
    if (!flags.empty()) mark_moe(c, [&](std::int64_t i) { return flags[static_cast<std::size_t>(i)] == 1; });
    return;
  }
  const std::int64_t first = first_moe(c);
  const std::optional<std::int64_t> period = c.fields.count(field, 1, limits::kMaxLayers);
  if (period) mark_moe(c, [&](std::int64_t i) { return i >= first && i % *period == 0; });
}

void dense_first(const Context& c, std::string_view) {
  const std::int64_t first = first_moe(c);
  mark_moe(c, [&](std::int64_t i) { return i >= first; });
}

void sparse_step(const Context& c, std::string_view field) {
  const std::optional<std::int64_t> step = c.fields.count(field, 1, limits::kMaxLayers);
  const std::vector<std::int64_t> dense = layer_numbers(c, "mlp_only_layers", 0);
  if (!step) return;
  mark_moe(c, [&](std::int64_t i) {
    return (i + 1) % *step == 0 && std::find(dense.begin(), dense.end(), i) == dense.end();
  });
}

void mlp_only(const Context& c, std::string_view field) {
  const std::vector<std::int64_t> dense = layer_numbers(c, field, 0);
  mark_moe(c, [&](std::int64_t i) { return std::find(dense.begin(), dense.end(), i) == dense.end(); });
}

void moe_numbers(const Context& c, std::string_view field) {
  const std::vector<std::int64_t> moe = layer_numbers(c, field, 0);
  mark_moe(c, [&](std::int64_t i) { return std::find(moe.begin(), moe.end(), i) != moe.end(); });
}

void moe_interleave(const Context& c, std::string_view field) {
  const std::optional<std::int64_t> step = c.fields.count(field, 1, limits::kMaxLayers);
  if (step) mark_moe(c, [&](std::int64_t i) { return (i + 1) % *step == 0; });
}

// Step-3: "4,5,6,7".
void moe_enum(const Context& c, std::string_view field) {
  const std::string text = c.fields.word(field);
  std::vector<std::int64_t> moe;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    at = end + 1;
    Node number;
    number.text = item.substr(std::min(item.find_first_not_of(' '), item.size()));
    number.line = c.fields.find(field)->line;
    number.column = c.fields.find(field)->column;
    const std::optional<std::int64_t> value = c.fields.count_of(number, field, 0, c.n() - 1);
    if (!value) return;
    moe.push_back(*value);
  }
  mark_moe(c, [&](std::int64_t i) { return std::find(moe.begin(), moe.end(), i) != moe.end(); });
}

void expert_period(const Context& c, std::string_view field) {
  const std::optional<std::int64_t> period = c.fields.count(field, 1, limits::kMaxLayers);
  if (!period) return;
  const std::int64_t offset = c.fields.need("expert_layer_offset", 0, *period - 1);
  mark_moe(c, [&](std::int64_t i) { return i % *period == offset; });
}

// ERNIE 4.5.
void moe_range(const Context& c, std::string_view field) {
  const std::optional<std::int64_t> first = c.fields.count(field, 0, limits::kMaxLayers);
  if (!first) return;
  // -1 stands for the last layer.
  const Node* end = c.fields.find("moe_layer_end_index");
  const bool to_end = end == nullptr || end->text == "-1";
  const std::int64_t last =
      to_end ? c.n() - 1 : c.fields.count_or("moe_layer_end_index", 0, limits::kMaxLayers, c.n() - 1);
  const std::int64_t interval = c.fields.count_or("moe_layer_interval", 1, limits::kMaxLayers, 1);
  mark_moe(c, [&](std::int64_t i) { return (i + 1) % interval == 0 && *first <= i && i <= last; });
}

const std::vector<PatternRow>& ffn_patterns() {
  static const std::vector<PatternRow> table = {
      {"mlp_layer_types", mlp_layer_types},
      {"moe_layers_enum", moe_enum},
      {"moe_layers", moe_numbers},
      {"moe_layer_freq", moe_frequency},
      {"first_k_dense_replace", dense_first},
      {"decoder_sparse_step", sparse_step},
      {"mlp_only_layers", mlp_only},
      {"interleave_moe_layer_step", moe_interleave},
      {"expert_layer_period", expert_period},
      {"moe_layer_start_index", moe_range},
  };
  return table;
}

void apply_first(const Context& c, const std::vector<PatternRow>& table) {
  for (const PatternRow& row : table) {
    if (!c.fields.has(row.field)) continue;
    row.apply(c, row.field);
    return;
  }
}

// ---- After the pattern ----------------------------------------------------------------------------------------------

void cross_layers(const Context& c) {
  for (const std::int64_t i : layer_numbers(c, "cross_attention_layers", 0)) {
    c.at(i).mix = Mix::attention;
    c.at(i).span = Span::Kind::cross;
  }
}

// Gemma 3n and 4: the last k layers read the cache of the last layer of their kind before them.
void shared_tail(const Context& c) {
  const std::int64_t shared = c.fields.count_or("num_kv_shared_layers", 0, c.n(), 0);
  const std::int64_t first = c.n() - shared;
  for (std::int64_t i = first; i < c.n(); ++i) {
    std::int64_t owner = first - 1;
    while (owner >= 0 && (c.at(owner).span != c.at(i).span || c.at(owner).mix != c.at(i).mix)) --owner;
    if (owner < 0) {
      c.fields.problem("num_kv_shared_layers", "no-kv-owner",
                       "layer " + std::to_string(i) + " has no layer of its kind before layer " +
                           std::to_string(first) + " whose cache it could read",
                       "give a smaller num_kv_shared_layers");
      return;
    }
    c.at(i).owner = static_cast<std::int32_t>(owner);
  }
}

// Hunyuan: cross-layer attention in groups of `cla_share_factor`.
void shared_groups(const Context& c) {
  if (!c.fields.flag("use_cla")) return;
  const std::int64_t factor = c.fields.count_or("cla_share_factor", 1, limits::kMaxLayers, 1);
  for (std::int64_t i = 0; i < c.n(); ++i) {
    if (i % factor != 0) c.at(i).owner = static_cast<std::int32_t>(i - i % factor);
  }
}

// A window that no layer uses, or that is as long as the context, changes nothing; B.2 of a survey of configs:
// Phi-3-mini, Phi-4-mini and Qwen2.5 have such.
void drop_idle_windows(const Context& c) {
  if (!c.fields.stated("sliding_window")) return;
  const Node* node = c.fields.find("sliding_window");
  if (node->kind != Node::Kind::scalar) return;
  const std::optional<std::int64_t> window = c.fields.count("sliding_window", 0, limits::kMaxContext);
  if (!window) return;
  const auto windowed = [](const LayerDraft& d) {
    return d.mix != Mix::none && d.mix != Mix::linear && (d.span == Span::Kind::window || d.ratio >= 0);
  };
  const bool used = std::any_of(c.drafts.begin(), c.drafts.end(), windowed);
  if (!used) {
    c.fields.note(
        "sliding_window", "window-not-active",
        "the window of " + std::to_string(*window) + " tokens is not active: no field says that a layer uses it");
    return;
  }
  const std::int64_t context = c.fields.count_or("max_position_embeddings", 1, limits::kMaxContext, 0);
  const bool compressed =
      std::any_of(c.drafts.begin(), c.drafts.end(), [](const LayerDraft& d) { return d.ratio >= 0; });
  if (context == 0 || *window < context || compressed) return;
  for (LayerDraft& draft : c.drafts) {
    if (draft.span == Span::Kind::window) draft.span = Span::Kind::full;
  }
  c.fields.note("sliding_window", "window-not-active",
                "the window of " + std::to_string(*window) + " tokens is not shorter than the context of " +
                    std::to_string(context) + ", so it is not active");
}

// GLM-5.2: "full" layers have an indexer, "shared" ones use the picks of the last full one. By a list, by letters, or
// by a period.
void borrowed_picks(const Context& c) {
  const auto borrow = [&](std::int64_t i) { c.at(i).borrows_picks = true; };
  if (c.fields.has("indexer_types")) {
    const Node* list = layer_list(c, "indexer_types");
    for (std::int64_t i = 0; list != nullptr && i < c.n(); ++i) {
      if (list->children[static_cast<std::size_t>(i)].text == "shared") borrow(i);
    }
  } else if (c.fields.has("index_topk_pattern")) {
    const std::string letters = c.fields.word("index_topk_pattern");
    for (std::int64_t i = 0; i < c.n() && static_cast<std::size_t>(i) < letters.size(); ++i) {
      if (letters[static_cast<std::size_t>(i)] == 'S') borrow(i);
    }
  } else {
    const std::int64_t period = c.fields.count_or("index_topk_freq", 1, limits::kMaxLayers, 1);
    const std::int64_t offset = c.fields.count_or("index_skip_topk_offset", 0, limits::kMaxLayers, 2);
    for (std::int64_t i = 0; i < c.n(); ++i) {
      if (std::max<std::int64_t>(i - offset + 1, 0) % period != 0) borrow(i);
    }
  }
  const bool any = std::any_of(c.drafts.begin(), c.drafts.end(), [](const LayerDraft& d) { return d.borrows_picks; });
  if (!any) return;
  c.fields.note(
      "index_topk", "borrowed-picks",
      "some layers use the tokens that another layer's indexer picked; they are taken to read all tokens, which "
      "is more work than they do");
}

}  // namespace

std::vector<LayerDraft> draft_layers(Fields& fields, const FamilyTraits& traits, std::int64_t n_layers) {
  Drafts drafts(static_cast<std::size_t>(n_layers));
  const Context c{fields, traits, drafts};
  if (traits.window_all && fields.has("sliding_window")) {
    for (LayerDraft& draft : drafts) draft.span = Span::Kind::window;
  }
  for (LayerDraft& draft : drafts) {
    if (traits.mixer == "linear") draft.mix = Mix::linear;
    if (traits.mixer == "both") draft.mix = Mix::both;
  }
  apply_first(c, mixer_patterns());
  for (LayerDraft& draft : drafts) {
    if (traits.encoder) draft.span = Span::Kind::encoder;
  }
  if (fields.has("sliding_window")) drop_idle_windows(c);
  cross_layers(c);
  // Where some layers are a feed-forward part alone, the mixers are alone, too.
  const bool alone = std::any_of(drafts.begin(), drafts.end(), [](const LayerDraft& d) { return d.mix == Mix::none; });
  for (LayerDraft& draft : drafts) {
    const bool bare = alone || (!traits.ffn_after_linear && draft.mix == Mix::linear);
    if (bare && draft.ffn == Ffn::unsaid) draft.ffn = Ffn::none;
  }
  if (fields.count_or("num_experts", 0, limits::kMaxFeedForward, 0) > 1) {
    apply_first(c, ffn_patterns());
    mark_moe(c, [](std::int64_t) { return true; });
    const std::int64_t hashed =
        fields.stated("mlp_layer_types") ? 0 : fields.count_or("num_hash_layers", 0, n_layers, 0);
    for (std::int64_t i = 0; i < hashed; ++i) c.at(i).hashed = true;
  } else {
    mark_moe(c, [](std::int64_t) { return false; });
  }
  if (fields.has("index_n_heads")) borrowed_picks(c);
  shared_tail(c);
  shared_groups(c);
  return drafts;
}

}  // namespace mha
