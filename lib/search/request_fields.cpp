// The table of everything a request can say. Each row parses and prints one field; nothing here looks at two fields at
// once (request_check.cpp does), and nothing here knows where a text came from.
#include <algorithm>
#include <charconv>

#include "mha/limits.hpp"
#include "mha/quantity.hpp"
#include "mha/request.hpp"

#include "core/text.hpp"

namespace mha {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Diagnostic problem(std::string code, std::string what, std::string hint) {
  return {Severity::error, std::move(code), {}, std::move(what), std::move(hint)};
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    items.emplace_back(trimmed(text.substr(start, comma - start)));
    start = comma + 1;
  }
  return items;
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return text;
}

// ---- Numbers
// -----------------------------------------------------------------------------------------------------------

// An exact short spelling when there is one ("1.3B", "350M"), else the digits.
std::string spell_count(std::int64_t value) {
  struct Unit {
    std::int64_t size;
    char suffix;
  };
  for (const Unit unit : {Unit{1'000'000'000'000, 'T'}, Unit{1'000'000'000, 'B'}, Unit{1'000'000, 'M'}}) {
    if (value < unit.size || value % (unit.size / 1000) != 0) continue;
    std::string text = std::to_string(value / unit.size);
    std::string decimals = std::to_string(1000 + value % unit.size / (unit.size / 1000)).substr(1);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    if (!decimals.empty()) text += "." + decimals;
    return text + unit.suffix;
  }
  return std::to_string(value);
}

std::string spell_length(std::int64_t tokens) {
  return tokens % 1024 == 0 ? std::to_string(tokens / 1024) + "k" : std::to_string(tokens);
}

// One setter and one getter for each number: the member and its limits are template arguments, so that a row of the
// table stays a row.
template <auto Member, std::int64_t Min, std::int64_t Max>
Diagnostics set_count(Request& request, std::string_view text) {
  const Expected<std::int64_t> value = parse_count(trimmed(text), Min, Max);
  if (!value) return value.error();
  request.*Member = *value;
  return {};
}

template <auto Member>
std::string get_count(const Request& request) {
  return request.*Member ? std::to_string(*(request.*Member)) : std::string();
}

template <auto Member>
std::string get_count_above_one(const Request& request) {  // a count whose default is 1
  return request.*Member != 1 ? std::to_string(request.*Member) : std::string();
}

std::string get_params(const Request& request) {
  return request.params ? spell_count(*request.params) : std::string();
}

Diagnostics set_seq_len(Request& request, std::string_view text) {
  const Expected<std::int64_t> value = parse_length(trimmed(text), 1, limits::kMaxContext);
  if (!value) return value.error();
  request.seq_len = *value;
  return {};
}

std::string get_seq_len(const Request& request) {
  return request.seq_len ? spell_length(*request.seq_len) : std::string();
}

Diagnostics set_quality_slack(Request& request, std::string_view text) {
  const Expected<double> value = parse_real(trimmed(text));
  if (!value) return value.error();
  if (*value < 0 || *value > 1) {
    return {problem("out-of-range", shown(text) + " is not a quality slack",
                    "give nats per token from 0 to 1, such as 0.015 (about 1.5 % of perplexity)")};
  }
  request.quality_slack = *value;
  return {};
}

std::string get_quality_slack(const Request& request) {
  if (!request.quality_slack) return {};
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, *request.quality_slack).ptr;
  return std::string(buffer, end);
}

// ---- Yes and no
// --------------------------------------------------------------------------------------------------------

template <auto Member>
Diagnostics set_bool(Request& request, std::string_view text) {
  const Expected<bool> value = parse_bool(trimmed(text));
  if (!value) return value.error();
  request.*Member = *value;
  return {};
}

template <auto Member, bool Default>
std::string get_bool(const Request& request) {
  return request.*Member == Default ? "" : (Default ? "false" : "true");
}

std::string get_tied(const Request& request) {
  return request.tied_embeddings ? (*request.tied_embeddings ? "true" : "false") : "";
}

// ---- Names
// -------------------------------------------------------------------------------------------------------------

std::vector<std::string> variant_ids() {
  std::vector<std::string> ids;
  for (const Variant* variant : variants()) ids.emplace_back(variant->id);
  return ids;
}

std::vector<std::string> format_ids(bool weights_only) {
  std::vector<std::string> ids;
  for (const StorageFormat& format : storage_formats()) {
    if (format.weights || !weights_only) ids.emplace_back(format.id);
  }
  return ids;
}

Diagnostics check_name(std::string_view name, std::string_view kind, const std::vector<std::string>& known) {
  for (const std::string& id : known) {
    if (id == name) return {};
  }
  return {problem("unknown-name", shown(name) + " is not a " + std::string(kind), did_you_mean(name, known))};
}

// Every item known, none twice.
Diagnostics check_names(const std::vector<std::string>& names, std::string_view kind,
                        const std::vector<std::string>& known) {
  Diagnostics problems;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (Diagnostic& found : check_name(names[i], kind, known)) problems.push_back(std::move(found));
    for (std::size_t j = 0; j < i; ++j) {
      if (names[i] == names[j]) {
        problems.push_back(problem("duplicate-value", shown(names[i]) + " is given twice",
                                   "name each " + std::string(kind) + " once"));
        break;
      }
    }
  }
  return problems;
}

