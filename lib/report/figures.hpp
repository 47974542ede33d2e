// Phrases for figures: every number with its unit, exact beside human. One place, so that all writers say it alike.
#pragma once

#include <string>

#include "mha/recommend.hpp"

namespace mha::report {

[[nodiscard]] std::string tokens(std::int64_t n);                                      // "32,768 tokens"
[[nodiscard]] std::string counted(std::int64_t n, const char* one, const char* many);  // "1 sequence", "16 sequences"
[[nodiscard]] std::string bytes_both(Bytes value);                   // "2,147,483,648 bytes (2.00 GiB)"
[[nodiscard]] std::string exact_bytes(Bytes value);                  // "2,147,483,648 B"
[[nodiscard]] std::string nats(double value);                        // "+0.0121 nats"
[[nodiscard]] std::string signed_fixed(double value, int decimals);  // "+0.0121"
[[nodiscard]] std::string seconds_range(const StepTime& time);       // "1.10 ms to 1.60 ms"
[[nodiscard]] std::string params_both(Params value);                 // "8,030,261,248 (8.03B)"
[[nodiscard]] std::string variant_label(const Layout& layout);       // "GQA"
[[nodiscard]] std::string layout_label(const Layout& layout, const std::string& notation);  // "GQA 32/8/128"
[[nodiscard]] std::string widths(const Layout& layout);       // "n_heads 32, n_kv_heads 8, d_head 128, d_value 128"
[[nodiscard]] std::string sentence(const std::string& text);  // ends with a full stop
[[nodiscard]] std::string scientific(double value);           // "2.1e-16"
[[nodiscard]] std::string dated(const Source& source);        // "text (2026-08-21)"

// exact: every count equal and every tolerance kept; mismatch; not run.
[[nodiscard]] const char* validation_status(const std::optional<Validation>& validation);

// Ranks, other than 1, that cost and prior cannot tell from the recommendation.
[[nodiscard]] std::vector<int> tied_ranks(const Recommendation& recommendation);

}  // namespace mha::report
