// What users of other calculators reported, one test a report: its number is the row of tests/data/field_notes.yaml, which
// names the thread and what it obliges this project to do. docs/accuracy.md shows the table.
#include <doctest/doctest.h>

#include "mha/model_readers.hpp"
#include "mha/request.hpp"

#include "support/layouts.hpp"
#include "support/models.hpp"

namespace mha::testing {
namespace {

Architecture config(const std::string& name) {
  Expected<Architecture> model = read_model(MHA_SOURCE_DIR "/tests/data/configs/" + name + ".json", rule_store());
  if (!model) FAIL(to_string(model.error()[0]));
  return *std::move(model);
}

RankCache on_rank(const Architecture& model, std::int64_t n_ctx, Parallel parallel) {
  return cache_per_rank(model, lower(model), cache_format("bf16"), n_ctx, parallel);
}

i128 flops(const Architecture& model, Step step, const char* rule = "causal") {
  return count_flops(model, lower(model), *find_flop_rule(rule), step).total.value();
}

// What a calculator with one formula says: 2 layers heads d_model / n_heads, every layer, full length.
i128 naive_cache(const Architecture& model, std::int64_t n_heads, std::int64_t n_ctx) {
  return i128{2} * model.n_layers() * n_heads * (model.d_model / n_heads) * 2 * n_ctx;
}

const char* const kOneGrouped =
    "  full:\n    attention: {n_heads: 8, n_kv_heads: 2, d_head: 16}\n    feed_forward: {d_ff: 128, gated: true}\n";

TEST_CASE("field note 1: traffic follows n_kv_heads, and fusing never reads more") {
  const ModelShape shape{4096, 32, 14336, 128256, false, true, NormKind::rms};
  const auto read = [&](std::int64_t n_kv) {
    return compute_cost(shape, lower(grouped(32, n_kv, 128), 4096), workload(8192, 1), round_target())
        .decode.traffic.cache_read;
  };
  CHECK(read(8) * 4 == read(32));
  CHECK(read(1) * 32 == read(32));
}

TEST_CASE("field note 2: bytes a token use n_kv_heads, not n_heads times the model width") {
  CHECK(bytes_per_token(catalogue("llama-3-70b")) == 2 * 80 * 8 * 128 * 2);
}

TEST_CASE("field note 3: key and value widths are separate") {
  const Architecture model =
      from_yaml(model_yaml("  full:\n    attention: {n_heads: 4, n_kv_heads: 2, d_head: 192, d_value: 128}\n"));
  CHECK(bytes_per_token(model) == 2 * 192 * 2 + 2 * 128 * 2);
  CHECK(bytes_per_token(model, "q8_0/f16") == 2 * 192 / 32 * 34 + 2 * 128 * 2);
}

TEST_CASE("field note 4: d_head is never derived when it is given, and the difference is flagged") {
  const Architecture model = catalogue("qwen3-4b");  // 32 heads of 128 on d_model 2560
  CHECK(bytes_per_token(model) == 2 * 36 * 8 * 128 * 2);
  CHECK(finds(audit(model, query_at(4096), audit_rules()), "decoupled-head-width"));
  CHECK_FALSE(finds(audit(catalogue("llama-3-8b"), query_at(4096), audit_rules()), "decoupled-head-width"));
}

TEST_CASE("field note 5: the same model in two spellings ranks its alternatives alike") {
  const Architecture first = config("qwen3-32b");
  const Architecture second = from_yaml(to_yaml(first));
  const Audit a = audit(first, query_at(32768), audit_rules()), b = audit(second, query_at(32768), audit_rules());
  REQUIRE(a.alternatives.size() == b.alternatives.size());
  REQUIRE(a.alternatives.size() > 3);
  for (std::size_t i = 0; i < a.alternatives.size(); ++i) {
    CHECK(a.alternatives[i].notation == b.alternatives[i].notation);
    CHECK(a.alternatives[i].cache_per_sequence == b.alternatives[i].cache_per_sequence);
    CHECK(a.alternatives[i].winner_of == b.alternatives[i].winner_of);
  }
}

TEST_CASE("field note 6: a missing head count is refused by name, never guessed") {
  const Expected<Architecture> model =
      read_config_json(R"({"hidden_size": 4096, "num_hidden_layers": 32, "vocab_size": 32000,
                           "intermediate_size": 11008, "num_key_value_heads": 8})",
                       "config.json", *rule_store().families());
  REQUIRE_FALSE(model);
  CHECK(to_string(model.error()[0]).find("num_attention_heads") != std::string::npos);
}

