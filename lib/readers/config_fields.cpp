#include "readers/config_fields.hpp"

#include <algorithm>

#include "mha/limits.hpp"
#include "mha/quantity.hpp"

#include "core/text.hpp"
#include "readers/json_reader.hpp"

namespace mha {
namespace {

struct Spelling {
  std::string_view name;
  std::vector<std::string_view> others;
};

// What the same field is called in configs of different families. A family's own spellings come from its file.
const std::vector<Spelling>& general_spellings() {
  static const std::vector<Spelling> table = {
      {"hidden_size", {"n_embd", "d_model", "dim", "n_embed", "model_dim"}},
      {"num_hidden_layers", {"n_layer", "n_layers", "num_layers", "num_transformer_layers"}},
      {"num_attention_heads", {"n_head", "n_heads", "num_heads", "num_query_heads"}},
      {"num_key_value_heads",
       {"num_query_groups", "num_kv_heads", "n_head_kv", "n_kv_heads", "kv_n_heads", "num_attention_groups"}},
      {"intermediate_size", {"n_inner", "ffn_dim", "ffn_hidden_size", "d_ff", "feed_forward_size"}},
      {"vocab_size", {"padded_vocab_size"}},
      {"head_dim", {"attention_head_dim", "kv_channels", "d_head"}},
      {"num_experts", {"n_routed_experts", "num_local_experts", "moe_num_experts", "num_routed_experts"}},
      {"num_experts_per_tok",
       {"moe_topk", "moe_top_k", "moe_k", "num_experts_per_token", "top_k_experts", "num_selected_experts"}},
      {"moe_latent_size", {"routed_expert_hidden_size"}},
      {"moe_intermediate_size", {"expert_intermediate_size", "moe_ffn_hidden_size", "expert_ffn_hidden_size"}},
      {"n_shared_experts", {"num_shared_experts", "num_shared_expert", "moe_num_shared_experts"}},
      {"shared_expert_intermediate_size",
       {"shared_intermediate_size", "moe_shared_expert_intermediate_size", "share_expert_dim"}},
      {"num_nextn_predict_layers", {"mtp_num_hidden_layers", "num_mtp_layers", "n_mtp_layers", "mtp_num_layers"}},
      {"sliding_window", {"sliding_window_size", "attention_window_size", "window_size"}},
      {"sliding_window_pattern", {"_sliding_window_pattern"}},
      {"layers_block_type", {"_layers_block_type"}},
      {"block_types", {"_block_types"}},
      {"mamba_num_heads", {"mamba_n_heads", "n_mamba_heads"}},
      {"mamba_head_dim", {"mamba_d_head", "mamba_headdim"}},
      {"mamba_n_groups", {"mamba_ngroups", "n_groups", "mamba_num_groups"}},
      {"mamba_d_state", {"ssm_state_size", "state_size", "mamba_state_dim"}},
      {"mamba_d_conv", {"conv_kernel", "conv_kernel_size", "mamba_conv_kernel", "conv1d_width"}},
      {"mamba_expand", {"expand"}},
      {"mamba_dt_rank", {"time_step_rank"}},
      {"mamba_conv_bias", {"use_conv_bias"}},
      {"tie_word_embeddings", {"tie_embeddings", "tie_embedding"}},
  };
  return table;
}

// Fields whose spellings mean different things when they differ: the first that is there counts, and no conflict is
// seen.
const std::vector<Spelling>& ordered_spellings() {
  static const std::vector<Spelling> table = {
      {"max_position_embeddings",
       {"n_positions", "max_sequence_length", "max_seq_len", "seq_length", "n_ctx", "model_max_length",
        "max_context_length"}},
  };
  return table;
}

const Spelling* find_spelling(const std::vector<Spelling>& table, std::string_view name) {
  const auto it = std::find_if(table.begin(), table.end(), [&](const Spelling& row) { return row.name == name; });
  return it == table.end() ? nullptr : &*it;
}

std::string kind_name(const Node& node) {
  if (node.kind == Node::Kind::map) return "a map";
  if (node.kind == Node::Kind::sequence) return "a list";
  if (node.quoted) return "the text " + shown(node.text);
  return shown(node.text);
}

bool same_value(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.text != b.text || a.children.size() != b.children.size()) return false;
  for (std::size_t i = 0; i < a.children.size(); ++i) {
    if (!same_value(a.children[i], b.children[i])) return false;
  }
  return true;
}

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && is_digit(text.front());
}

