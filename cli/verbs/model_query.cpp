#include "model_query.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "mha/limits.hpp"
#include "mha/quantity.hpp"

#include "common.hpp"
#include "failure.hpp"

namespace mha::cli {
namespace {

const std::vector<VerbOption> kModelOptions = {
    {"seq-len", "TOKENS", "context at which everything is priced; the model's own when not given", false},
    {"past", "TOKENS", "of these, tokens that are cached already: prefill is of the rest; 0 when not given", false},
    {"batch", "N", "sequences served at once; 1 when not given", false},
    {"kv-dtype", "FORMAT", "format of cached rows: bf16, q8_0/q4_0 (keys/values), fp8_ds_mla; bf16 when not given",
     false},
    {"dtype", "FORMAT", "format of the weights; bf16 when not given", false},
    {"target", "ID", "device whose memory is judged (see: list targets)", false},
    {"tensor-parallel", "N", "ranks that share the heads", false},
    {"pipeline-parallel", "N", "stages that share the layers", false},
    {"decode-context-parallel", "N", "ranks that share the tokens of a growing cache", false},
    {"runtime", "ID", "runtime whose reservations are shown, repeatable, or all (see: list runtimes)", true},
    {"step-tokens", "N", "tokens of one step (max batched tokens, ubatch); the runtime's default when not given",
     false},
    {"unified", "", "llama.cpp: one cache for all slots", false},
    {"source-tokens", "N", "tokens of the source that cross attention reads; 0 when not given", false},
    {"compressor-state", "", "count what compressors hold of tokens that are not pooled yet (DeepSeek-V4)", false},
    {"draft-layers", "", "count the cache of multi-token-prediction layers", false},
    {"flops", "RULE", "how FLOPs are counted (see: list flops); causal when not given", false},
    {"no-head", "", "leave the output head out of the FLOPs", false},
};

void take(Diagnostics& all, Diagnostics more, const std::string& flag) {
  for (Diagnostic& problem : more) {
    problem.where.key = flag;
    all.push_back(std::move(problem));
  }
}

class QueryReader {
 public:
  QueryReader(const Invocation& invocation, const RuleStore& rules) : invocation_(invocation), rules_(rules) {}

  ModelQuery read(const Architecture& architecture) {
    ModelQuery q;
    q.n_ctx = length("seq-len", 1, architecture.max_context);
    if (q.n_ctx == 0) {
      problems_.push_back({Severity::error, "missing-flag", Location{{}, 0, 0, "--seq-len"},
                           "the model states no context, so that there is nothing to price it at",
                           "give --seq-len, such as --seq-len 32k"});
      q.n_ctx = 1;
    }
    q.n_past = length("past", 0, 0);
    q.batch = count("batch", 1, limits::kMaxBatch, 1);
    q.n_source = length("source-tokens", 0, 0);
    q.parallel.tensor = count("tensor-parallel", 1, limits::kMaxTensorParallel, 1);
    q.parallel.pipeline = count("pipeline-parallel", 1, limits::kMaxTensorParallel, 1);
    q.parallel.decode_context = count("decode-context-parallel", 1, limits::kMaxTensorParallel, 1);
    q.step_tokens = length("step-tokens", 1, 0);
    q.unified = invocation_.has("unified");
    q.draft_layers = invocation_.has("draft-layers");
    Expected<ModelFormats> cache = parse_cache_format(text("kv-dtype", "bf16"));
    if (cache) {
      q.cache = *std::move(cache);
    } else {
      take(problems_, cache.error(), "--kv-dtype");
      q.cache = *parse_cache_format("bf16");
    }
    q.cache.pending = invocation_.has("compressor-state");
    q.weights = weights();
    q.flops = flops();
    if (invocation_.has("no-head")) q.flops.head = false;
    if (invocation_.has("target")) {
      Expected<Target> target = rules_.target(invocation_.value("target"));
      if (target)
        q.target = *std::move(target);
      else
        take_unplaced(target.error(), "--target");
    }
    if (problems_.empty()) problems_ = check_query(architecture, q);
    if (!problems_.empty()) throw Failure(kBadInput, std::move(problems_));
    return q;
  }

 private:
  std::string text(const std::string& name, std::string fallback) {
    return invocation_.has(name) ? invocation_.value(name) : std::move(fallback);
  }

  template <class Parse>
  std::int64_t number(const std::string& name, std::int64_t fallback, Parse parse) {
    if (!invocation_.has(name)) return fallback;
    const Expected<std::int64_t> value = parse(invocation_.value(name));
    if (value) return *value;
    take(problems_, value.error(), "--" + name);
    return fallback > 0 ? fallback : 1;
  }
  std::int64_t length(const std::string& name, std::int64_t min, std::int64_t fallback) {
    return number(name, fallback,
                  [=](const std::string& value) { return parse_length(value, min, limits::kMaxContext); });
  }
  std::int64_t count(const std::string& name, std::int64_t min, std::int64_t max, std::int64_t fallback) {
    return number(name, fallback, [=](const std::string& value) { return parse_count(value, min, max); });
  }

