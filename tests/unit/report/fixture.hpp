// A small recommendation, built by hand, for the tests of the writers. Costs come from the cost model; everything that the
// search would find is written down here.
#pragma once

#include <string>

#include "mha/report.hpp"

namespace mha::report_test {

inline Layout grouped_layout(const char* variant, std::int64_t n_heads, std::int64_t n_kv_heads, std::int64_t d_head) {
  Layout layout;
  layout.variant = find_variant(variant);
  layout.n_heads = n_heads;
  layout.n_kv_heads = n_kv_heads;
  layout.d_head = layout.d_value = d_head;
  return layout;
}

inline Layout latent_layout() {  // DeepSeek-V3's ratios at 32 heads
  Layout layout;
  layout.variant = find_variant("mla");
  layout.n_heads = layout.n_kv_heads = 32;
  layout.d_nope = layout.d_value = 128;
  layout.d_rope = 64;
  layout.d_head = 192;
  layout.d_kv_latent = 512;
  layout.d_q_latent = 1536;
  return layout;
}

inline Target target() {
  Target t;
  t.id = "test-80g";
  t.name = "Test device 80 GiB";
  t.kind = "gpu";
  const Source source{"data sheet", "2026-01-02"};
  t.memory = {Bytes(i128{80} << 30), source};
  t.reserve = {Bytes(i128{2} << 30), source};
  t.bandwidth_per_s = {3.35e12, source};
  t.peaks_per_s["bf16"] = {9.89e14, source};
  t.tensor_parallel = {1, 2, 4, 8};
  t.decode_efficiency_low = {0.6, source};
  t.prefill_efficiency_low = {0.5, source};
  return t;
}

inline Candidate candidate(const Layout& layout, const Workload& workload, const Target& device, double loss) {
  Candidate c;
  c.layout = layout;
  c.shape = {4096, 32, 14336, 128256, false, true, NormKind::rms};
  c.kv_format = "bf16";
  c.formats = workload.cache;
  c.cost = compute_cost(c.shape, lower(layout, c.shape.d_model), workload, device);
  c.loss.kv_width = loss;
  c.loss_low = loss / 2;
  c.loss_high = loss * 2;
  c.notation = notation(layout);
  return c;
}

inline Recommendation recommendation(const Layout& winner = grouped_layout("gqa", 32, 8, 128),
                                     std::int64_t batch = 16) {
  Recommendation r;
  r.request.params = 8'030'261'248;
  r.request.seq_len = 8192;
  r.request.batch = batch;
  r.request.target = "test-80g";
  r.target = target();
  const StorageFormat* bf16 = find_format("bf16");
  r.workload = {8192, batch, 1, bf16, {bf16, bf16}};
  r.priority = {"balanced", 0.015, "decode_time", {"design", "2026-01-01"}};
  r.preset.id = "conservative";
  r.shape_note = "d_model and n_layers given; d_ff solved";
  r.quality_slack = 0.015;
  r.best_loss = 0;
  r.best_notation = "32/32/128";
  const auto add = [&r](int rank, int tie_class, const Layout& layout, double loss, const char* why_not) {
    Ranked entry;
    entry.rank = rank;
    entry.tie_class = tie_class;
    entry.candidate = candidate(layout, r.workload, r.target, loss);
    entry.why_not = why_not;
    entry.tie_breaks = {"runtime-safe d_head: yes"};
    entry.verdicts = {{"memory-fits", true, true, 33.0, 78.0, "45.0 GiB below", "weights and cache fit the device"}};
    r.ranked.push_back(entry);
  };
  add(1, 1, winner, 0.0118, "");
  add(2, 1, grouped_layout("gqa", 64, 16, 64), 0.0118, "ties; d_head 64 has fewer kernels");
  add(3, 2, grouped_layout("mha", 32, 32, 128), 0.0, "4.00 times the cache | decode 1.9 times slower");
  r.ranked_total = 3;
  r.tie_break_rules = {"runtime-safe d_head (kernel tables)"};
  r.rejected = {{"d-head-min", 12, "256/8/16", "d_head 16 is below 32"}};
  r.warnings = {{"mha-cache", "MHA would cache 4 times as much <b>here</b>"}};
  r.pareto = {{r.winner().notation, "gqa", 0.0118, 0.0085, r.winner().cost.cache.per_sequence, true, true, 2},
              {"32/32/128", "mha", 0.0, 0.016, Bytes(i128{4} << 30), true, false, 1},
              {"32/16/128", "gqa", 0.0059, 0.011, Bytes(i128{2} << 30), false, false, 1}};
  r.preset_winners = {{"optimistic", "32/4/128", false}, {"conservative", r.winner().notation, true}};
  r.ladder = {{4096, Bytes(i128{1} << 29), Bytes(i128{1} << 33), 0.006, true},
              {8192, Bytes(i128{1} << 30), Bytes(i128{1} << 34), 0.0085, true},
              {65536, Bytes(i128{1} << 33), Bytes(i128{1} << 37), 0.03, false}};
  r.tensor_parallel = {{1, true, 8, 1, Bytes(131072), ""}, {3, false, 0, 1, Bytes(), "3 does not divide 32 heads"}};
  r.kernels = {{"flash-attention 2.8", true, "d_head 128"}};
  r.counts = {100, 12, 88, 40, 2};
  r.sources = {{"evidence on file", "2026-08-21"}};
  r.reason = "KV cache of 128 KiB per token leaves room for the batch of 16 sequences.";
  return r;
}

inline Validation validation(const Layout& layout, i128 counted) {
  Validation v;
  v.layout = layout;
  v.d_model = 512;
  v.full_d_model = 4096;
  v.n_tokens = 8;
  v.rows = {{"weights, one layer", (i128{1} << 100) + 1, counted}};
  v.tolerances = {{"decode against prefill", 0.25, 1e-15, 4e-15}};
  return v;
}

}  // namespace mha::report_test
