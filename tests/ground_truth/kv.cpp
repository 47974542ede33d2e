// Cache sizes that programs printed: our payload, and the cells of the program's own rounding where it rounds.
#include <cmath>

#include "mha/model_cost.hpp"
#include "mha/model_readers.hpp"
#include "mha/rules_loader.hpp"

#include "ground_truth/records.hpp"

namespace mha::ground_truth {
namespace {

constexpr double kMib = 1024.0 * 1024.0;

double unit_bytes(const std::string& unit) {
  return unit == "GiB" ? kMib * 1024 : unit == "kB" ? 1000 : kMib;
}

// One group of equal layers as a model of its own: only what the cache depends on.
std::string group_yaml(const Node& group) {
  std::string attention;
  const auto number = [&](std::string_view key) { return std::to_string(number_of(group, key)); };
  const std::int64_t packed = number_of(group, "bytes_per_token_layer");
  if (packed > 0) {  // DeepSeek-V3.2; 788 = 656 + the indexer's 132
    attention = "n_heads: 128, d_kv_latent: 512, d_nope: 128, d_rope: 64, d_value: 128, d_q_latent: 1536";
    if (packed == 788) attention += ", indexer: {n_heads: 64, d_head: 128, top_k: 2048}";
  } else if (child(group, "kv_rank") != nullptr && child(group, "v_elems") == nullptr) {
    attention = "n_heads: 128, d_kv_latent: " + number("kv_rank") + ", d_nope: 128, d_rope: " + number("d_rope") +
                ", d_value: 128";
  } else if (child(group, "kv_rank") != nullptr) {  // the latent stored as a multi-query K of 576 and V of 512
    attention = "n_heads: 128, n_kv_heads: 1, d_head: " + number("k_elems") + ", d_value: " + number("v_elems");
  } else {
    const std::string heads = number("n_kv_heads");
    attention = "n_heads: " + heads + ", n_kv_heads: " + heads + ", d_head: " + number("d_head_k") +
                ", d_value: " + std::to_string(number_of(group, "d_head_v", number_of(group, "d_head_k")));
  }
  if (const Node* swa = child(group, "swa")) attention += ", window: " + text_of(*swa, "window");
  return "name: group\nd_model: 64\nvocab_size: 1\ntied_embeddings: true\nnorm: rms\nn_layers: " + number("n_layers") +
         "\nlayers:\n  all:\n    attention: {" + attention + "}\n";
}

std::string format_of(const Node& group) {
  if (number_of(group, "bytes_per_token_layer") > 0) return "fp8_ds_mla";
  const std::string key = text_of(group, "type_k"), value = text_of(group, "type_v");
  return value.empty() ? key : key + "/" + value;
}

// "kv-llamacpp-gemma3-270m-c4096-p4-split": the number behind "-c" or "-p".
std::int64_t number_in(const std::string& id, const std::string& mark, std::int64_t fallback) {
  for (std::size_t at = id.find(mark); at != std::string::npos; at = id.find(mark, at + 1)) {
    const char next = id[at + mark.size()];
    if (next >= '0' && next <= '9') return std::strtoll(id.c_str() + at + mark.size(), nullptr, 10);
  }
  return fallback;
}

// The runtime whose rounding the record shows, and the tokens that were asked for; none: the cells are the tokens.
struct Asked {
  std::string_view runtime;
  std::int64_t tokens = 0, slots = 1, step = 0;
  bool unified = false;
};

Asked asked_of(const Outcome& out, const Node& setting, const Node& group) {
  const std::string program = text_of(setting, "program");
  if (out.id.find("gemma3-270m") != std::string::npos)
    return {"llama-cpp", number_in(out.id, "-c", 0), number_in(out.id, "-p", 1), 512,
            out.id.find("unified") != std::string::npos};
  if (out.id.find("gpt-oss-120b-c2000") != std::string::npos) return {"llama-cpp-2025", 2000, 1, 512, true};
  if (program == "koboldcpp") return {"koboldcpp", 32768, 1, 0, false};
  if (program.find("TensorRT-LLM") != std::string::npos) return {"tensorrt-llm", 860308, 1, 0, false};
  static_cast<void>(group);
  return {};
}

struct Sizes {
  i128 bytes = 0;
  std::string problem;
};

Sizes size_of(const Outcome& out, const Node& setting, const RuleStore& rules) {
  Sizes sizes;
  for (const Node& group : child(setting, "groups")->children) {
    const Expected<Architecture> model = read_model_yaml(group_yaml(group), out.id);
    const Expected<ModelFormats> formats = parse_cache_format(format_of(group));
    if (!model || !formats) {
      sizes.problem = to_string(model ? formats.error()[0] : model.error()[0]);
      return sizes;
    }
    const ModelPlan plan = lower(*model);
    const bool keys_only = child(group, "type_v") == nullptr && child(group, "d_head_k") != nullptr;
    const Asked asked = asked_of(out, setting, group);
    if (!asked.runtime.empty()) {
      AllocationInput input;
      input.n_ctx = input.shared_total = asked.tokens;
      input.sequences = asked.slots;
      input.step_tokens = asked.step;
      input.unified = asked.unified;
      const Expected<RuntimeRule> runtime = rules.runtime(asked.runtime);
      if (!runtime) {
        sizes.problem = to_string(runtime.error()[0]);
        return sizes;
      }
      sizes.bytes += allocate(*model, plan, *formats, *runtime, input).total.value();
      continue;
    }
    const ModelCache cache = cache_of(*model, plan, *formats, number_of(group, "cells"));
    for (const CacheLine& line : cache.lines) {
      if (!keys_only || line.component.role == CacheRole::key) sizes.bytes += line.total.value();
    }
  }
  return sizes;
}

void judge_capacity(Outcome& out, const Node& record, i128 per_token) {
  const Node& setting = *child(record, "setting");
  const double gib = real_of(setting, "memory_gib"), rounding = real_of(setting, "memory_rounding");
  const auto tokens = [&](double memory) {
    return tokens_in(Bytes(static_cast<i128>(memory * 1024 * kMib)), Bytes(per_token), number_of(setting, "block"));
  };
  const std::int64_t low = tokens(gib - rounding), high = tokens(gib + rounding);
  const Node& expected = *child(record, "expected");
  const Node& range = *child(expected, "tokens_range");
  out.derived = std::to_string(low) + " .. " + std::to_string(high) + " tokens";
  out.expected = range.children[0].text + " .. " + range.children[1].text + " tokens";
  out.derives = out.derived == out.expected && to_decimal(per_token) == text_of(expected, "bytes_per_token");
  const std::int64_t seen = number_of(*child(record, "observed"), "value");
  out.observed = std::to_string(seen) + " tokens";
  out.agrees = out.derives && low <= seen && seen <= high;
}

void judge_slope(Outcome& out, const Node& record, i128 per_token) {
  const Node& tokens = *child(*child(record, "setting"), "tokens");
  const Node& seen = *child(*child(record, "observed"), "value");
  const auto difference = [](const Node& pair) {
    return std::strtod(pair.children[1].text.c_str(), nullptr) - std::strtod(pair.children[0].text.c_str(), nullptr);
  };
  out.derived = to_decimal(per_token);
  out.expected = text_of(*child(record, "expected"), "bytes_per_token");
  out.derives = out.derived == out.expected;
  out.derived += " bytes/token";
  out.expected += " bytes/token";
  const double mib = static_cast<double>(per_token) * difference(tokens) / kMib;
  out.observed = std::to_string(difference(seen)) + " MiB more";
  out.agrees = out.derives && std::abs(mib - difference(seen)) <= real_of(*child(record, "tolerance"), "abs");
}

void judge_ratio(Outcome& out, const Node& record) {
  const Node& types = *child(*child(record, "setting"), "types");
  const auto bytes = [&](std::size_t i) { return find_format(types.children[i].text)->row_bytes(128).as_double(); };
  const double ratio = bytes(0) / bytes(1);
  const Node& seen = *child(*child(record, "observed"), "value");
  const double observed =
      std::strtod(seen.children[0].text.c_str(), nullptr) / std::strtod(seen.children[1].text.c_str(), nullptr);
  out.derived = std::to_string(ratio);
  out.expected = text_of(*child(record, "expected"), "ratio");
  out.observed = std::to_string(observed);
  out.derives = ratio == real_of(*child(record, "expected"), "ratio");
  out.agrees = out.derives && std::abs(ratio - observed) <= real_of(*child(record, "tolerance"), "abs");
}

void judge_concurrency(Outcome& out, const Node& record) {
  const Node& setting = *child(record, "setting");
  const double requests = real_of(setting, "tokens") / real_of(setting, "max_len");
  out.derived = std::to_string(requests);
  out.expected = text_of(*child(record, "expected"), "value");
  out.observed = text_of(*child(record, "observed"), "value");
  out.derives = std::abs(requests - real_of(*child(record, "expected"), "value")) < 1e-12;
  out.agrees = out.derives && std::abs(requests - real_of(*child(record, "observed"), "value")) <=
                                  real_of(*child(record, "tolerance"), "abs");
}

}  // namespace

Outcome run_kv(const Node& record) {
  static const RuleStore rules(MHA_SOURCE_DIR "/rules");
  Outcome out = outcome_of(record);
  const std::string relation = text_of(record, "relation");
  if (relation == "ratio") judge_ratio(out, record);
  if (relation == "concurrency") judge_concurrency(out, record);
  if (relation == "ratio" || relation == "concurrency") return out;
  const Node& setting = *child(record, "setting");
  const Sizes sizes = size_of(out, setting, rules);
  out.problem = sizes.problem;
  if (!out.problem.empty()) return out;
  if (relation == "capacity") judge_capacity(out, record, sizes.bytes);
  if (relation == "slope") judge_slope(out, record, sizes.bytes);
  if (relation != "size") return out;
  const Node& observed = *child(record, "observed");
  out.derived = to_decimal(sizes.bytes);
  out.expected = text_of(*child(record, "expected"), "bytes");
  const std::string unit = text_of(observed, "unit");
  out.observed = text_of(observed, "value") + " " + unit;
  out.derives = out.derived == out.expected;
  const double printed = static_cast<double>(sizes.bytes) / unit_bytes(unit);
  out.agrees = out.derives &&
               std::abs(printed - real_of(observed, "value")) <= real_of(*child(record, "tolerance"), "abs") + 1e-9;
  return out;
}

}  // namespace mha::ground_truth
