// What holds for every model, over random ones: sums of components equal totals, explanations add up, pairs counted one by
// one, ranks together hold the whole, solved values are exact.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "mha/quantity.hpp"

#include "support/models.hpp"

namespace mha::testing {
namespace {

template <class Property>
void holds(const char* what, Property property) {
  CHECK(rc::check(what, property));
}

std::int64_t some(std::int64_t min, std::int64_t max) {
  return *rc::gen::inRange<std::int64_t>(min, max + 1);
}
bool maybe() {
  return *rc::gen::arbitrary<bool>();
}
std::int64_t one_of(std::vector<std::int64_t> values) {
  return *rc::gen::elementOf(std::move(values));
}

Span some_span() {
  switch (some(0, 3)) {
    case 0:
      return {Span::Kind::window, some(1, 40)};
    case 1:
      return {Span::Kind::chunked, some(1, 40)};
    default:
      return {};
  }
}

Attention some_attention() {
  Attention a;
  Layout& l = a.layout;
  l.n_heads = one_of({1, 2, 4, 6, 8});
  if (maybe()) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t k = 1; k <= l.n_heads; ++k) {
      if (l.n_heads % k == 0) divisors.push_back(k);
    }
    l.n_kv_heads = one_of(divisors);
    l.d_head = some(1, 40);
    l.d_value = some(1, 40);
    l.variant = find_variant(l.n_kv_heads == l.n_heads ? "mha" : l.n_kv_heads == 1 ? "mqa" : "gqa");
    l.bias = {maybe(), maybe(), maybe(), maybe()};
    a.qk_norm = maybe() ? QkNorm::full : maybe() ? QkNorm::per_head : QkNorm::none;
    l.qk_norm = a.qk_norm == QkNorm::per_head;
    a.d_q_latent = maybe() ? some(1, 40) : 0;
    a.output_gate = maybe();
    a.sinks = maybe();
    a.span = some_span();
  } else {
    l.n_kv_heads = l.n_heads;
    l.d_kv_latent = some(1, 40);
    l.d_q_latent = maybe() ? some(1, 40) : 0;
    l.d_nope = some(1, 20);
    l.d_rope = 2 * some(0, 8);
    l.d_head = l.d_nope + l.d_rope;
    l.d_value = some(1, 20);
    l.variant = find_variant("mla");
    if (maybe()) a.indexer = {some(1, 4), some(1, 16), some(1, 64)};
  }
  return a;
}

LinearMixer some_linear() {
  LinearMixer m;
  m.kind = *rc::gen::elementOf(linear_kinds());
  const auto needs = [&](std::string_view name) {
    return std::find(m.kind->needs.begin(), m.kind->needs.end(), name) != m.kind->needs.end();
  };
  m.n_heads = one_of({2, 4, 8});
  if (needs("n_key_heads")) m.n_key_heads = one_of({1, 2});
  if (needs("d_key")) m.d_key = some(1, 16);
  m.d_value = some(1, 16);
  if (needs("d_conv")) m.d_conv = some(1, 4);
  if (needs("d_latent")) m.d_latent = some(1, 16);
  return m;
}

FeedForward some_feed_forward() {
  FeedForward f;
  if (maybe()) return f;  // none
  f.gated = maybe();
  f.bias_up = maybe();
  f.bias_down = maybe();
  f.d_ff = some(1, 100);
  if (maybe()) {
    f.n_experts = some(1, 8);
    f.top_k = some(1, f.n_experts);
    f.d_ff_expert = some(1, 50);
    f.d_ff_shared = maybe() ? some(1, 50) : 0;
    f.shared_gate = f.d_ff_shared > 0 && maybe();
    f.router_bias = maybe();
  }
  return f;
}

Architecture some_model() {
  Architecture a;
  a.name = "random";
  a.d_model = some(1, 64);
  a.vocab_size = some(1, 500);
  a.tied_embeddings = maybe();
  a.norm = *rc::gen::element(NormKind::rms, NormKind::layer, NormKind::layer_scale, NormKind::none);
  a.embedding_norm = maybe();
  a.learned_positions = maybe() ? some(1, 64) : 0;
  a.lm_head_bias = maybe();
  const std::int64_t kinds = some(1, 3);
  for (std::int64_t i = 0; i < kinds; ++i) {
    LayerSpec spec;
    spec.name = "kind" + to_decimal(i);
    if (maybe())
      spec.mixers.emplace_back(some_attention());
    else
      spec.mixers.emplace_back(some_linear());
    spec.ffn = some_feed_forward();
    spec.norms = some(0, 4);
    a.specs.push_back(spec);
  }
  const std::int64_t layers = some(kinds, 9);
  for (std::int64_t i = 0; i < layers; ++i) a.layers.push_back(static_cast<std::uint16_t>(i % kinds));
  assign_kv_owners(a);
  RC_ASSERT(check_architecture(a).empty());
  return a;
}

