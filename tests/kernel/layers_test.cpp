// Whole layers: what the reference counts against the lowering, on random layers of every kind, and the reference
// against itself.
#include <doctest/doctest.h>
#include <functional>
#include <limits>

#include "kernel/layers/attention.hpp"
#include "kernel/layers/linear/kinds.hpp"
#include "layer_compare.hpp"

using namespace mha;
using namespace mha::test;
using layers::Weight;

namespace {

constexpr Span::Kind kSpans[] = {Span::Kind::full, Span::Kind::window, Span::Kind::chunked, Span::Kind::cross,
                                 Span::Kind::encoder};

bool takes_span(std::string_view variant, Span::Kind kind) {
  return variant != "mla" || (kind != Span::Kind::cross && kind != Span::Kind::encoder);
}

bool may_share(const Attention& a) {
  return a.span.kind != Span::Kind::cross && a.span.kind != Span::Kind::encoder;
}

// One case a call, over all kinds in turn.
std::vector<std::function<LayerCase(Random&)>> generators() {
  std::vector<std::function<LayerCase(Random&)>> all;
  for (const Variant* variant : variants()) {
    if (!variant->by_default) continue;
    for (const Span::Kind kind : kSpans) {
      const std::string id(variant->id);
      if (!takes_span(id, kind)) continue;
      all.emplace_back([id, kind](Random& random) {
        Attention a = random_attention(id, kind, random);
        a.shares_kv = may_share(a) && random.between(0, 3) == 0;
        a.keeps_kv_weights = a.shares_kv && random.coin();
        return around({a}, random);
      });
    }
  }
  for (int i = 0; i < 4; ++i)
    all.emplace_back([](Random& random) { return around({random_compressed(random)}, random); });
  for (const LinearKind* kind : linear_kinds()) {
    all.emplace_back([kind](Random& random) { return around({random_linear(*kind, random)}, random); });
    all.emplace_back([kind](Random& random) {  // side by side with attention
      return around({random_attention("gqa", Span::Kind::full, random), random_linear(*kind, random)}, random);
    });
  }
  for (int i = 0; i < 3; ++i) all.emplace_back([](Random& random) { return around({}, random); });
  return all;
}

// What the random layers have to have between them.
void note_features(const LayerCase& c, std::map<std::string, int>& seen) {
  const auto note = [&](const char* feature, bool there) { seen[feature] += there ? 1 : 0; };
  const FeedForward& f = c.spec.ffn;
  note("dense", f.d_ff > 0 && f.n_experts == 0);
  note("mixture", f.n_experts > 0 && f.d_ff == 0);
  note("dense beside a mixture", f.n_experts > 0 && f.d_ff > 0);
  note("plain feed-forward", f.any() && !f.gated);
  note("sparse experts", f.top_k < f.n_experts);
  note("shared experts with a gate", f.shared_gate);
  note("experts on a latent", f.n_experts > 0 && f.d_latent > 0);
  note("router biases", f.router_bias && f.correction_bias);
  note("expert and router scale", f.expert_scale && f.router_scale > 0);
  for (int i = 0; i < 4; ++i) note(("norm kind " + std::to_string(i)).c_str(), c.norm == static_cast<NormKind>(i));
  const Attention* a = c.attention();
  if (a == nullptr) return;
  note("sinks", a->sinks);
  note("output gate", a->output_gate);
  note("head gate", a->head_gate);
  note("values tied and cached", a->tied_values && a->values_cached);
  note("values tied and not cached", a->tied_values && !a->values_cached);
  note("shared cache", a->shares_kv && !a->keeps_kv_weights);
  note("shared cache with weights", a->shares_kv && a->keeps_kv_weights);
  note("norm of each head", a->qk_norm == QkNorm::per_head);
  note("norm of all heads", a->qk_norm == QkNorm::full);
  note("norm with a shift", a->qk_norm_shift);
  note("low-rank queries", a->d_q_latent > 0);
  note("value width of its own", a->layout.d_value != a->layout.d_head);
  note("biases", a->layout.bias.q && a->layout.bias.k && a->layout.bias.v && a->layout.bias.o);
  note("window shorter than the sequence", a->span.kind == Span::Kind::window && a->span.tokens < c.n_tokens());
  note("window longer than the sequence", a->span.kind == Span::Kind::window && a->span.tokens > c.n_tokens());
  note("several chunks", a->span.kind == Span::Kind::chunked && a->span.tokens < c.n_tokens());
  note("sparse attention", a->indexer.n_heads > 0 && a->compression.ratio == 0 && a->indexer.top_k < c.n_tokens());
  note("entries picked",
       a->indexer.n_heads > 0 && a->compression.ratio > 1 && a->indexer.top_k < c.n_tokens() / a->compression.ratio);
  note("overlapping blocks", a->compression.ratio == 4 && c.n_tokens() >= 8);
  note("window only", a->compression.ratio == 1);
  note("grouped output", a->o_groups > 1);
}

LayerCase case_of(std::vector<Mixer> mixers, std::int64_t n_tokens) {
  LayerCase c;
  c.d_model = 12;
  c.spec.name = "layer";
  c.spec.mixers = std::move(mixers);
  c.spec.norms = 1;
  c.steps = {n_tokens};
  return c;
}

Attention plain_attention() {
  Attention a;
  a.layout = grouped_layout("gqa", 4, 2, 6, 6);
  return a;
}

// Outputs of one layer without feed-forward part, in one step; the weights depend on the seed and their order alone.
Vectors output(const LayerCase& c) {
  Runner runner(c, 5, false);
  return runner.step(random_vectors(c.n_tokens(), c.d_model, 6));
}

constexpr double kAgrees = 1e-10;
constexpr double kDiffers = 1e-4;

}  // namespace