Diagnostics set_norm(Request& request, std::string_view text) {
  const std::string_view name = trimmed(text);
  Diagnostics problems = check_name(name, "normalisation", {"rms", "layer"});
  if (problems.empty()) request.norm = name == "rms" ? NormKind::rms : NormKind::layer;
  return problems;
}

std::string get_norm(const Request& request) {
  return request.norm == NormKind::rms ? "" : "layer";
}

constexpr std::string_view kAllVariants = "all";

Diagnostics set_variants(Request& request, std::string_view text) {
  const std::vector<std::string> names = split_list(text);
  std::vector<std::string> known = variant_ids();
  known.emplace_back(kAllVariants);
  Diagnostics problems = check_names(names, "variant", known);
  if (names.size() > 1 && std::find(names.begin(), names.end(), kAllVariants) != names.end())
    problems.push_back(
        problem("contradiction", "'all' stands beside single variants", "give either all or a list of variants"));
  if (problems.empty()) request.variants = names;
  return problems;
}

std::string get_variants(const Request& request) {
  return joined(request.variants);
}

Diagnostics set_bias(Request& request, std::string_view text) {
  ProjectionBias bias;
  if (trimmed(text) != "none") {
    const std::vector<std::string> names = split_list(text);
    Diagnostics problems = check_names(names, "projection", {"q", "k", "v", "o", "none"});
    for (const std::string& name : names) {
      if (name == "none") {
        problems.push_back(problem("contradiction", "'none' stands beside other projections",
                                   "give either none or a list of q, k, v, o"));
      }
      bias.q = bias.q || name == "q";
      bias.k = bias.k || name == "k";
      bias.v = bias.v || name == "v";
      bias.o = bias.o || name == "o";
    }
    if (!problems.empty()) return problems;
  }
  request.bias = bias;
  return {};
}

std::string get_bias(const Request& request) {
  std::vector<std::string> names;
  if (request.bias.q) names.emplace_back("q");
  if (request.bias.k) names.emplace_back("k");
  if (request.bias.v) names.emplace_back("v");
  if (request.bias.o) names.emplace_back("o");
  return joined(names);
}

Diagnostics set_dtype(Request& request, std::string_view text) {
  const std::string_view name = trimmed(text);
  const StorageFormat* format = find_format(name);
  if (format != nullptr && !format->weights) {
    return {problem("unknown-name", shown(name) + " stores a cache, but weights are not computed in it",
                    "one of: " + joined(format_ids(true)) + "; for the cache alone use --kv-dtypes")};
  }
  Diagnostics problems = check_name(name, "weight dtype", format_ids(true));
  if (problems.empty()) request.dtype = name;
  return problems;
}

std::string get_dtype(const Request& request) {
  return request.dtype == Request().dtype ? "" : request.dtype;
}

Diagnostics set_kv_dtypes(Request& request, std::string_view text) {
  const std::vector<std::string> names = split_list(text);
  Diagnostics problems = check_names(names, "cache dtype", format_ids(false));
  if (problems.empty()) request.kv_dtypes = names;
  return problems;
}

std::string get_kv_dtypes(const Request& request) {
  return joined(request.kv_dtypes);
}

template <auto Member>
Diagnostics set_cache_dtype(Request& request, std::string_view text) {
  const std::string_view name = trimmed(text);
  Diagnostics problems = check_name(name, "cache dtype", format_ids(false));
  if (problems.empty()) request.*Member = name;
  return problems;
}

// ---- Text
// --------------------------------------------------------------------------------------------------------------

