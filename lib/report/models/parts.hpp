// What the answers about whole models share: phrases, and pieces of JSON. Names of JSON fields are the contract in
// docs/json.md.
#pragma once

#include "mha/audit.hpp"

#include "report/document.hpp"
#include "report/json_out.hpp"

namespace mha::report {

[[nodiscard]] std::string attention_text(const LayerSpec& spec);    // "GQA 32/8/128, window 1,024"
[[nodiscard]] std::string feed_forward_text(const FeedForward& f);  // "gated 14,336", "8 of 128 experts of 768"
[[nodiscard]] std::string variant_of(const LayerSpec& spec);        // "gqa", "gated-delta-net", "gqa+mamba2", "none"
[[nodiscard]] std::string model_title(const Architecture& a);
[[nodiscard]] std::string slope_text(const ModelCache& cache);  // "131,072 B/token", "1,280 B in 4 tokens"
[[nodiscard]] std::string written(const Document& doc, std::string_view format);  // txt or md

void json_architecture(Json& json, const Architecture& a);  // "model"
void json_params(Json& json, const ModelParams& params);    // "params"
void json_cache(Json& json, const Audit& audit);            // "kv_cache"
void json_flops(Json& json, const Audit& audit);            // "flops"
void json_query(Json& json, const ModelQuery& query);       // "query"

}  // namespace mha::report