TEST_CASE("every linear kind and every span and every form of attention has a counting reference") {
  CHECK(layers::linear_oracles().size() == linear_kinds().size());
  for (const LinearKind* kind : linear_kinds()) {
    CAPTURE(kind->id);
    CHECK(layers::find_linear_oracle(kind->id) != nullptr);
  }
  CHECK(layers::span_oracles().size() == std::size(kSpans));
  for (const Span::Kind kind : kSpans) CHECK(layers::span_oracle(kind).kind == kind);
  CHECK(static_cast<std::size_t>(Span::Kind::encoder) + 1 == std::size(kSpans));
  for (const Variant* variant : variants()) {
    if (!variant->by_default) continue;
    CAPTURE(variant->id);
    Attention a;
    a.layout.variant = variant;
    CHECK(layers::find_attention_oracle(a) != nullptr);
  }
}

TEST_CASE("counted equals analytic for random layers of every kind and a prefill equals its steps") {
  constexpr int kRounds = 40;
  Random random(20260101);
  int cases = 0;
  std::map<std::string, int> features;
  for (int round = 0; round < kRounds; ++round)
    for (const auto& generate : generators()) {
      const LayerCase c = generate(random);
      const auto seed = static_cast<std::uint64_t>(++cases);
      CAPTURE(cases);
      note_features(c, features);
      const Architecture architecture = c.architecture();
      const std::string yaml = to_yaml(architecture);
      CAPTURE(yaml);
      REQUIRE(check_architecture(architecture).empty());
      for (const std::string& difference : differences(c, lower(c.spec, architecture), seed)) FAIL_CHECK(difference);

      const Vectors x = random_vectors(c.n_tokens(), c.d_model, seed);
      std::optional<Vectors> first;
      for (const bool absorbed : paths_of(c)) {
        Runner whole(c, seed, absorbed), steps(c, seed, absorbed);
        const Vectors prefill = whole.step(x);
        CHECK(relative_difference(prefill, run_steps(steps, x, c.steps)) < kAgrees);
        if (first) CHECK(relative_difference(prefill, *first) < 1e-8);  // expanded and absorbed
        first = prefill;
      }
    }
  CHECK(cases >= 1000);
  for (const auto& feature : features) {
    CAPTURE(feature.first);
    CHECK(feature.second >= 8);
  }
}

TEST_CASE("a cache forgets what it has no room for") {
  layers::Cached ring(CacheRole::key, 1, 3);
  const auto push = [&](std::initializer_list<double> rows) {
    for (const double& row : rows) ring.add(&row);
  };
  push({0, 1});
  ring.settle();
  push({2, 3, 4});
  CHECK(*ring.row(0) == 0);  // rows of the running step need no room
  CHECK(*ring.row(4) == 4);
  ring.settle();
  CHECK(ring.elements() == 3);
  CHECK(ring.row(1) == nullptr);
  CHECK(*ring.row(2) == 2);
  CHECK(*ring.row(4) == 4);
  CHECK(ring.row(5) == nullptr);
}

