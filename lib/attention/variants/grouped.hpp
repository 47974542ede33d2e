// What MHA, MQA and GQA share: queries in n_heads heads, keys and values in n_kv_heads heads, each KV head serving
// n_heads / n_kv_heads query heads. The three differ only in which n_kv_heads they allow.
#pragma once

#include "mha/attention.hpp"

namespace mha::grouped {

[[nodiscard]] std::optional<LayoutProblem> check(const Layout& layout);
[[nodiscard]] AttentionPlan lower(const Layout& layout, std::int64_t d_model);
[[nodiscard]] std::string notation(const Layout& layout);

// Calls for every (n_heads, n_kv_heads, d_head, d_value) of the axes for which `allowed(n_heads, n_kv_heads)`.
void enumerate(const AxisValues& axes, const Variant& variant, bool (*allowed)(std::int64_t, std::int64_t),
               std::vector<Layout>& out);

}  // namespace mha::grouped