// Names of rules (targets, priorities, presets) are looked up when the rules are read; here they only have to be there,
// and to be printable, so that a message or a report can show them.
template <auto Member>
Diagnostics set_text(Request& request, std::string_view text) {
  const std::string_view value = trimmed(text);
  if (value.empty()) return {problem("empty-value", "the value is empty", "leave the field out, or give a value")};
  for (const char c : value) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return {problem("bad-character", "the value holds a control character", "use printable text")};
    }
  }
  request.*Member = value;
  return {};
}

template <auto Member>
std::string get_text(const Request& request) {
  return request.*Member == Request().*Member ? "" : request.*Member;
}

Diagnostics set_limit(Request& request, std::string_view text) {
  std::vector<Assertion> limits = request.limits;
  Diagnostics problems;
  for (const std::string& item : split_list(text)) {
    const Expected<Assertion> limit = parse_assertion(item);
    if (limit) {
      limits.push_back(*limit);
    } else {
      problems.insert(problems.end(), limit.error().begin(), limit.error().end());
    }
  }
  if (problems.empty()) request.limits = limits;
  return problems;
}

std::string get_limit(const Request& request) {
  std::vector<std::string> texts;
  for (const Assertion& limit : request.limits) texts.push_back(limit.text);
  return joined(texts);
}

}  // namespace