TEST_CASE("a window or chunk as long as the sequence is full attention and a shorter one is not") {
  Attention a = plain_attention();
  const Vectors full = output(case_of({a}, 11));
  for (const Span::Kind kind : {Span::Kind::window, Span::Kind::chunked}) {
    a.span = {kind, 11};
    CHECK(relative_difference(output(case_of({a}, 11)), full) < kAgrees);
    a.span.tokens = 100;
    CHECK(relative_difference(output(case_of({a}, 11)), full) < kAgrees);
    a.span.tokens = 10;
    CHECK(relative_difference(output(case_of({a}, 11)), full) > kDiffers);
  }
}

TEST_CASE("the last token of an encoder sees what a causal token sees") {
  Attention a = plain_attention();
  const Vectors causal = output(case_of({a}, 7));
  a.span.kind = Span::Kind::encoder;
  const Vectors both = output(case_of({a}, 7));
  CHECK(relative_difference(rows_between(both, 6, 1), rows_between(causal, 6, 1)) < kAgrees);
  CHECK(relative_difference(both, causal) > kDiffers);
}

TEST_CASE("an indexer that may pick everything changes nothing and one that may not does") {
  Attention a = plain_attention();
  const Vectors dense = output(case_of({a}, 9));
  a.indexer = {2, 4, 9};
  CHECK(relative_difference(output(case_of({a}, 9)), dense) < kAgrees);
  a.indexer.top_k = 4;
  const Vectors sparse = output(case_of({a}, 9));
  CHECK(relative_difference(rows_between(sparse, 0, 4), rows_between(dense, 0, 4)) < kAgrees);
  CHECK(relative_difference(sparse, dense) > kDiffers);
}

TEST_CASE("a sink takes its share of the probabilities") {
  // One token sees itself alone: without a sink its probability is 1, with a sink e^s / (e^s + e^sink).
  Attention a = plain_attention();
  const LayerCase plain = case_of({a}, 1);
  a.sinks = true;
  CHECK(relative_difference(output(case_of({a}, 1)), output(plain)) > kDiffers);
}

TEST_CASE("compression of ratio 1 is windowed attention with one row as key and value") {
  Attention c;
  c.layout = grouped_layout("mqa", 4, 1, 6, 6);
  c.compression = {1, 5};
  Attention w;
  w.layout = c.layout;
  w.layout.qk_norm = true;
  w.span = {Span::Kind::window, 5};
  w.qk_norm = QkNorm::per_head;
  w.tied_values = true;
  w.values_cached = false;
  Runner compressed(case_of({c}, 13), 5, false), windowed(case_of({w}, 13), 5, false);
  layers::Weights &from = compressed.layer.mixer_weights(0), &to = windowed.layer.mixer_weights(0);
  to["q"].value = from["q"].value;
  to["k"].value = from["kv"].value;
  to["k_norm"].value = from["kv_norm"].value;
  to["q_norm"].value.assign(6, 1.0);  // DeepSeek-V4 norms its queries without a scale
  to["o"].value = from["o"].value;
  const Vectors x = random_vectors(13, 12, 6);
  CHECK(relative_difference(compressed.step(x), windowed.step(x)) < kAgrees);
}

TEST_CASE("a layer that shares a cache reads the rows of its owner") {
  // With its owner's weights, a reader computes what its owner does; the window is shorter than a step.
  for (const Span span : {Span{}, Span{Span::Kind::window, 3}}) {
    Attention a = plain_attention();
    a.span = span;
    a.shares_kv = true;
    LayerCase sharing = case_of({a}, 10);
    sharing.owner = owner_of(sharing.spec);
    sharing.norm = NormKind::none;
    sharing.steps = {4, 1, 5};
    Runner reader(sharing, 5, false);
    for (const char* name : {"q", "o"})
      reader.layer.mixer_weights(0)[name].value = reader.owner->mixer_weights(0)[name].value;
    const Vectors x = random_vectors(10, 12, 6);
    CHECK(reader.layer.mixer_weights(0).find("k") == nullptr);
    const Vectors read = run_steps(reader, x, sharing.steps);
    layers::LayerState state = reader.owner->start();
    CHECK(relative_difference(read, reader.owner->forward(x, state, {})) < kAgrees);
    CHECK(reader.state.elements().empty());
  }
}