// Fields whose absence is worth a word even where the family has a number for it: sparse multimodal configs leave them
// out on purpose, damaged ones by accident.
constexpr std::string_view kMainFields[] = {"hidden_size",         "num_hidden_layers", "num_attention_heads",
                                            "num_key_value_heads", "vocab_size",        "intermediate_size"};

bool is_main_field(std::string_view name) {
  return std::find(std::begin(kMainFields), std::end(kMainFields), name) != std::end(kMainFields);
}

const Node* child_of(const Node& map, std::string_view key) {
  for (const Node& child : map.children) {
    if (child.key == key) return &child;
  }
  return nullptr;
}

}  // namespace

const Node* find_path(const Node& map, std::string_view path) {
  const Node* at = &map;
  while (!path.empty()) {
    if (at->kind != Node::Kind::map) return nullptr;
    if (const Node* whole = child_of(*at, path)) return whole;
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) return nullptr;
    at = child_of(*at, path.substr(0, dot));
    if (at == nullptr) return nullptr;
    path = path.substr(dot + 1);
  }
  return at;
}

Fields::Fields(const Node& config, std::string prefix, const std::string& file, Diagnostics& problems,
               Diagnostics& notes)
    : config_(config), prefix_(std::move(prefix)), file_(file), problems_(problems), notes_(notes) {}

void Fields::use_aliases(const std::vector<std::pair<std::string, std::vector<std::string>>>& aliases) {
  for (const auto& [name, spelling] : aliases) aliases_[name] = spelling;
  found_.clear();
}

void Fields::use_defaults(const std::vector<FamilySetting>& defaults) {
  for (const FamilySetting& setting : defaults) {
    defaults_[setting.name] = setting.value;
    made_.erase(setting.name);
  }
}

void Fields::use_values(const std::vector<FamilySetting>& values) {
  for (const FamilySetting& setting : values) {
    values_[setting.name] = setting.value;
    made_.erase(setting.name);
  }
}

std::vector<std::string> Fields::spellings(std::string_view name) const {
  std::vector<std::string> out = {std::string(name)};
  for (const auto* table : {&general_spellings(), &ordered_spellings()}) {
    const Spelling* row = find_spelling(*table, name);
    if (row != nullptr) out.insert(out.end(), row->others.begin(), row->others.end());
  }
  return out;
}

Fields::Found Fields::find_stated(std::string_view name) {
  const auto cached = found_.find(name);
  if (cached != found_.end()) return cached->second;
  Found found;
  // The family's own spellings come first, in its order: it knows which of them counts.
  const auto own = aliases_.find(name);
  if (own != aliases_.end()) {
    for (const std::string& spelling : own->second) {
      const Node* node = find_path(config_, spelling);
      if (node == nullptr || is_null(*node)) continue;
      found = {node, spelling};
      break;
    }
  }
  if (found.node != nullptr) return found_.emplace(std::string(name), found).first->second;
  const bool ordered = find_spelling(ordered_spellings(), name) != nullptr;
  for (const std::string& spelling : spellings(name)) {
    const Node* node = find_path(config_, spelling);
    if (node == nullptr || is_null(*node)) continue;
    if (found.node == nullptr) {
      found = {node, spelling};
    } else if (!ordered && !same_value(*found.node, *node)) {
      problems_.push_back({Severity::error, "conflicting-values", location(node, spelling),
                           spelling + " is " + kind_name(*node) + ", but " + found.spelling +
                               ", which means the same, is " + kind_name(*found.node) + " on line " +
                               std::to_string(found.node->line),
                           "keep one of the two"});
      break;
    }
  }
  found_.emplace(std::string(name), found);
  return found;
}

bool Fields::stated(std::string_view name) {
  return find_stated(name).node != nullptr;
}

const Node* Fields::make_default(const std::string& name, const std::string& value) {
  const auto made = made_.find(name);
  if (made != made_.end()) return &made->second;
  Node node;
  node.line = config_.line;
  node.column = config_.column;
  node.text = value;
  node.key = name;
  const bool expression = value.find(' ') != std::string::npos;
  const bool another = !expression && !is_number(value) && (has(value));
  if (expression || another) {
    evaluating_.push_back(name);
    const std::optional<std::int64_t> number = evaluate(value, name);
    evaluating_.pop_back();
    if (!number) return nullptr;
    node.text = std::to_string(*number);
  } else if (is_number(value) && is_main_field(name) && values_.find(name) == values_.end()) {
    // Configs of language models say all of these themselves; only inside a multimodal config may one be left out.
    if (prefix_.empty() && name != "num_key_value_heads") return nullptr;
    note(name, "default-taken", name + " is not in the config; " + value + ", the default of its family, is taken",
         "add \"" + name + "\" where it is another");
  }
  return &made_.emplace(name, std::move(node)).first->second;
}

