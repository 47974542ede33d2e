// What is unusual about a model, one row of the table a kind of finding. A finding says what follows from it, with numbers.
#include <algorithm>

#include "mha/quantity.hpp"

#include "audit/parts.hpp"

namespace mha {
namespace {

using Text = std::string;

Text n(i128 value) {
  return print_grouped(value);
}

Text times(Bytes more, Bytes less) {
  return less.value() == 0 ? Text("more") : print_fixed(more.as_double() / less.as_double(), 2) + "x";
}

Text at_context(const Audit& a) {
  return "at " + n(a.query.n_ctx) + " tokens";
}

Text layers_text(std::int64_t count) {
  return n(count) + (count == 1 ? " layer" : " layers");
}

struct Row {
  std::string_view code;
  Severity severity;
  // Appends messages; none when the model is not of this kind.
  void (*find)(const Audit& audit, const std::vector<AttentionUse>& uses, std::vector<Text>& out);
};

void d_head_given(const Audit& a, const std::vector<AttentionUse>& uses, std::vector<Text>& out) {
  for (const AttentionUse& use : uses) {
    const Layout& l = use.attention->layout;
    if (l.variant->latent || use.attention->compression.ratio > 0) continue;
    if (l.n_heads * l.d_head == a.architecture.d_model) continue;
    out.push_back(
        use.spec->name + ": d_head is " + n(l.d_head) + ", not d_model / n_heads = " +
        print_fixed(static_cast<double>(a.architecture.d_model) / static_cast<double>(l.n_heads), 1) +
        "; a calculator that derives it is off by " +
        print_fixed(static_cast<double>(l.n_heads * l.d_head) / static_cast<double>(a.architecture.d_model), 2) + "x");
    return;
  }
}

void mha_long_context(const Audit& a, const std::vector<AttentionUse>& uses, std::vector<Text>& out) {
  constexpr std::int64_t kManyHeads = 16, kLong = 32768;
  for (const AttentionUse& use : uses) {
    const Layout& l = use.attention->layout;
    if (l.variant->id != "mha" || l.n_heads <= kManyHeads || a.query.n_ctx <= kLong) continue;
    if (use.attention->span.kind != Span::Kind::full) continue;
    out.push_back("MHA with " + n(l.n_heads) + " heads caches " + print_bytes(a.cache.per_sequence) + " a sequence " +
                  at_context(a) + "; GQA with " + n(std::max<std::int64_t>(1, l.n_heads / 8)) +
                  " KV heads would hold an eighth of its growing part, see the alternatives");
    return;
  }
}

void expanded_by_runtime(const Audit& a, const std::vector<AttentionUse>&, std::vector<Text>& out) {
  if (a.expanded_per_sequence <= a.cache.per_sequence || a.cache.per_sequence.value() == 0) return;
  bool latent = false;
  for (const AttentionUse& use : attention_uses(a.architecture))
    latent = latent || use.attention->layout.variant->latent;
  out.push_back(Text(latent ? "a runtime without a latent cache keeps every head's keys and values: "
                            : "a runtime that keeps keys and values for each query head holds ") +
                print_bytes(a.expanded_per_sequence) + " a sequence " + at_context(a) + " instead of " +
                print_bytes(a.cache.per_sequence) + " (" + times(a.expanded_per_sequence, a.cache.per_sequence) + ")");
}

void windows(const Audit& a, const std::vector<AttentionUse>& uses, std::vector<Text>& out) {
  std::int64_t limited = 0, least = 0;
  for (const AttentionUse& use : uses) {
    const Span& span = use.attention->span;
    if (span.kind != Span::Kind::window && span.kind != Span::Kind::chunked) continue;
    limited += use.n_layers;
    least = least == 0 ? span.tokens : std::min(least, span.tokens);
  }
  if (limited == 0) return;
  out.push_back(n(limited) + " of " + layers_text(a.architecture.n_layers()) + " see a window or chunk (" + n(least) +
                " tokens and more); a runtime that ignores it holds " + print_bytes(a.full_length_per_sequence) +
                " instead of " + print_bytes(a.cache.per_sequence) + " " + at_context(a) + " (" +
                times(a.full_length_per_sequence, a.cache.per_sequence) + ")");
}

void shared_layers(const Audit& a, const std::vector<AttentionUse>& uses, std::vector<Text>& out) {
  std::int64_t shared = 0;
  for (const AttentionUse& use : uses) shared += use.attention->shares_kv ? use.n_layers : 0;
  if (shared > 0)
    out.push_back(n(shared) + " of " + layers_text(a.architecture.n_layers()) +
                  " read another layer's keys and values and keep none");
}

void states(const Audit& a, const std::vector<AttentionUse>&, std::vector<Text>& out) {
  Bytes state;
  std::int64_t layers = 0;
  Text format;
  for (const CacheLine& line : a.cache.lines) {
    if (line.component.growth.kind != Growth::Kind::fixed) continue;
    state += line.total;
    if (line.component.role != CacheRole::state) continue;
    layers += line.n_layers;
    format = line.format;
  }
  if (state.value() == 0) return;
  out.push_back(Text("linear layers keep a fixed ") + print_bytes(state) + " a sequence, whatever its length" +
                (layers > 0 ? ", states of " + layers_text(layers) + " in " + format : Text()) +
                "; a ratio of bytes a token would hide it");
}

void big_blocks(const Audit& a, const std::vector<AttentionUse>&, std::vector<Text>& out) {
  for (const Allocation& allocation : a.allocations) {
    for (const Text& note : allocation.notes) {
      if (note.find("blocks grow to") == Text::npos) continue;
      out.push_back(allocation.runtime + ": " + note + "; each sequence pins whole blocks of that size");
      return;
    }
  }
}

void draft(const Audit& a, const std::vector<AttentionUse>&, std::vector<Text>& out) {
  const std::int64_t layers = a.architecture.mtp.n_layers;
  if (layers == 0) return;
  out.push_back("drafting with the " + layers_text(layers) + " of multi-token prediction adds " +
                print_bytes(a.draft_per_sequence) + " of cache a sequence " + at_context(a) + " and " +
                print_count(a.params.mtp.value()) + " resident parameters" +
                (a.query.draft_layers ? " (counted here)" : " (not counted here; --draft-layers counts it)"));
}

void tensor_parallel(const Audit& a, const std::vector<AttentionUse>& uses, std::vector<Text>& out) {
  if (uses.empty()) return;
  Text missing, legal;
  for (const std::int64_t degree : {2, 4, 8}) {
    const auto& all = a.legal_tensor_parallel;
    if (std::find(all.begin(), all.end(), degree) == all.end()) missing += (missing.empty() ? "" : ", ") + n(degree);
  }
  if (missing.empty()) return;
  for (const std::int64_t degree : a.legal_tensor_parallel) legal += (legal.empty() ? "" : ", ") + n(degree);
  out.push_back("tensor parallelism of " + missing + " is illegal: legal degrees are " + legal);
}

void replicated(const Audit& a, const std::vector<AttentionUse>& uses, std::vector<Text>& out) {
  for (const RankRow& row : a.ranks) {
    if (!row.legal || row.tensor_parallel != 8 || row.replicated.value() == 0) continue;
    bool latent = false;
    for (const AttentionUse& use : uses) latent = latent || use.attention->layout.variant->latent;
    out.push_back(Text(latent ? "the latent is" : "part of the cache is") +
                  " whole on every rank: at 8-way tensor "
                  "parallelism a rank holds " +
                  print_bytes(row.per_sequence) + " of " + print_bytes(a.cache.per_sequence) +
                  " a sequence; data parallelism does not shrink one sequence's cache");
    return;
  }
  for (const RankRow& row : a.ranks) {
    if (!row.legal || row.tensor_parallel != 8 || row.replication <= 1) continue;
    out.push_back("8-way tensor parallelism holds each KV head " + n(row.replication) + " times");
  }
}

void group_size(const Audit&, const std::vector<AttentionUse>& uses, std::vector<Text>& out) {
  for (const AttentionUse& use : uses) {
    const Layout& l = use.attention->layout;
    if (l.variant->latent || l.n_kv_heads == 0 || use.attention->compression.ratio > 0) continue;
    const std::int64_t group = l.group_size();
    const bool power_of_two = (group & (group - 1)) == 0;
    if (power_of_two && group <= 16) continue;
    out.push_back(use.spec->name + ": " + n(group) + " query heads a KV head" +
                  (power_of_two ? "" : ", no power of two") +
                  "; several kernels pack only 2, 4 or 8 (see list kernels)");
    return;
  }
}

void head_width(const Audit&, const std::vector<AttentionUse>& uses, std::vector<Text>& out) {
  for (const AttentionUse& use : uses) {
    const Layout& l = use.attention->layout;
    if (l.variant->latent || use.attention->compression.ratio > 0) continue;
    if (l.d_head == 64 || l.d_head == 128 || l.d_head == 256) continue;
    out.push_back(use.spec->name + ": d_head " + n(l.d_head) +
                  " is none of 64, 128, 256; kernels pad it or fall back (see list kernels)");
    return;
  }
}

void narrow(const Audit& a, const std::vector<AttentionUse>& uses, std::vector<Text>& out) {
  constexpr std::int64_t kNarrow = 256;
  if (a.params.total.value() < 1'000'000'000) return;
  for (const AttentionUse& use : uses) {
    const Layout& l = use.attention->layout;
    if (l.variant->latent || use.attention->compression.ratio > 0) continue;
    if (l.n_kv_heads * l.d_head >= kNarrow) continue;
    out.push_back(use.spec->name + ": keys of one token are " + n(l.n_kv_heads * l.d_head) +
                  " wide, narrower than any release of 1B and more since 2024 in our catalogue");
    return;
  }
}

void experts(const Audit& a, const std::vector<AttentionUse>&, std::vector<Text>& out) {
  if (a.params.active == a.params.total) return;
  out.push_back("a token uses " + print_count(a.params.active.value()) + " of " + print_count(a.params.total.value()) +
                " parameters; all of them are resident");
}

void sparse(const Audit& a, const std::vector<AttentionUse>& uses, std::vector<Text>& out) {
  for (const AttentionUse& use : uses) {
    const Indexer& i = use.attention->indexer;
    if (i.n_heads == 0) continue;
    Bytes keys;
    for (const CacheLine& line : a.cache.lines)
      keys += line.component.role == CacheRole::index_key ? line.total : Bytes();
    i128 index_flops = 0;
    for (const FlopLine& line : a.decode.lines)
      index_flops += line.name.find("indexer, over") != Text::npos ? line.value.value() : 0;
    out.push_back("sparse attention reads " + n(i.top_k) + " tokens, but its indexer keeps a key for every one: " +
                  print_bytes(keys) + " a sequence and " + print_flops(Flops(index_flops)) + " of the " +
                  print_flops(a.decode.total) + " of a decode step " + at_context(a));
    return;
  }
}

void compressed(const Audit& a, const std::vector<AttentionUse>& uses, std::vector<Text>& out) {
  for (const AttentionUse& use : uses) {
    if (use.attention->compression.ratio == 0) continue;
    out.push_back("the cache is compressed along the tokens: " + print_fixed(a.cache.bytes_per_token(), 1) +
                  " bytes a token in the long run and " + print_bytes(a.cache.fixed) + " fixed" +
                  (a.query.cache.pending ? "" : "; rows that are not pooled yet are left out (--compressor-state)"));
    return;
  }
}

void beyond_context(const Audit& a, const std::vector<AttentionUse>&, std::vector<Text>& out) {
  if (a.architecture.max_context > 0 && a.query.n_ctx > a.architecture.max_context)
    out.push_back(n(a.query.n_ctx) + " tokens are more than the " + n(a.architecture.max_context) +
                  " that the model states");
}

void no_cache(const Audit& a, const std::vector<AttentionUse>& uses, std::vector<Text>& out) {
  if (a.cache.lines.empty())
    out.push_back(uses.empty() ? "the model has no attention and keeps no cache"
                               : "the model is an encoder: it keeps no cache");
}

void block_formats(const Audit& a, const std::vector<AttentionUse>&, std::vector<Text>& out) {
  for (const CacheLine& line : a.cache.lines) {
    const StorageFormat* format = find_format(line.format);
    if (format == nullptr || format->block_elements <= 1) continue;
    if (line.component.row_elements % format->block_elements == 0) continue;
    out.push_back(Text(format->id) + " stores blocks of " + n(format->block_elements) + ", and a row of " +
                  n(line.component.row_elements) + " is padded; runtimes refuse such rows");
    return;
  }
}

void cache_beats_weights(const Audit& a, const std::vector<AttentionUse>&, std::vector<Text>& out) {
  const Bytes weights = a.query.weights->row_bytes(1) * a.params.total.value();
  const Bytes cache = a.cache.per_sequence * a.query.batch;
  if (cache > weights)
    out.push_back("the cache of " + n(a.query.batch) + (a.query.batch == 1 ? " sequence" : " sequences") + " " +
                  at_context(a) + " (" + print_bytes(cache) + ") is larger than the weights (" + print_bytes(weights) +
                  ")");
}

void device(const Audit& a, const std::vector<AttentionUse>&, std::vector<Text>& out) {
  if (!a.query.target) return;
  const MemoryUse use = memory_use(a.architecture, a.plan, a.query, nullptr);
  if (use.fits()) return;
  out.push_back("it does not fit " + a.query.target->name + ": weights " + print_bytes(use.weights) + ", cache " +
                print_bytes(use.cache) + " and reserve " + print_bytes(use.reserve) + " are " +
                print_bytes(use.used() - use.capacity) + " more than " + print_bytes(use.capacity));
}

// A source is not part of the model: images, audio or a text of whatever length. Left out, its cache would look free.
void no_source(const Audit& a, const std::vector<AttentionUse>&, std::vector<Text>& out) {
  if (a.query.n_source > 0) return;
  Bytes row;
  for (const CacheLine& line : a.cache.lines) {
    if (line.component.growth.kind == Growth::Kind::source) row += line.row * line.n_layers;
  }
  if (row == Bytes(0)) return;
  out.push_back("cross attention keeps " + print_grouped(row.value()) +
                " bytes for each source token, and none is counted: give their number with --source-tokens");
}

constexpr Row kRows[] = {
    {"does-not-fit", Severity::warning, device},
    {"beyond-context", Severity::warning, beyond_context},
    {"mha-long-context", Severity::warning, mha_long_context},
    {"block-padding", Severity::warning, block_formats},
    {"no-source", Severity::warning, no_source},
    {"tensor-parallel-illegal", Severity::warning, tensor_parallel},
    {"cache-beats-weights", Severity::note, cache_beats_weights},
    {"decoupled-head-width", Severity::note, d_head_given},
    {"head-width", Severity::note, head_width},
    {"group-size", Severity::note, group_size},
    {"narrow-kv", Severity::note, narrow},
    {"windows", Severity::note, windows},
    {"shared-kv", Severity::note, shared_layers},
    {"fixed-state", Severity::note, states},
    {"big-blocks", Severity::warning, big_blocks},
    {"compressed-cache", Severity::note, compressed},
    {"sparse-indexer", Severity::note, sparse},
    {"expanded-by-runtime", Severity::note, expanded_by_runtime},
    {"replicated-cache", Severity::note, replicated},
    {"draft-layers", Severity::note, draft},
    {"mixture-of-experts", Severity::note, experts},
    {"no-cache", Severity::note, no_cache},
};

}  // namespace

std::vector<Finding> find_unusual(const Audit& audit, const AuditRules&) {
  const std::vector<AttentionUse> uses = attention_uses(audit.architecture);
  std::vector<Finding> findings;
  for (const Row& row : kRows) {
    std::vector<Text> messages;
    row.find(audit, uses, messages);
    for (Text& message : messages) findings.push_back({std::string(row.code), row.severity, std::move(message)});
  }
  for (const Diagnostic& note : audit.architecture.notes)
    findings.push_back({note.code, note.severity, (note.where.key.empty() ? "" : note.where.key + ": ") + note.what});
  return findings;
}

}  // namespace mha
