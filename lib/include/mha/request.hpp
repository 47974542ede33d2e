// What the user asks for. One table lists every field once: command line, request file, help, completions and the report's
// "reproduce" command all walk it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mha/attention.hpp"
#include "mha/diagnostics.hpp"
#include "mha/model.hpp"

namespace mha {

// A limit or a check: "kv_bytes_per_token <= 64KiB". Metrics are the table in recommend.hpp.
struct Assertion {
  std::string text;    // as written
  std::string metric;  // "kv_bytes_per_token"
  std::string op;      // "<=", "<", ">=", ">", "==", "!="
  double value = 0;    // bytes, seconds, FLOPs, count or nats, by metric
  i128 exact = 0;      // the same when the metric is an exact integer
};

struct Request {
  // Model. What is not given is solved from the budget.
  std::optional<std::int64_t> params;
  std::optional<std::int64_t> d_model, n_layers, d_ff, vocab_size;
  std::optional<bool> tied_embeddings;
  bool gated_ffn = true;
  NormKind norm = NormKind::rms;
  // Layout. Pins; empty means search.
  std::vector<std::string> variants;  // ids; empty: those searched by default; "all" alone: every variant
  std::optional<std::int64_t> n_heads, n_kv_heads, d_head, d_value;
  std::optional<std::int64_t> d_kv_latent, d_q_latent, d_nope, d_rope;
  std::optional<std::int64_t> n_latents, rank_kv, rank_q;
  ProjectionBias bias;
  bool qk_norm = false;
  bool decoupled = false;  // attention width may differ from d_model
  // Workload.
  std::optional<std::int64_t> seq_len;  // tokens at which everything is priced
  std::int64_t batch = 1;
  std::string target;
  std::int64_t tensor_parallel = 1;
  std::string dtype = "bf16";          // weights and compute
  std::vector<std::string> kv_dtypes;  // searched when more than one; empty: as dtype
  std::string k_dtype, v_dtype;        // override kv_dtypes
  // Objective.
  std::string priority = "balanced";
  std::string quality_preset = "conservative";
  std::optional<double> quality_slack;
  std::vector<Assertion> limits;
  std::string d_head_reason;  // why a head wider than 256 is wanted
};

enum class ValueKind { count, length, real, boolean, text, list, assertion };

struct RequestField {
  std::string_view key;  // "seq_len"; the flag is --seq-len
  ValueKind kind = ValueKind::text;
  std::string_view value_name;  // "TOKENS"
  std::string_view help;
  std::string_view group;  // "Model", "Layout", "Workload", "Objective"
  // Parses `text` into the request; problems come back without a location. Items of lists and assertions are separated by
  // commas ("mha,gqa"); a list is replaced, assertions add up.
  Diagnostics (*set)(Request& request, std::string_view text) = nullptr;
  // The value in canonical spelling; empty when the field is at its default (and then left out of "reproduce").
  std::string (*get)(const Request& request) = nullptr;
};

[[nodiscard]] const std::vector<RequestField>& request_fields();

// The rows of the table of variants that `variants` of the request means; names that are no variant are left out.
[[nodiscard]] std::vector<const Variant*> requested_variants(const Request& request);

// Pins of fields that only some variants have (Variant::fields).
struct VariantPin {
  std::string_view key;
  std::optional<std::int64_t> Request::*member;
};
[[nodiscard]] const std::vector<VariantPin>& variant_pins();

[[nodiscard]] const RequestField* find_request_field(std::string_view key);
[[nodiscard]] std::string flag_name(std::string_view key);  // "seq_len" -> "--seq-len"

// Contradictions and gaps that no single field shows: missing seq_len, n_kv_heads > n_heads, 510 with 8 coupled heads ….
// Locations name the field's flag.
[[nodiscard]] Diagnostics check_request(const Request& request);

// What only the rules can tell: the priority and the quality preset exist, and the target has a peak for the dtype.
struct RuleSet;
[[nodiscard]] Diagnostics check_request_against(const Request& request, const RuleSet& rules);

// "mha-configurator recommend --params 1.3B --seq-len 32k ..."
[[nodiscard]] std::string reproduce_command(const Request& request, std::string_view verb = "recommend");

[[nodiscard]] Expected<Assertion> parse_assertion(std::string_view text);

}  // namespace mha