TEST_CASE("a mixture of all its experts is a sum and a wide one of one expert is dense") {
  LayerCase c = case_of({}, 6);
  c.norm = NormKind::none;
  c.spec.ffn.gated = true;
  c.spec.ffn.n_experts = c.spec.ffn.top_k = 3;
  c.spec.ffn.d_ff_expert = 4;
  Runner mixture(c, 5, false);
  // Equal scores: each expert has a third. Side by side the three are one network whose output is three times as large.
  layers::Weights& from = mixture.layer.ffn_weights();
  from["router"].value.assign(from["router"].value.size(), 0.0);
  LayerCase d = case_of({}, 6);
  d.norm = NormKind::none;
  d.spec.ffn.d_ff = 12;
  Runner dense(d, 5, false);
  layers::Weights& to = dense.layer.ffn_weights();
  for (std::int64_t e = 0; e < 3; ++e) {
    const std::string prefix = "expert." + std::to_string(e) + ".";
    for (std::int64_t i = 0; i < 12; ++i)
      for (std::int64_t j = 0; j < 4; ++j) {
        const auto expert_in = static_cast<std::size_t>(i * 4 + j),
                   dense_in = static_cast<std::size_t>(i * 12 + e * 4 + j);
        to["up"].value[dense_in] = from[prefix + "up"].value[expert_in];
        to["gate"].value[dense_in] = from[prefix + "gate"].value[expert_in];
        to["down"].value[static_cast<std::size_t>((e * 4 + j) * 12 + i)] =
            from[prefix + "down"].value[static_cast<std::size_t>(j * 12 + i)] / 3.0;
      }
  }
  const Vectors x = random_vectors(6, 12, 6);
  CHECK(relative_difference(mixture.step(x), dense.step(x)) < kAgrees);
}

TEST_CASE("the delta rule stores a value that its key reads back") {
  LinearMixer m;
  m.d_key = 2;
  m.d_value = 3;
  const double k[] = {0.6, 0.8}, across[] = {0.8, -0.6}, v[] = {1, 2, 3}, old[] = {7, 8, 9};
  std::vector<double> state(6);
  std::int64_t products = 0;
  const auto write = [&](const double* key, const double* value, const double* query) {
    std::vector<double> y(3);
    layers::linear::delta_rule(m, {query, key, value, 1.0, state.data()}, y.data(), products);
    return y;
  };
  static_cast<void>(write(k, old, k));
  const std::vector<double> read = write(k, v, k);  // replaces what k stood for
  for (std::size_t i = 0; i < 3; ++i) CHECK(read[i] == doctest::Approx(v[i]));
  const std::vector<double> kept = write(across, old, k);  // a key at right angles leaves it alone
  for (std::size_t i = 0; i < 3; ++i) CHECK(kept[i] == doctest::Approx(v[i]));
  CHECK(products == 3 * 3 * 2 * 3);  // three times read, write and read again, 2 * 3 each
}

TEST_CASE("a causal convolution weighs the last inputs and remembers them") {
  LinearMixer m;
  m.d_conv = 3;
  layers::Weights weights(1);
  weights.matrix("conv", 3, 1);
  weights["conv"].value = {1, 10, 100};  // the newest input has the last tap
  layers::MixerState state;
  layers::linear::start_convolution(m, 1, state);
  layers::Count count;
  Vectors x(2, 1), next(1, 1);
  x.value = {1, 2};
  next.value = {3};
  CHECK(layers::linear::convolve(m, weights, x, state, count).value == std::vector<double>{100, 210});
  CHECK(layers::linear::convolve(m, weights, next, state, count).value == std::vector<double>{321});
  CHECK(state.state("conv") == std::vector<double>{2, 3});
  CHECK(count.of(Product::weights) == 9);
}