const Node* Fields::find(std::string_view name) {
  // A set value that is made of the same field means what the file says.
  const bool own = std::find(evaluating_.begin(), evaluating_.end(), name) != evaluating_.end();
  const auto set = values_.find(name);
  if (set != values_.end() && !own) return set->second == "absent" ? nullptr : make_default(set->first, set->second);
  const Found found = find_stated(name);
  if (found.node != nullptr || own) return found.node;
  const auto usual = defaults_.find(name);
  return usual == defaults_.end() ? nullptr : make_default(usual->first, usual->second);
}

Location Fields::location(const Node* node, std::string_view name) const {
  const Node& at = node != nullptr ? *node : config_;
  return Location{file_, at.line, at.column, prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name)};
}

// A field is asked for more than once, and is wrong once.
void Fields::add(Diagnostics& to, Diagnostic found) {
  const bool known = std::any_of(to.begin(), to.end(), [&](const Diagnostic& other) {
    return other.code == found.code && other.what == found.what && other.where.key == found.where.key;
  });
  if (!known) to.push_back(std::move(found));
}

void Fields::problem_at(const Node& node, std::string_view name, std::string code, std::string what, std::string hint) {
  add(problems_, {Severity::error, std::move(code), location(&node, name), std::move(what), std::move(hint)});
}

void Fields::problem(std::string_view name, std::string code, std::string what, std::string hint) {
  const Found found = find_stated(name);
  add(problems_, {Severity::error, std::move(code),
                  location(found.node, found.node != nullptr ? std::string_view(found.spelling) : name),
                  std::move(what), std::move(hint)});
}

void Fields::note(std::string_view name, std::string code, std::string what, std::string hint) {
  const Found found = find_stated(name);
  add(notes_, {Severity::note, std::move(code),
               location(found.node, found.node != nullptr ? std::string_view(found.spelling) : name), std::move(what),
               std::move(hint)});
}

void Fields::missing(std::string_view name) {
  std::string others;
  for (const std::string& spelling : spellings(name)) {
    if (spelling != name) others += (others.empty() ? " (or " : ", ") + spelling;
  }
  if (!others.empty()) others += ")";
  add(problems_, {Severity::error, "missing-field", location(nullptr, name),
                  "the config has no " + std::string(name) + ", and nothing else says it",
                  "add \"" + std::string(name) + "\"" + others + "; it is not guessed"});
}

std::optional<std::int64_t> Fields::count_of(const Node& node, std::string_view name, std::int64_t min,
                                             std::int64_t max) {
  if (node.kind != Node::Kind::scalar || node.quoted || !is_number(node.text)) {
    problem_at(node, name, "wrong-kind", "this must be a whole number, not " + kind_name(node),
               "write a number without quotes, such as " + std::to_string(std::max<std::int64_t>(min, 1) * 32));
    return std::nullopt;
  }
  const Expected<std::int64_t> number = parse_count(node.text, min, max);
  if (number) return *number;
  const Diagnostic& found = number.error()[0];
  problem_at(node, name, found.code, found.what, found.hint);
  return std::nullopt;
}

std::optional<std::int64_t> Fields::count(std::string_view name, std::int64_t min, std::int64_t max) {
  const Node* node = find(name);
  if (node == nullptr) return std::nullopt;
  const Found found = find_stated(name);
  // A list of one number repeated, one a layer, says no more than the number (Hunyuan: moe_topk).
  const bool repeated = node->kind == Node::Kind::sequence && !node->children.empty() &&
                        std::all_of(node->children.begin(), node->children.end(),
                                    [&](const Node& item) { return same_value(item, node->children.front()); });
  if (repeated) node = &node->children.front();
  return count_of(*node, found.node != nullptr ? std::string_view(found.spelling) : name, min, max);
}

std::int64_t Fields::count_or(std::string_view name, std::int64_t min, std::int64_t max, std::int64_t otherwise) {
  return count(name, min, max).value_or(otherwise);
}

std::int64_t Fields::need(std::string_view name, std::int64_t min, std::int64_t max) {
  if (find(name) == nullptr) {
    missing(name);
    return 0;
  }
  return count_or(name, min, max, 0);
}

