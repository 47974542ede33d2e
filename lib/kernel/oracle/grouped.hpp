// What MHA, MQA and GQA share: four matrices, a cache of keys and values, and attention of one query over one KV head.
#pragma once

#include "kernel/oracle/arithmetic.hpp"

namespace mha::oracle {

// Projects queries, keys and values (with QK-norm where the layout asks for it), caches the latter two, returns the
// queries.
[[nodiscard]] Rows project_and_cache(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache,
                                     Counts& counts);

// softmax(q k^T / sqrt(d_head)) v over the first n_visible cached tokens.
void attend(Slice query, Slice keys, Slice values, std::int64_t n_visible, const Layout& layout, Row out,
            Counts& counts);

}  // namespace mha::oracle