TEST_CASE("a compressor without gates pools the mean of its block and at ratio 4 of the block before") {
  for (const std::int64_t ratio : {3, 4}) {
    const layers::Compressor c{"entries", ratio, 2, CacheRole::entry};
    const std::int64_t halves = ratio == 4 ? 2 : 1;
    layers::Weights weights(1);
    layers::draw_compressor(c, 2 * halves, weights);
    for (const char* name : {"entries.gate", "entries.positions"})
      weights[name].value.assign(weights[name].value.size(), 0.0);
    weights["entries.norm"].value = {1, 1};
    Weight& kv = weights["entries.kv"];  // the identity: a token is its own row of values
    for (std::int64_t i = 0; i < kv.rows; ++i)
      for (std::int64_t j = 0; j < kv.cols; ++j) kv.value[static_cast<std::size_t>(i * kv.cols + j)] = i == j ? 1 : 0;
    layers::MixerState state;
    layers::start_compressor(c, state);
    layers::Count count;
    const Vectors x = random_vectors(2 * ratio, 2 * halves, 3);
    layers::compress(c, x, weights, state, count);
    REQUIRE(state.rows("entries").added() == 2);
    Vectors mean(1, 2);
    for (std::int64_t t = ratio; t < 2 * ratio; ++t)
      for (std::int64_t i = 0; i < 2; ++i) {
        *mean.at(0, i) += *x.at(t, (halves - 1) * 2 + i);        // own block, last half
        if (halves == 2) *mean.at(0, i) += *x.at(t - ratio, i);  // block before, first half
      }
    for (double& value : mean.value) value /= static_cast<double>(halves * ratio);
    layers::rms_norm(mean, nullptr);
    for (std::int64_t i = 0; i < 2; ++i) CHECK(state.rows("entries").row(1)[i] == doctest::Approx(*mean.at(0, i)));
  }
}

TEST_CASE("lightning attention is a decayed sum over the tokens before") {
  // y_t = sum over j <= t of decay^(t - j) (q_t . k_j) v_j: the recurrence without a state, from its own projections.
  LinearMixer m;
  m.kind = find_linear_kind("lightning");
  m.n_heads = m.n_key_heads = 1;
  m.d_key = 3;
  m.d_value = 2;
  const layers::LinearOracle& own = *layers::find_linear_oracle("lightning");
  layers::Weights weights(3);
  own.draw(m, 8, weights);
  layers::MixerState state;
  own.start(m, state);
  layers::Count count, other;
  const Vectors x = random_vectors(6, 8, 4);
  const Vectors y = own.forward(m, weights, x, state, count);

  Vectors qkv = layers::project(x, weights, "qkv", other.of(Product::weights));
  layers::apply(layers::silu, qkv);
  Vectors sums(6, 2);
  const double decay = std::exp(-std::exp2(-8.0));
  for (std::int64_t t = 0; t < 6; ++t)
    for (std::int64_t j = 0; j <= t; ++j) {
      const double score = layers::dot(qkv.at(t), qkv.at(j, 3), 3, other.of(Product::scores));
      layers::add_scaled(std::pow(decay, static_cast<double>(t - j)) * score, qkv.at(j, 6), 2, sums.at(t),
                         other.of(Product::values));
    }
  layers::rms_norm(sums, weights.find("norm"));
  Vectors gate = layers::project(x, weights, "gate", other.of(Product::weights));
  layers::apply(layers::sigmoid, gate);
  layers::multiply(gate, sums);
  CHECK(relative_difference(y, layers::project(sums, weights, "o", other.of(Product::weights))) < kAgrees);
}

TEST_CASE("counts of a layer small enough to count by hand") {
  // d_model 3, 2 heads of 2 over one key-value head, window 2, one sink a head; 3 tokens: 1 + 2 + 2 pairs.
  Attention a;
  a.layout = grouped_layout("mqa", 2, 1, 2, 2);
  a.span = {Span::Kind::window, 2};
  a.sinks = true;
  LayerCase c = case_of({a}, 3);
  c.d_model = 3;
  Runner runner(c, 1, false);
  static_cast<void>(runner.step(random_vectors(3, 3, 1)));
  CHECK(runner.layer.stored() == 12 + 6 + 6 + 12 + 2 + 3);  // q k v o sinks norm
  const layers::Count& count = runner.layer.counts().front();
  CHECK(count.of(Product::weights) == 3 * (12 + 6 + 6 + 12));
  CHECK(count.of(Product::scores) == 5 * 2 * 2);
  CHECK(count.of(Product::values) == 5 * 2 * 2);
  CHECK(runner.state.elements() == std::map<CacheRole, std::int64_t>{{CacheRole::key, 4}, {CacheRole::value, 4}});
}

