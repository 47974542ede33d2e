// The functions that the table of oracles refers to: lib/kernel/oracle/<id>.cpp defines them.
#pragma once

#include "kernel/oracle.hpp"

namespace mha::oracle {

// mha, mqa and gqa have the same four matrices and cache; they differ in which key and value head a query head reads.
Weights draw_grouped(const Layout& layout, std::int64_t d_model, std::uint64_t seed);
Rows mha_forward(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts);
Rows mqa_forward(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts);
Rows gqa_forward(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts);

Weights draw_mla(const Layout& layout, std::int64_t d_model, std::uint64_t seed);
Rows mla_expanded(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts);
Rows mla_absorbed(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts);

Weights draw_gta(const Layout& layout, std::int64_t d_model, std::uint64_t seed);
Rows gta_forward(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts);

Weights draw_gla(const Layout& layout, std::int64_t d_model, std::uint64_t seed);
Rows gla_expanded(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts);
Rows gla_absorbed(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts);

Weights draw_mfa(const Layout& layout, std::int64_t d_model, std::uint64_t seed);
Rows mfa_forward(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts);

Weights draw_tpa(const Layout& layout, std::int64_t d_model, std::uint64_t seed);
Rows tpa_expanded(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts);
Rows tpa_factored(const Weights& weights, const Layout& layout, const Rows& x, Cache& cache, Counts& counts);

}  // namespace mha::oracle