TEST_CASE("property: components add up to every total") {
  holds("sums", [] {
    const Architecture a = some_model();
    const ModelPlan plan = lower(a);
    const ModelParams params = count_params(a, plan);
    Params total, active;
    for (const ComponentParams& c : params.components) {
      total += c.total;
      active += c.active;
    }
    RC_ASSERT(total == params.total);
    RC_ASSERT(active == params.active);
    RC_ASSERT(params.active <= params.total);
    const std::int64_t n = some(1, 100);
    const ModelCache cache = cache_of(a, plan, cache_format("bf16"), n);
    Bytes bytes;
    for (const CacheLine& line : cache.lines) bytes += line.total;
    RC_ASSERT(bytes == cache.per_sequence);
    for (const FlopRule& rule : flop_rules()) {
      const ModelFlops flops = count_flops(a, plan, rule, Step{some(0, 50), n});
      Flops sum;
      for (const FlopLine& line : flops.lines) sum += line.value;
      RC_ASSERT(sum == flops.total);
    }
    const bool latents = std::any_of(cache.lines.begin(), cache.lines.end(),
                                     [](const CacheLine& line) { return line.component.role == CacheRole::latent; });
    for (const char* runtime : {"vllm", "llama-cpp", "ik-llama-cpp", "koboldcpp", "sglang-page64", "tensorrt-llm"}) {
      const Allocation allocation = allocation_of(a, runtime, n, some(1, 4));
      Bytes reserved;
      for (const AllocationLine& line : allocation.lines) reserved += line.total;
      RC_ASSERT(reserved == allocation.total);
      // One that expands latents holds other rows, fewer where the heads are narrower than the latent.
      const bool expands = latents && !rule_store().runtime(runtime)->latent_cache;
      RC_ASSERT(expands || allocation.total >= allocation.payload);
    }
  });
}

TEST_CASE("property: the rows of an explanation add up to the totals it shows") {
  holds("explain", [] {
    const Architecture a = some_model();
    const Audit result = audit(a, query_at(some(1, 100)), audit_rules());
    const std::vector<ExplainRow> rows = explain(result);
    RC_ASSERT(!rows.empty());
    i128 params = 0;
    for (const ExplainRow& row : rows) {
      RC_ASSERT(!row.formula.empty());
      RC_ASSERT(!row.substituted.empty());
      RC_ASSERT(!row.value.empty());
      if (row.group != "Parameters" || row.figure == "total") {
        if (row.figure == "total" && row.group == "Parameters")
          RC_ASSERT(row.value == print_grouped(params) + " parameters");
        continue;
      }
      std::string digits;
      for (const char c : row.value.substr(0, row.value.find(' ')))
        digits += c == ',' ? std::string() : std::string(1, c);
      params += std::stoll(digits);
    }
  });
}

TEST_CASE("property: pairs equal those counted one by one") {
  holds("pairs", [] {
    Visible v;
    v.kind = *rc::gen::element(Visible::Kind::full, Visible::Kind::window, Visible::Kind::chunked,
                               Visible::Kind::compressed, Visible::Kind::encoder, Visible::Kind::cross);
    v.limit = some(1, 20);
    v.ratio = v.kind == Visible::Kind::compressed ? some(1, 9) : 1;
    v.top_k = maybe() ? some(1, 20) : 0;
    const Step step{some(0, 60), some(1, 60)};
    const std::int64_t n_source = some(0, 30);
    i128 pairs = 0;
    for (std::int64_t p = step.n_past; p < step.n_past + step.n_new; ++p) {
      std::int64_t seen = 0;  // tokens j that the query at p sees
      for (std::int64_t j = 0; j <= p; ++j) {
        const bool in_window = p - j < v.limit, in_chunk = j / v.limit == p / v.limit;
        if (v.kind == Visible::Kind::full) ++seen;
        if (v.kind == Visible::Kind::window && in_window) ++seen;
        if (v.kind == Visible::Kind::chunked && in_chunk) ++seen;
        if (v.kind == Visible::Kind::compressed && (j + 1) % v.ratio == 0) ++seen;
      }
      if (v.kind == Visible::Kind::encoder) seen = step.n_past + step.n_new;
      if (v.kind == Visible::Kind::cross) seen = n_source;
      pairs += v.top_k > 0 ? std::min(seen, v.top_k) : seen;
    }
    RC_ASSERT(visible_pairs(v, step, FlopRule::Pairs::triangle, n_source) == pairs);
  });
}