TEST_CASE("field note 7: Llama-3-8B holds 128 KiB a token") {
  CHECK(bytes_per_token(config("llama-3-8b")) == 131'072);
}

TEST_CASE("field note 8: the cost of a runtime that expands KV heads is a line of its own") {
  const Audit a = audit(catalogue("llama-3-70b"), query_at(8192), audit_rules());
  CHECK(a.expanded_per_sequence == a.cache.per_sequence * 8);
  CHECK(finds(a, "expanded-by-runtime"));
}

TEST_CASE("field note 9: KV heads that differ from the heads are refused with a latent cache") {
  const Expected<Architecture> model = read_model_yaml(
      model_yaml("  full:\n    attention: {n_heads: 8, n_kv_heads: 2, d_kv_latent: 32, d_nope: 8, d_rope: 4, d_value: "
                 "8}\n"),
      "model.yaml");
  REQUIRE_FALSE(model);
  CHECK(model.error()[0].code == "mla-kv-heads");
  CHECK(model.error()[0].where.line > 0);
}

TEST_CASE("field note 10: latent and expanded figures stand side by side") {
  const Audit a = audit(catalogue("deepseek-v3"), query_at(32768), audit_rules());
  CHECK(a.cache.per_sequence == Bytes(i128{70'272} * 32768));
  CHECK(a.expanded_per_sequence == Bytes(i128{61} * 128 * (192 + 128) * 2 * 32768));
}

TEST_CASE("field note 11: a latent is cached once, not as key and value") {
  CHECK(bytes_per_token(catalogue("deepseek-v3")) == 61 * 576 * 2);
}

TEST_CASE("field note 12: sparse MLA keeps an index key for every token") {
  // DeepSeek-V3.2: 656 + 132 bytes a token and layer in the packed fp8 cache.
  CHECK(bytes_per_token(config("deepseek-v3.2"), "fp8_ds_mla") == 61 * 788);
  CHECK(bytes_per_token(config("deepseek-v3.2")) == 61 * (576 + 128) * 2);
}

TEST_CASE("field note 13: a cache compressed along the tokens is a layout of its own") {
  // 30 layers at ratio 4 with a 128-wide index key, 31 at ratio 128, windows of 128 in each: 9.6 KiB a token and 7.6 MiB.
  const Architecture model = from_yaml(model_yaml(
      "  four:\n    attention: {n_heads: 128, n_kv_heads: 1, d_head: 512, compression: {ratio: 4, window: 128}, "
      "indexer: {n_heads: 64, d_head: 128, top_k: 512}}\n"
      "  many:\n    attention: {n_heads: 128, n_kv_heads: 1, d_head: 512, compression: {ratio: 128, window: 128}}\n",
      61, "pattern: [many, four*30, many*30]\n"));
  const ModelCache cache = cache_at(model, 1 << 20);
  CHECK(cache.slope_tokens == 128);
  CHECK(cache.slope == Bytes(30 * 32 * (512 + 128) * 2 + 31 * 512 * 2));
  CHECK(cache.bytes_per_token() == doctest::Approx(9848));
  CHECK(cache.fixed == Bytes(61 * 128 * 512 * 2));
  ModelFormats with_compressor = cache_format("bf16");
  with_compressor.pending =
      true;  // what the compressor holds of tokens that are not pooled yet: more of the fixed part
  const ModelCache whole = cache_of(model, lower(model), with_compressor, 1 << 20);
  CHECK(whole.slope == cache.slope);
  CHECK(whole.fixed > cache.fixed);
}

TEST_CASE("field note 14: packed slots are byte-exact") {
  CHECK(find_format("fp8_tile128")->row_bytes(512) + find_format("bf16")->row_bytes(64) == Bytes(656));
  CHECK(find_format("fp8_tile128")->row_bytes(128) == Bytes(132));
  CHECK(find_format("fp8_v4_entry")->row_bytes(512) == Bytes(584));
  CHECK(bytes_per_token(catalogue("deepseek-v3"), "fp8_ds_mla") == 40'016);
}

TEST_CASE("field note 15: a latent is seen by its fields, under any model type") {
  const Architecture model = config("unknown-mla");
  const auto& attention = std::get<Attention>(model.specs.front().mixers.front());
  CHECK(attention.layout.variant->id == "mla");
}

TEST_CASE("field note 16: only the layers that hold keys are billed") {
  const Architecture model = config("kimi-k3");
  CHECK(model.n_layers() == 93);
  std::int64_t holding = 0;
  for (const std::int32_t owner : model.kv_owner) holding += owner >= 0 ? 1 : 0;
  CHECK(holding == 24);
  CHECK(cache_at(model, 1).growing_elements == Elements(24 * 576));
}

TEST_CASE("field note 17: a latent is whole on every tensor-parallel rank") {
  const Architecture model = catalogue("deepseek-v3");
  for (const std::int64_t tp : {1, 2, 8, 16}) {
    CHECK(on_rank(model, 4096, {tp, 1, 1}).per_sequence == cache_at(model, 4096).per_sequence);
    CHECK(on_rank(model, 4096, {tp, 1, 1}).split == Bytes(0));
  }
}

TEST_CASE("field note 18: decode-context parallelism cuts the tokens, and divides the tensor-parallel group") {
  const Architecture model = catalogue("deepseek-v3");
  CHECK(on_rank(model, 4096, {8, 1, 8}).per_sequence == Bytes(i128{70'272} * 512));
  CHECK_FALSE(check_parallel(model, {8, 1, 3}).empty());
  CHECK(check_parallel(model, {8, 1, 4}).empty());
}

TEST_CASE("field note 19: windows, states and index keys are not cut with the tokens") {
  const Architecture model = config("deepseek-v3.2");
  const RankCache rank = on_rank(model, 8192, {8, 1, 2});
  CHECK(rank.per_sequence == Bytes(i128{61} * 2 * (576 * 4096 + 128 * 8192)));
  CHECK(rank.replicated == Bytes(i128{61} * 2 * 128 * 8192));
  const Architecture windowed = catalogue("gemma-3-27b");
  const RankCache half = on_rank(windowed, 131072, {2, 1, 2});
  // 8 KV heads a rank: 52 windows of 1024 stay whole, 10 full layers are cut in two.
  CHECK(half.per_sequence == Bytes(i128{2} * 8 * 128 * 2 * (52 * 1024 + 10 * 65536)));
}

TEST_CASE("field note 20: absorbed and expanded are both priced, the cheaper is picked by phase") {
  const Architecture model = catalogue("deepseek-v3");
  const ModelFlops prefill = count_flops(model, lower(model), *find_flop_rule("causal"), Step{0, 4096});
  const ModelFlops decode = count_flops(model, lower(model), *find_flop_rule("causal"), Step{4095, 1});
  CHECK(prefill.lines[0].name.find("(expanded)") != std::string::npos);
  CHECK(decode.lines[0].name.find("(absorbed)") != std::string::npos);
}

TEST_CASE("field note 23: KV heads, widths and windows belong to each layer") {
  const Architecture model = config("gemma-4-31b");  // 50 windows of 1024, 16 KV x 256; 10 full, 4 KV x 512
  const ModelCache cache = cache_at(model, 262144);
  CHECK(cache.growing_elements == Elements(2 * 10 * 4 * 512));
  CHECK(cache.fixed == Bytes(i128{50} * 1024 * 2 * 16 * 256 * 2));
}

TEST_CASE("field note 24: whether a runtime honours windows is its own property") {
  // Gemma-3-27B at 128k: 62 layers at full length in ik_llama.cpp (logged 63,488 MiB), 52 of them capped elsewhere.
  const Architecture model = catalogue("gemma-3-27b");
  CHECK(allocation_of(model, "ik-llama-cpp", 131072).total == Bytes(i128{63'488} << 20));
  CHECK(allocation_of(model, "llama-cpp", 131072).total < allocation_of(model, "ik-llama-cpp", 131072).total);
}

TEST_CASE("field note 25: what ignoring a window costs depends on the context") {
  const Architecture model = catalogue("gemma-3-27b");
  const auto ratio = [&](std::int64_t n) {
    const Audit a = audit(model, query_at(n), audit_rules());
    return a.full_length_per_sequence.as_double() / a.cache.per_sequence.as_double();
  };
  CHECK(ratio(1024) == 1.0);
  CHECK(ratio(4096) < ratio(131072));
  CHECK(ratio(131072) > 5);
}

TEST_CASE("field note 26: the two caches of a windowed model add up to the total") {
  const ModelCache cache = cache_at(catalogue("gemma-3-27b"), 131072);
  Bytes sum;
  for (const CacheLine& line : cache.lines) sum += line.total;
  CHECK(cache.lines.size() == 4);
  CHECK(sum == cache.per_sequence);
}

TEST_CASE("field note 27: windowed layers count, up to their window and no further") {
  const Architecture model = catalogue("gpt-oss-20b");
  CHECK(cache_at(model, 64).per_sequence == Bytes(24 * 2 * 8 * 64 * 2 * 64));
  CHECK(cache_at(model, 4096).per_sequence == Bytes(12 * 2048 * 4096 + 12 * 2048 * 128));
}

TEST_CASE("field note 28: payload, reserved and worst case are three numbers") {
  const Audit a = audit(catalogue("gpt-oss-20b"), query_at(8192), audit_rules({"vllm"}));
  CHECK(a.cache.per_sequence < a.allocations[0].total);
  CHECK(a.allocations[0].total <= a.full_length_per_sequence + Bytes(24 * 2048 * 16));
}

TEST_CASE("field note 29: one formula for all is off by these factors") {
  const Architecture gemma = catalogue("gemma-3-27b"), mla = catalogue("deepseek-v3"), qwen = catalogue("qwen3-0.6b");
  const auto factor = [](const Architecture& model, std::int64_t n_heads) {
    return static_cast<double>(naive_cache(model, n_heads, 32768)) / cache_at(model, 32768).per_sequence.as_double();
  };
  CHECK(factor(gemma, 32) > 6);
  CHECK(factor(mla, 128) > 20);
  CHECK(factor(qwen, 16) == 1.0 / 2 * 2);  // n_kv_heads 8 of 128 against 16 of 64: right by accident
}

TEST_CASE("field note 30: layers that share keep no cache, and name their owner") {
  const Architecture model = config("gemma-3n-e4b");
  std::int64_t shared = 0;
  for (std::size_t i = 0; i < model.kv_owner.size(); ++i) {
    if (model.kv_owner[i] != static_cast<std::int32_t>(i)) ++shared;
  }
  CHECK(shared == 15);
  CHECK(finds(audit(model, query_at(8192), audit_rules()), "shared-kv"));
}

TEST_CASE("field note 31: a full layer every fourth is read from the interval") {
  const Architecture model = config("qwen3.5-27b");
  CHECK(layer_pattern(model) == "16 x (3 linear, 1 full)");
  CHECK(cache_at(model, 1).growing_elements == Elements(2 * 16 * 4 * 256));
}

TEST_CASE("field note 33: engine log lines are the test data") {
  // llama.cpp printed 27.00 MiB for Gemma-3-270M at 4096 cells: 3 full layers and 15 windows of 512 + 512.
  const Architecture model =
      from_yaml(model_yaml("  window:\n    attention: {n_heads: 4, n_kv_heads: 1, d_head: 256, window: 512}\n"
                           "  full:\n    attention: {n_heads: 4, n_kv_heads: 1, d_head: 256}\n",
                           18, "pattern: [window*5, full]\n"));
  CHECK(allocation_of(model, "llama-cpp", 4096).total == Bytes(27 << 20));
}

TEST_CASE("field note 34: what an allocator wastes is shown") {
  const Allocation full = allocation_of(catalogue("gemma-2-27b"), "ik-llama-cpp", 8192);
  CHECK(full.total.as_double() / full.payload.as_double() == doctest::Approx(4.0 / 3));
}

TEST_CASE("field note 35: states that force large blocks are warned of") {
  const Audit a = audit(config("qwen3.5-27b"), query_at(32768), audit_rules({"vllm"}));
  CHECK(finds(a, "big-blocks"));
  CHECK_FALSE(finds(audit(catalogue("llama-3-8b"), query_at(8192), audit_rules({"vllm"})), "big-blocks"));
}

TEST_CASE("field note 36: slope and fixed part give every length, one ratio does not") {
  for (const char* id : {"gpt-oss-20b", "gemma-3-27b", "llama-3-8b"}) {
    const Architecture model = catalogue(id);
    const ModelCache cache = cache_at(model, 8192);
    for (const std::int64_t n : {4096, 8192, 65536})
      CHECK(cache_at(model, n).per_sequence == cache.slope * n + cache.fixed);
  }
}

TEST_CASE("field note 37: tokens times bytes a token fill the pool, less than a block short") {
  const Bytes pool(i128{10} << 30), token(bytes_per_token(catalogue("llama-3-8b")));
  const std::int64_t tokens = tokens_in(pool, token, 16);
  CHECK(tokens % 16 == 0);
  CHECK(token * tokens <= pool);
  CHECK(token * (tokens + 16) > pool);
}

TEST_CASE("field note 38: a state has a format of its own") {
  // Qwen3.5-27B: 48 layers of 48 x 128 x 128 in f32, whatever the cache's format.
  for (const char* format : {"bf16", "fp8"}) {
    Bytes states;
    for (const CacheLine& line : cache_at(config("qwen3.5-27b"), 4096, format).lines)
      states += line.component.role == CacheRole::state ? line.total : Bytes();
    CHECK(states == Bytes(i128{48} * 48 * 128 * 128 * 4));
  }
}

TEST_CASE("field note 39: states are a fixed term for each sequence") {
  const Architecture model = config("nemotron-3-nano-30b-a3b");
  const ModelCache cache = cache_at(model, 4096);
  CHECK(cache.growing_elements == Elements(3072));  // 6 layers of 2 KV heads of 128
  CHECK(cache.fixed > Bytes(0));
  CHECK(cache_at(model, 8192).fixed == cache.fixed);
}

TEST_CASE("field note 40: states are kept for linear layers alone") {
  std::int64_t layers = 0;
  for (const CacheLine& line : cache_at(config("qwen3.5-27b"), 4096).lines)
    layers += line.component.role == CacheRole::state ? line.n_layers : 0;
  CHECK(layers == 48);
}

TEST_CASE("field note 41: a draft layer is one more layer of cache when it drafts") {
  const Architecture model = catalogue("mimo-7b");
  ModelQuery query = query_at(4096);
  const Audit without = audit(model, query, audit_rules());
  query.draft_layers = true;
  const Audit with = audit(model, query, audit_rules());
  CHECK(with.cache.per_sequence == without.cache.per_sequence + without.draft_per_sequence);
  CHECK(without.draft_per_sequence * 36 == without.cache.per_sequence);
  CHECK(finds(without, "draft-layers"));
}

TEST_CASE("field note 42: several draft layers count as many") {
  Architecture model = catalogue("mimo-7b");
  model.mtp.n_layers = 3;
  const Audit a = audit(model, query_at(4096), audit_rules());
  CHECK(a.draft_per_sequence * 12 == a.cache.per_sequence);
}

TEST_CASE("field note 43: legal tensor-parallel degrees are listed") {
  const auto legal = [](const char* id) { return legal_tensor_parallel(catalogue(id), 8); };
  CHECK(legal("llama-3-8b") == std::vector<std::int64_t>{1, 2, 4, 8});
  CHECK(legal("qwen2.5-7b") == std::vector<std::int64_t>{1, 2, 4});  // 28 heads, 4 KV heads
}

TEST_CASE("field note 44: heads that a degree does not divide are warned of") {
  CHECK(finds(audit(catalogue("qwen2.5-7b"), query_at(4096), audit_rules()), "tensor-parallel-illegal"));
  CHECK_FALSE(finds(audit(catalogue("llama-3-8b"), query_at(4096), audit_rules()), "tensor-parallel-illegal"));
}

TEST_CASE("field note 45: an illegal degree says why, and what is legal") {
  const Diagnostics problems = check_parallel(catalogue("qwen2.5-7b"), {8, 1, 1});
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].what.find("28 heads and 4 KV heads") != std::string::npos);
  CHECK(problems[0].hint.find("1, 2, 4") != std::string::npos);
}

TEST_CASE("field note 46: more ranks than KV heads replicate them") {
  CHECK(check_parallel(catalogue("qwen3-235b-a22b"), {8, 1, 1}).empty());
}

TEST_CASE("field note 47: 7 ranks share 28 heads, but not 4 KV heads") {
  CHECK_FALSE(check_parallel(catalogue("qwen2.5-7b"), {7, 1, 1}).empty());
}

TEST_CASE("field note 48: a rank holds at least one KV head") {
  const Audit a = audit(catalogue("qwen3-235b-a22b"), query_at(4096), audit_rules());
  for (const RankRow& row : a.ranks) {
    if (row.tensor_parallel == 4) CHECK(row.per_sequence * 4 == a.cache.per_sequence);
    if (row.tensor_parallel == 8) {
      CHECK(row.per_sequence * 4 == a.cache.per_sequence);
      CHECK(row.replication == 2);
    }
  }
}

TEST_CASE("field note 49: a rank and the whole are two columns") {
  const Audit a = audit(catalogue("llama-3-70b"), query_at(4096), audit_rules());
  for (const RankRow& row : a.ranks) {
    if (row.tensor_parallel == 8) CHECK(row.per_sequence * 8 == a.cache.per_sequence);
  }
}

TEST_CASE("field note 52: copies of the model multiply sequences, not the room for one") {
  // There is no data-parallel degree to divide by: the parallel degrees that a query has are these three.
  const Architecture model = catalogue("llama-3-8b");
  CHECK(on_rank(model, 4096, {1, 1, 1}).per_sequence == cache_at(model, 4096).per_sequence);
}

TEST_CASE("field note 53: KV heads that do not divide the heads are refused") {
  const Expected<Architecture> model =
      read_model_yaml(model_yaml("  full:\n    attention: {n_heads: 12, n_kv_heads: 5, d_head: 16}\n"), "model.yaml");
  REQUIRE_FALSE(model);
  CHECK(model.error()[0].code == "kv-heads-divide");
}

TEST_CASE("field note 54: the most loaded pipeline stage counts, not the mean") {
  const Architecture model = catalogue("gemma-3-1b");  // 26 layers, every sixth full
  const RankCache most = on_rank(model, 32768, {1, 4, 1});
  CHECK(most.per_sequence * 4 > cache_at(model, 32768).per_sequence);
  const RankCache uneven = on_rank(catalogue("llama-3-8b"), 4096, {1, 3, 1});  // 11, 11 and 10 layers
  CHECK(uneven.n_layers == 11);
  CHECK(uneven.per_sequence == Bytes(i128{11} * 4096 * 4096));
}

TEST_CASE("field note 67: FLOPs bend upwards with the length") {
  const Architecture model = catalogue("llama-3-8b");
  const i128 one = flops(model, {0, 1024}), two = flops(model, {0, 2048}), three = flops(model, {0, 3072});
  CHECK(three - two > two - one);
}

TEST_CASE("field note 69: causal and full counts are both there, with their names") {
  const Architecture model = catalogue("llama-3-8b");
  const i128 causal = flops(model, {0, 4096}, "causal"), square = flops(model, {0, 4096}, "square");
  // 32 layers * 2 products * 2 FLOPs * 4096 wide * (S^2 - S (S + 1) / 2) pairs
  CHECK(square - causal == i128{32} * 2 * 2 * 4096 * (4096 * 4095 / 2));
}

TEST_CASE("field note 70: windows, grouped heads and gates count layer by layer") {
  const Architecture plain = from_yaml(model_yaml(kOneGrouped));
  Architecture windowed = plain, ungated = plain;
  std::get<Attention>(windowed.specs[0].mixers[0]).span = {Span::Kind::window, 16};
  ungated.specs[0].ffn.gated = false;
  CHECK(flops(windowed, {0, 256}) < flops(plain, {0, 256}));
  CHECK(flops(windowed, {0, 16}) == flops(plain, {0, 16}));
  CHECK(flops(plain, {0, 1}) - flops(ungated, {0, 1}) == 2 * 64 * 128);
}

TEST_CASE("field note 71: a chunk behind a prefix pays for the prefix, and an indexer scores all of it") {
  const Architecture dense = catalogue("llama-3-8b");
  CHECK(flops(dense, {0, 4096}) + flops(dense, {4096, 4096}) == flops(dense, {0, 8192}));
  CHECK(flops(dense, {4096, 4096}) > flops(dense, {0, 4096}));
  const Architecture model = config("deepseek-v3.2");
  const ModelPlan plan = lower(model);
  const auto index = [&](std::int64_t n) {
    i128 sum = 0;
    for (const FlopLine& line : count_flops(model, plan, *find_flop_rule("causal"), Step{n - 1, 1}).lines)
      sum += line.name.find("indexer, over") != std::string::npos ? line.value.value() : 0;
    return sum;
  };
  // 64 heads: a product of 128 each, and one with the head's weight.
  CHECK(index(524288) == i128{61} * 2 * 64 * (128 + 1) * 524288);
  CHECK(index(524288) == 128 * index(4096));
}

TEST_CASE("field note 72: gates, QK norms and delta layers have parameters and FLOPs") {
  const Architecture plain = from_yaml(model_yaml(kOneGrouped));
  Architecture gated = plain, normed = plain;
  std::get<Attention>(gated.specs[0].mixers[0]).output_gate = true;
  std::get<Attention>(normed.specs[0].mixers[0]).qk_norm = QkNorm::full;
  const auto total = [](const Architecture& model) { return count_params(model, lower(model)).total.value(); };
  CHECK(total(gated) - total(plain) == 64 * 8 * 16);
  CHECK(flops(gated, {0, 1}) - flops(plain, {0, 1}) == 2 * 64 * 8 * 16);
  CHECK(total(normed) - total(plain) == 8 * 16 + 2 * 16);
  CHECK(flops(normed, {0, 1}) == flops(plain, {0, 1}));
  const Architecture delta = from_yaml(
      model_yaml("  linear:\n    linear: {kind: gated-delta-net, n_heads: 4, n_key_heads: 2, d_key: 8, d_value: 8, "
                 "d_conv: 4}\n"));
  CHECK(flops(delta, {0, 2}) == 2 * flops(delta, {0, 1}));
}

TEST_CASE("field note 73: tying changes parameters, never FLOPs") {
  Architecture tied = catalogue("llama-3-8b");
  const Architecture untied = tied;
  tied.tied_embeddings = true;
  CHECK(flops(tied, {0, 128}) == flops(untied, {0, 128}));
  CHECK(count_params(untied, lower(untied)).total - count_params(tied, lower(tied)).total ==
        Params(i128{128256} * 4096));
}

TEST_CASE("field note 74: total, active and resident are three figures") {
  const Architecture model = catalogue("deepseek-v3");
  const ModelParams params = count_params(model, lower(model));
  CHECK(params.active < params.total);
  CHECK(params.total < params.resident);
}

TEST_CASE("field note 75: parameters are itemised, the output head a line of its own") {
  const Architecture model = catalogue("llama-3-8b");
  const ModelParams params = count_params(model, lower(model));
  Params sum;
  bool head = false;
  for (const ComponentParams& c : params.components) {
    sum += c.total;
    head = head || c.component == Component::lm_head;
  }
  CHECK(head);
  CHECK(sum == params.total);
}

TEST_CASE("field note 76: a tied table lies on the first and last stage, yet counts once") {
  Architecture model = catalogue("qwen3-4b");  // tied
  const ModelPlan plan = lower(model);
  const Params table(i128{151936} * 2560);
  const Params total = count_params(model, plan).total;
  // 36 layers in 2 stages of 18; the last also has the final norm.
  const Params layers(i128{18} * layer_params(plan.specs[0]).value());
  CHECK(params_per_rank(model, plan, {1, 2, 1}) == layers + table + Params(2560));
  CHECK(total == layers + layers + table + Params(2560));
}

}  // namespace
}  // namespace mha::testing