  // A rule file that is broken keeps its own place; only a wrong name is blamed on the flag.
  void take_unplaced(const Diagnostics& found, const std::string& flag) {
    for (Diagnostic problem : found) {
      if (problem.where.file.empty()) problem.where.key = flag;
      problems_.push_back(std::move(problem));
    }
  }

  const StorageFormat* weights() {
    const std::string id = text("dtype", "bf16");
    const StorageFormat* format = find_format(id);
    if (format != nullptr && format->weights) return format;
    std::vector<std::string> ids;
    for (const StorageFormat& row : storage_formats()) {
      if (row.weights) ids.emplace_back(row.id);
    }
    problems_.push_back({Severity::error, "unknown-dtype", Location{{}, 0, 0, "--dtype"},
                         "'" + id + "' is not a format of weights", did_you_mean(id, ids)});
    return find_format("bf16");
  }

  FlopRule flops() {
    const std::string id = text("flops", "causal");
    if (const FlopRule* rule = find_flop_rule(id)) return *rule;
    std::vector<std::string> ids;
    for (const FlopRule& rule : flop_rules()) ids.emplace_back(rule.id);
    problems_.push_back({Severity::error, "unknown-flop-rule", Location{{}, 0, 0, "--flops"},
                         "'" + id + "' is not a way of counting FLOPs", did_you_mean(id, ids)});
    return flop_rules().front();
  }

  const Invocation& invocation_;
  const RuleStore& rules_;
  Diagnostics problems_;
};

// Enough of a file to tell a model from a request.
std::string head_of(const std::string& path) {
  constexpr std::size_t kHead = 65536;
  std::string text(kHead, '\0');
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(path.c_str(), "rb"), &std::fclose);
  text.resize(stream ? std::fread(text.data(), 1, kHead, stream.get()) : 0);
  return text;
}

}  // namespace

std::vector<VerbOption> model_options(std::vector<VerbOption> more) {
  more.insert(more.end(), kModelOptions.begin(), kModelOptions.end());
  more.push_back(kOutOption);
  more.push_back(kRulesOption);
  return more;
}

Architecture load_model(const std::string& path_or_name, const RuleStore& rules) {
  Expected<Architecture> model = read_model(path_or_name, rules);
  if (!model) throw Failure(kBadInput, model.error());
  return *std::move(model);
}

ModelQuery read_query(const Invocation& invocation, const Architecture& architecture, const RuleStore& rules) {
  return QueryReader(invocation, rules).read(architecture);
}

AuditRules read_audit_rules(const Invocation& invocation, const RuleStore& rules) {
  AuditRules out;
  Diagnostics problems;
  std::vector<std::string> ids = invocation.all("runtime");
  if (ids.empty()) ids = {"vllm", "llama-cpp", "sglang", "tensorrt-llm"};
  if (ids == std::vector<std::string>{"all"}) ids = rules.ids("runtimes");
  for (const std::string& id : ids) {
    Expected<RuntimeRule> runtime = rules.runtime(id);
    if (runtime)
      out.runtimes.push_back(*std::move(runtime));
    else
      take(problems, runtime.error(), "--runtime");
  }
  const auto keep = [&](auto expected, auto& into) {
    if (expected)
      into = *std::move(expected);
    else
      problems.insert(problems.end(), expected.error().begin(), expected.error().end());
  };
  keep(rules.conversions(), out.conversions);
  keep(rules.presets(), out.presets);
  if (!problems.empty()) throw Failure(kBadInput, std::move(problems));
  return out;
}

bool names_model(const std::string& argument, const RuleStore& rules) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(argument, ignored)) {
    const std::vector<std::string> ids = rules.ids("models");
    return std::binary_search(ids.begin(), ids.end(), argument);
  }
  const std::string head = head_of(argument);
  if (head.starts_with("GGUF")) return true;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && head[first] == '{') return true;
  return head.starts_with("layers:") || head.find("\nlayers:") != std::string::npos;
}

std::string model_command(const std::string& verb, const Invocation& invocation) {
  std::string command = "mha-configurator " + verb;
  const auto quoted = [](const std::string& word) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$`!*?[]{}()<>|&;#~") == std::string::npos;
    if (plain) return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  };
  for (const std::string& argument : invocation.arguments) command += " " + quoted(argument);
  for (const auto& [name, values] : invocation.options) {
    if (name == "out") continue;
    for (const std::string& value : values) command += " --" + name + (value == "true" ? "" : " " + quoted(value));
  }
  return command;
}

}  // namespace mha::cli