TEST_CASE("property: a prefill in two chunks costs what one costs, and nothing shrinks with the length") {
  holds("chunks", [] {
    const Architecture a = some_model();
    const ModelPlan plan = lower(a);
    const std::int64_t first = some(1, 50), second = some(1, 50);
    const FlopRule& rule = *find_flop_rule("causal");
    const auto flops = [&](Step step) { return count_flops(a, plan, rule, step).total; };
    bool one_path = true;
    for (const LayerPlan& layer : plan.specs) {
      for (const Work& work : layer.work) one_path = one_path && work.paths.size() == 1;
    }
    // A latent that is expanded again for each chunk costs more in two.
    const Flops together = flops({0, first + second}), apart = flops({0, first}) + flops({first, second});
    RC_ASSERT(together <= apart);
    if (one_path) RC_ASSERT(together == apart);
    // At the start of a chunk a token sees less than the one before.
    bool chunked = false;
    for (const LayerPlan& layer : plan.specs) {
      for (const Work& work : layer.work) {
        for (const WorkTerm& term : work.paths.front().terms)
          chunked = chunked || term.visible.kind == Visible::Kind::chunked;
      }
    }
    if (!chunked) RC_ASSERT(flops({first, 1}) <= flops({first + second, 1}));
    const auto cache = [&](std::int64_t n) { return cache_of(a, plan, cache_format("q8_0/q4_0"), n).per_sequence; };
    RC_ASSERT(cache(first) <= cache(first + second));
  });
}

TEST_CASE("property: ranks hold at least their share, and never more than the whole") {
  holds("ranks", [] {
    const Architecture a = some_model();
    const ModelPlan plan = lower(a);
    const std::vector<std::int64_t> legal = legal_tensor_parallel(a, 8);
    const Parallel parallel{one_of(legal), some(1, a.n_layers()), 1};
    RC_ASSERT(check_parallel(a, parallel).empty());
    const std::int64_t n = some(1, 100);
    const ModelFormats formats = cache_format("bf16");
    const Bytes whole = cache_of(a, plan, formats, n).per_sequence;
    const RankCache rank = cache_per_rank(a, plan, formats, n, parallel);
    RC_ASSERT(rank.per_sequence <= whole);
    RC_ASSERT(rank.per_sequence * (parallel.tensor * parallel.pipeline) >= whole);
    RC_ASSERT(rank.split + rank.replicated == rank.per_sequence);
    const Params total = count_params(a, plan).total, share = params_per_rank(a, plan, parallel);
    RC_ASSERT(share * (parallel.tensor * parallel.pipeline) >= total);
  });
}

TEST_CASE("property: a model written as YAML and read again is the same model") {
  holds("yaml", [] {
    const Architecture a = some_model();
    const Expected<Architecture> again = read_model_yaml(to_yaml(a), "model.yaml");
    RC_ASSERT(again.has_value());
    RC_ASSERT(to_yaml(*again) == to_yaml(a));
    RC_ASSERT(again->layers == a.layers);
    for (std::size_t i = 0; i < a.specs.size(); ++i) {
      RC_ASSERT(again->specs[i].mixers == a.specs[i].mixers);
      RC_ASSERT(again->specs[i].ffn == a.specs[i].ffn);
    }
    RC_ASSERT(count_params(*again, lower(*again)).total == count_params(a, lower(a)).total);
  });
}

TEST_CASE("property: a solved context or batch fits, and one more does not") {
  holds("solve", [] {
    const Architecture a = some_model();
    ModelQuery query = query_at(some(1, 1000), some(1, 8));
    Target target;
    target.memory.value = Bytes(some(1 << 10, 1 << 26));
    target.tensor_parallel = {1, 2, 4, 8};
    query.target = target;
    const ModelPlan plan = lower(a);
    const RuntimeRule vllm = *rule_store().runtime("vllm");
    const RuntimeRule* runtime = maybe() ? &vllm : nullptr;
    for (const SolveRow& row : solve_rows()) {
      const Solution s = row.solve(a, plan, query, runtime);
      if (s.value > 0) RC_ASSERT(s.at_value.fits());
      if (!s.at_limit && (row.id != "min-devices" || s.value > 1)) RC_ASSERT(!s.one_more.fits());
    }
  });
}

}  // namespace
}  // namespace mha::testing