TEST_CASE("a plan with a mistake in it is told from the counts") {
  Attention a = plain_attention();
  a.span = {Span::Kind::window, 4};
  a.sinks = true;
  LayerCase c = case_of({a}, 9);
  c.spec.ffn.d_ff = 8;
  c.spec.norms = 2;
  c.steps = {5, 1, 3};
  const LayerPlan right = lower(c.spec, c.architecture());
  REQUIRE(differences(c, right, 1).empty());
  const auto wrong = [&](const std::function<void(LayerPlan&)>& change) {
    LayerPlan plan = right;
    change(plan);
    return !differences(c, plan, 1).empty();
  };
  const auto drop = [](LayerPlan& plan, std::string_view name) {
    std::erase_if(plan.tensors, [&](const Tensor& t) { return t.name == name; });
  };
  CHECK(wrong([&](LayerPlan& plan) { drop(plan, "sinks"); }));
  CHECK(wrong([](LayerPlan& plan) { plan.cache.front().growth.limit += 1; }));
  CHECK(wrong([](LayerPlan& plan) { plan.cache.pop_back(); }));
  CHECK(wrong([](LayerPlan& plan) { plan.tensors.back().copies -= 1; }));  // one norm less
  CHECK(wrong([](LayerPlan& plan) { plan.tensors.front().active = 0; }));
  for (const WorkTerm& term : right.work.front().paths.front().terms) {
    CAPTURE(term.name);
    const std::string name = term.name;
    CHECK(wrong([&](LayerPlan& plan) {
      for (WorkTerm& t : plan.work.front().paths.front().terms)
        if (t.name == name) t.macs += 1;
    }));
    if (term.per != MacPer::pair) continue;
    CHECK(wrong([&](LayerPlan& plan) {  // a window that is one token longer or shorter
      for (WorkTerm& t : plan.work.front().paths.front().terms)
        if (t.name == name) t.visible.limit -= 1;
    }));
  }
}

TEST_CASE("a change of one in any number of a plan of any kind is told from the counts") {
  Random random(7);
  int changes = 0;
  for (const auto& generate : generators()) {
    LayerCase c = generate(random);
    const LayerPlan right = lower(c.spec, c.architecture());
    const std::string yaml = to_yaml(c.architecture());
    CAPTURE(yaml);
    const auto caught = [&](const std::string& what, const std::function<void(LayerPlan&)>& change) {
      CAPTURE(what);
      LayerPlan plan = right;
      change(plan);
      ++changes;
      CHECK_FALSE(differences(c, plan, 1).empty());
    };
    for (std::size_t i = 0; i < right.tensors.size(); ++i)
      caught(right.tensors[i].name, [i](LayerPlan& plan) { plan.tensors[i].cols += 1; });
    for (std::size_t i = 0; i < right.cache.size(); ++i)
      if (cached_rows(right.cache[i].growth, c.n_tokens(), c.n_source) * right.cache[i].n_rows > 0)
        caught(right.cache[i].formula, [i](LayerPlan& plan) { plan.cache[i].row_elements += 1; });
    for (std::size_t w = 0; w < right.work.size(); ++w) {
      const std::size_t path = right.work[w].paths.size() > 1 ? 1 : 0;
      const std::vector<WorkTerm>& terms = right.work[w].paths[path].terms;
      for (std::size_t i = 0; i < terms.size(); ++i) {
        const bool pair = terms[i].per == MacPer::pair;
        if (pair && visible_pairs(terms[i].visible, {0, c.n_tokens()}, FlopRule::Pairs::triangle, c.n_source) == 0)
          continue;
        caught(terms[i].name, [&](LayerPlan& plan) { plan.work[w].paths[path].terms[i].macs += 1; });
      }
    }
  }
  CHECK(changes >= 300);
}