const std::vector<RequestField>& request_fields() {
  using R = Request;
  using K = ValueKind;
  namespace l = limits;
  // clang-format off
  static const std::vector<RequestField> table = {
      {"params", K::count, "N", "parameter budget of the whole model, such as 1.3B", "Model",
       set_count<&R::params, l::kMinParams, l::kMaxParams>, get_params},
      {"d_model", K::count, "N", "residual width", "Model",
       set_count<&R::d_model, 1, l::kMaxModelWidth>, get_count<&R::d_model>},
      {"n_layers", K::count, "N", "layers", "Model",
       set_count<&R::n_layers, 1, l::kMaxLayers>, get_count<&R::n_layers>},
      {"d_ff", K::count, "N", "feed-forward width", "Model",
       set_count<&R::d_ff, 1, l::kMaxFeedForward>, get_count<&R::d_ff>},
      {"vocab_size", K::count, "N", "vocabulary", "Model",
       set_count<&R::vocab_size, 1, l::kMaxVocab>, get_count<&R::vocab_size>},
      {"tied_embeddings", K::boolean, "BOOL", "the output head shares the embedding", "Model",
       set_bool<&R::tied_embeddings>, get_tied},
      {"gated_ffn", K::boolean, "BOOL", "three feed-forward matrices (SwiGLU, the default) or two", "Model",
       set_bool<&R::gated_ffn>, get_bool<&R::gated_ffn, true>},
      {"norm", K::text, "NAME", "rms (the default) or layer", "Model", set_norm, get_norm},

      {"variants", K::list, "LIST", "variants to search, or all (default mha,mqa,gqa,mla; see: list variants)", "Layout",
       set_variants, get_variants},
      {"n_heads", K::count, "N", "query heads", "Layout",
       set_count<&R::n_heads, 1, l::kMaxHeads>, get_count<&R::n_heads>},
      {"n_kv_heads", K::count, "N", "key and value heads; divides n_heads", "Layout",
       set_count<&R::n_kv_heads, 1, l::kMaxHeads>, get_count<&R::n_kv_heads>},
      {"d_head", K::count, "N", "query and key width of one head", "Layout",
       set_count<&R::d_head, 1, l::kMaxHeadWidth>, get_count<&R::d_head>},
      {"d_value", K::count, "N", "value width of one head; as d_head when not given", "Layout",
       set_count<&R::d_value, 1, l::kMaxHeadWidth>, get_count<&R::d_value>},
      {"d_kv_latent", K::count, "N", "MLA, GLA: width of what is cached of keys and values", "Layout",
       set_count<&R::d_kv_latent, 1, l::kMaxLatent>, get_count<&R::d_kv_latent>},
      {"d_q_latent", K::count, "N", "MLA, GLA, MFA: width of the query latent; 0 for none", "Layout",
       set_count<&R::d_q_latent, 0, l::kMaxLatent>, get_count<&R::d_q_latent>},
      {"d_nope", K::count, "N", "MLA, GLA: query and key width without position", "Layout",
       set_count<&R::d_nope, 1, l::kMaxHeadWidth>, get_count<&R::d_nope>},
      {"d_rope", K::count, "N", "MLA, GLA: query and key width with rotary position", "Layout",
       set_count<&R::d_rope, 0, l::kMaxHeadWidth>, get_count<&R::d_rope>},
      {"n_latents", K::count, "N", "GLA: latents, each for a group of heads", "Layout",
       set_count<&R::n_latents, 2, l::kMaxHeads>, get_count<&R::n_latents>},
      {"rank_kv", K::count, "N", "TPA: rank of the keys and values of a token", "Layout",
       set_count<&R::rank_kv, 1, l::kMaxRank>, get_count<&R::rank_kv>},
      {"rank_q", K::count, "N", "TPA: rank of the queries of a token; 0 for whole queries", "Layout",
       set_count<&R::rank_q, 0, l::kMaxRank>, get_count<&R::rank_q>},
      {"bias", K::list, "LIST", "projections that add a bias: q,k,v,o, or none (the default)", "Layout",
       set_bias, get_bias},
      {"qk_norm", K::boolean, "BOOL", "normalise queries and keys", "Layout",
       set_bool<&R::qk_norm>, get_bool<&R::qk_norm, false>},
      {"decoupled", K::boolean, "BOOL", "n_heads * d_head may differ from d_model", "Layout",
       set_bool<&R::decoupled>, get_bool<&R::decoupled, false>},
      {"d_head_reason", K::text, "TEXT", "why a head wider than 256 is wanted", "Layout",
       set_text<&R::d_head_reason>, get_text<&R::d_head_reason>},

      {"seq_len", K::length, "TOKENS", "sequence length that everything is priced at, such as 32k", "Workload",
       set_seq_len, get_seq_len},
      {"target", K::text, "NAME", "deployment target, such as h100-sxm (see: list targets)", "Workload",
       set_text<&R::target>, get_text<&R::target>},
      {"batch", K::count, "N", "sequences decoded together (default 1)", "Workload",
       set_count<&R::batch, 1, l::kMaxBatch>, get_count_above_one<&R::batch>},
      {"tensor_parallel", K::count, "N", "devices that share one copy of the model (default 1)", "Workload",
       set_count<&R::tensor_parallel, 1, l::kMaxTensorParallel>, get_count_above_one<&R::tensor_parallel>},
      {"dtype", K::text, "NAME", "weights and compute (default bf16; see: list dtypes)", "Workload",
       set_dtype, get_dtype},
      {"kv_dtypes", K::list, "LIST", "cache formats to search; as dtype when not given", "Workload",
       set_kv_dtypes, get_kv_dtypes},
      {"k_dtype", K::text, "NAME", "cache format of keys alone", "Workload",
       set_cache_dtype<&R::k_dtype>, get_text<&R::k_dtype>},
      {"v_dtype", K::text, "NAME", "cache format of values alone", "Workload",
       set_cache_dtype<&R::v_dtype>, get_text<&R::v_dtype>},

      {"priority", K::text, "NAME", "training, balanced (the default) or inference (see: list priorities)", "Objective",
       set_text<&R::priority>, get_text<&R::priority>},
      {"quality_preset", K::text, "NAME", "quality prior that decides (default conservative; see: list presets)", "Objective",
       set_text<&R::quality_preset>, get_text<&R::quality_preset>},
      {"quality_slack", K::real, "NATS", "loss that may be given up for cost; by priority when not given", "Objective",
       set_quality_slack, get_quality_slack},
      {"limit", K::assertion, "'METRIC OP VALUE'", "hard limit, repeatable (see: list metrics)", "Objective",
       set_limit, get_limit},
  };
  // clang-format on
  return table;
}

std::vector<const Variant*> requested_variants(const Request& request) {
  const bool all = request.variants.size() == 1 && request.variants.front() == kAllVariants;
  std::vector<const Variant*> chosen;
  for (const Variant* variant : variants()) {
    const bool named =
        std::find(request.variants.begin(), request.variants.end(), variant->id) != request.variants.end();
    if (all || named || (request.variants.empty() && variant->by_default)) chosen.push_back(variant);
  }
  return chosen;
}

const std::vector<VariantPin>& variant_pins() {
  static const std::vector<VariantPin> table = {
      {"d_kv_latent", &Request::d_kv_latent}, {"d_q_latent", &Request::d_q_latent}, {"d_nope", &Request::d_nope},
      {"d_rope", &Request::d_rope},           {"n_latents", &Request::n_latents},   {"rank_kv", &Request::rank_kv},
      {"rank_q", &Request::rank_q},
  };
  return table;
}

const RequestField* find_request_field(std::string_view key) {
  for (const RequestField& field : request_fields()) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

std::string flag_name(std::string_view key) {
  std::string flag = "--";
  for (const char c : key) flag += c == '_' ? '-' : c;
  return flag;
}

}  // namespace mha
