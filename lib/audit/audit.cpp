// Puts an audit together: payload, what runtimes reserve, ranks, FLOPs; findings and alternatives have files of their own.
#include "mha/audit.hpp"

#include <algorithm>
#include <set>

#include "mha/limits.hpp"

#include "audit/parts.hpp"

namespace mha {
namespace {

// Keys and values of every query head, at the lengths that the runtime would keep.
Bytes expanded_cache(const Architecture& a, const ModelPlan& plan, const ModelQuery& q) {
  Bytes total;
  for (const AttentionUse& use : attention_uses(a)) {
    const Layout& l = use.attention->layout;
    if (use.attention->shares_kv || plan.specs[use.spec_index].cache.empty()) continue;
    const std::int64_t rows = cached_rows(plan.specs[use.spec_index].cache.front().growth, q.n_ctx, q.n_source);
    const std::int64_t wide = use.attention->compression.ratio > 0 ? q.n_ctx : rows;
    total += (q.cache.key->row_bytes(l.d_head) + q.cache.value->row_bytes(l.d_value)) *
             (i128{l.n_heads} * wide * use.n_layers);
  }
  return total;
}

Bytes full_length_cache(const ModelCache& cache, const ModelQuery& q) {
  Bytes total;
  for (const CacheLine& line : cache.lines) {
    const Growth::Kind kind = line.component.growth.kind;
    const bool limited = kind == Growth::Kind::window || kind == Growth::Kind::chunked;
    // Compressed attention keeps its window beside the entries, whatever the runtime does.
    const bool ignored = limited && line.component.role != CacheRole::entry;
    total += ignored ? line.row * line.n_layers * q.n_ctx : line.total;
  }
  return total;
}

std::vector<RankRow> rank_rows(const Audit& a) {
  std::set<std::int64_t> degrees = {1, 2, 4, 8, 16, a.query.parallel.tensor};
  std::int64_t kv_heads = 0;
  for (const AttentionUse& use : attention_uses(a.architecture)) {
    const Attention& attention = *use.attention;
    const bool one_row = attention.layout.variant->latent || attention.compression.ratio > 0;
    const std::int64_t heads = one_row ? 1 : attention.layout.n_kv_heads;
    kv_heads = kv_heads == 0 ? heads : std::min(kv_heads, heads);
  }
  std::vector<RankRow> rows;
  for (const std::int64_t degree : degrees) {
    RankRow row;
    row.tensor_parallel = degree;
    const Parallel parallel{degree, 1, 1};
    row.legal = check_parallel(a.architecture, parallel).empty();
    if (row.legal) {
      const RankCache rank =
          cache_per_rank(a.architecture, a.plan, a.query.cache, a.query.n_ctx, parallel, a.query.n_source);
      row.per_sequence = rank.per_sequence;
      row.replicated = rank.replicated;
      row.params = params_per_rank(a.architecture, a.plan, parallel);
      if (kv_heads > 0) row.replication = std::max<std::int64_t>(1, degree / kv_heads);
    }
    rows.push_back(row);
  }
  return rows;
}

AllocationInput allocation_input(const ModelQuery& q) {
  AllocationInput input;
  input.n_ctx = q.n_ctx;
  input.sequences = q.batch;
  input.step_tokens = q.step_tokens;
  input.unified = q.unified;
  input.n_source = q.n_source;
  input.parallel = q.parallel;
  return input;
}

}  // namespace

std::vector<AttentionUse> attention_uses(const Architecture& architecture) {
  std::vector<AttentionUse> uses;
  for (const LayerGroup& group : layer_groups(architecture)) {
    const LayerSpec& spec = architecture.specs[group.spec];
    for (const Mixer& mixer : spec.mixers) {
      if (const auto* attention = std::get_if<Attention>(&mixer))
        uses.push_back({&spec, group.spec, attention, group.n_layers});
    }
  }
  return uses;
}

const AttentionUse* main_attention(const std::vector<AttentionUse>& uses) {
  const AttentionUse* best = nullptr;
  for (const AttentionUse& use : uses) {
    const bool grows = use.attention->span.kind == Span::Kind::full && !use.attention->shares_kv &&
                       use.attention->compression.ratio == 0;
    if (grows && (best == nullptr || use.n_layers > best->n_layers)) best = &use;
  }
  return best;
}

Architecture with_draft_layers(const Architecture& architecture) {
  Architecture out = architecture;
  for (std::int64_t i = 0; i < architecture.mtp.n_layers && !architecture.layers.empty(); ++i) {
    const auto self = static_cast<std::int32_t>(out.layers.size());
    out.layers.push_back(architecture.layers.back());
    out.kv_owner.push_back(self);
  }
  return out;
}

Diagnostics check_query(const Architecture& architecture, const ModelQuery& query) {
  Diagnostics problems = check_parallel(architecture, query.parallel);
  for (Diagnostic& problem : problems) std::replace(problem.where.key.begin(), problem.where.key.end(), '_', '-');
  for (Diagnostic& problem : problems) problem.where.key.insert(0, "--");
  const auto refuse = [&](std::string key, std::string code, std::string what, std::string hint) {
    problems.push_back(
        {Severity::error, std::move(code), Location{{}, 0, 0, std::move(key)}, std::move(what), std::move(hint)});
  };
  bool crosses = false;
  for (const AttentionUse& use : attention_uses(architecture))
    crosses = crosses || use.attention->span.kind == Span::Kind::cross;
  if (query.n_source > 0 && !crosses)
    refuse("--source-tokens", "no-cross-attention", "the model has no cross attention", "leave --source-tokens out");
  if (query.n_past >= query.n_ctx)
    refuse("--past", "out-of-range",
           to_decimal(query.n_past) + " cached tokens leave none of " + to_decimal(query.n_ctx),
           "give fewer than --seq-len");
  if (query.draft_layers && architecture.mtp.n_layers == 0)
    refuse("--draft-layers", "no-draft-layers", "the model has no multi-token-prediction layers",
           "leave --draft-layers out");
  return problems;
}

Audit audit(const Architecture& architecture, const ModelQuery& query, const AuditRules& rules) {
  Audit out;
  out.architecture = architecture;
  out.plan = lower(architecture);
  out.query = query;
  out.quality_slack = rules.quality_slack;
  out.params = count_params(architecture, out.plan);
  const Architecture drafting = with_draft_layers(architecture);
  const Architecture& cached = query.draft_layers ? drafting : out.architecture;
  out.cache = cache_of(cached, out.plan, query.cache, query.n_ctx, query.n_source);
  out.draft_per_sequence = cache_of(drafting, out.plan, query.cache, query.n_ctx, query.n_source).per_sequence -
                           cache_of(architecture, out.plan, query.cache, query.n_ctx, query.n_source).per_sequence;
  out.expanded_per_sequence = expanded_cache(cached, out.plan, query);
  out.full_length_per_sequence = full_length_cache(out.cache, query);
  for (const RuntimeRule& runtime : rules.runtimes)
    out.allocations.push_back(allocate(cached, out.plan, query.cache, runtime, allocation_input(query)));
  out.ranks = rank_rows(out);
  constexpr std::int64_t kShownDegrees = 64;
  out.legal_tensor_parallel = legal_tensor_parallel(architecture, kShownDegrees);
  out.rank = cache_per_rank(cached, out.plan, query.cache, query.n_ctx, query.parallel, query.n_source);
  out.prefill =
      count_flops(architecture, out.plan, query.flops, Step{query.n_past, query.n_ctx - query.n_past}, query.n_source);
  out.decode = count_flops(architecture, out.plan, query.flops, Step{query.n_ctx - 1, 1}, query.n_source);
  add_alternatives(out, rules);
  out.findings = find_unusual(out, rules);
  return out;
}

}  // namespace mha