bool Fields::flag(std::string_view name) {
  const Node* node = find(name);
  if (node == nullptr) return false;
  if (node->kind == Node::Kind::scalar && !node->quoted) {
    if (node->text == "true") return true;
    if (node->text == "false") return false;
  }
  problem_at(*node, name, "wrong-kind", "this must be true or false, not " + kind_name(*node), "write true or false");
  return false;
}

std::string Fields::word(std::string_view name) {
  const Node* node = find(name);
  if (node == nullptr) return {};
  if (node->kind == Node::Kind::scalar) return node->text;
  problem_at(*node, name, "wrong-kind", "this must be a text, not " + kind_name(*node), "write it in quotes");
  return {};
}

std::vector<std::int64_t> Fields::counts(std::string_view name, std::int64_t min, std::int64_t max) {
  std::vector<std::int64_t> out;
  const Node* node = find(name);
  if (node == nullptr) return out;
  if (node->kind != Node::Kind::sequence) {
    problem_at(*node, name, "wrong-kind", "this must be a list, not " + kind_name(*node), "write [1, 2]");
    return out;
  }
  for (std::size_t i = 0; i < node->children.size(); ++i) {
    const std::optional<std::int64_t> item =
        count_of(node->children[i], std::string(name) + "[" + std::to_string(i) + "]", min, max);
    if (!item) return {};  // one wrong entry says enough
    out.push_back(*item);
  }
  return out;
}

std::vector<std::int64_t> Fields::per_layer(std::string_view name, std::int64_t n, std::int64_t min, std::int64_t max) {
  const Node* node = find(name);
  if (node == nullptr) return {};
  const auto size = static_cast<std::size_t>(n);
  if (node->kind != Node::Kind::sequence) {
    const std::optional<std::int64_t> one = count(name, min, max);
    return one ? std::vector<std::int64_t>(size, *one) : std::vector<std::int64_t>{};
  }
  if (node->children.size() != size) {
    problem_at(
        *node, name, "wrong-length",
        "the list has " + std::to_string(node->children.size()) + " entries for " + std::to_string(n) + " layers",
        "give one entry a layer");
    return {};
  }
  return counts(name, min, max);
}

std::optional<std::int64_t> Fields::evaluate(std::string_view expression, std::string_view name) {
  constexpr std::int64_t kMost = std::int64_t{1} << 46;
  std::optional<std::int64_t> total;
  char operation = '=';
  std::size_t at = 0;
  while (at < expression.size()) {
    if (expression[at] == ' ') {
      ++at;
      continue;
    }
    const std::size_t end = std::min(expression.find(' ', at), expression.size());
    const std::string_view word = expression.substr(at, end - at);
    at = end;
    if (word == "*" || word == "/" || word == "+" || word == "-" || word == "//" || word == "up") {
      operation = word == "//" ? '~' : word.front();
      continue;
    }
    std::optional<std::int64_t> value;
    if (is_number(word)) {
      const Expected<std::int64_t> number = parse_count(word, 0, kMost);
      if (number) value = *number;
    } else {
      // Not `need`: what is missing is the field that has this default, as well.
      value = count(word, 0, kMost);
    }
    if (!value) return std::nullopt;
    if (operation == '=') {
      total = value;
    } else if (operation == '*') {
      const i128 product = i128{*total} * *value;
      if (product > kMost) return std::nullopt;
      total = static_cast<std::int64_t>(product);
    } else if (operation == '+') {
      total = std::min(kMost, *total + *value);
    } else if (operation == '-') {
      total = *total - *value;
    } else if (operation == '~' || operation == 'u') {
      if (*value == 0) return std::nullopt;
      total = operation == '~' ? *total / *value : (*total + *value - 1) / *value * *value;
    } else if (*value == 0 || *total % *value != 0) {
      problem(name, "does-not-divide",
              std::string(name) + " is not in the config, and its default " + std::string(expression) + " = " +
                  std::to_string(*total) + " / " + std::to_string(*value) + " is no whole number",
              "add \"" + std::string(name) + "\", or correct the two");
      return std::nullopt;
    } else {
      total = *total / *value;
    }
  }
  return total;
}

bool Fields::holds(std::string_view name, const std::vector<std::string>& values) {
  const Node* node = find(name);
  return std::any_of(values.begin(), values.end(), [&](const std::string& value) {
    if (value == "absent") return node == nullptr;
    if (value == "present") return node != nullptr;
    return node != nullptr && node->kind == Node::Kind::scalar && node->text == value;
  });
}

}  // namespace mha
