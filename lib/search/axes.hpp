// The axes of the search space of one request.
#pragma once

#include "mha/request.hpp"

namespace mha {

[[nodiscard]] AxisValues make_axes(const Request& request, std::int64_t d_model);

// The variants that the request allows. MHA and MQA are GQA's ends: a request for GQA with n_kv_heads pinned to n_heads or to 1
// means them, so that equivalent spellings give the same answer.
[[nodiscard]] std::vector<const Variant*> allowed_variants(const Request& request);

}  // namespace mha
