// One layer: norms, mixers side by side on the same input, feed-forward, residuals.
//
// Norms are learned vectors of d_model, used in this order: before the mixers, before the feed-forward part, behind the
// mixers, behind the feed-forward part, and any others behind the layer. A layer without mixers or without a
// feed-forward part has no norms for it. A layer of both with one norm is a parallel block: both parts read the same.
#include "kernel/layers/attention.hpp"
#include "kernel/layers/feed_forward.hpp"

namespace mha::layers {
namespace {

struct NormPlaces {
  std::int64_t before_mixers = 0, before_ffn = 0, after_mixers = 0, after_ffn = 0, after_layer = 0;
};

NormPlaces places_in(const LayerSpec& spec) {
  if (spec.mixers.empty() || !spec.ffn.any()) return {0, 0, 1, 1, 2};
  return {0, spec.norms == 1 ? 0 : 1, 2, 3, 4};
}

struct Draw {
  std::int64_t d_model;
  Weights& weights;
  void operator()(const Attention& a) const { find_attention_oracle(a)->draw(a, d_model, weights); }
  void operator()(const LinearMixer& m) const { find_linear_oracle(m.kind->id)->draw(m, d_model, weights); }
};

struct Start {
  MixerState& state;
  void operator()(const Attention& a) const { find_attention_oracle(a)->start(a, state); }
  void operator()(const LinearMixer& m) const { find_linear_oracle(m.kind->id)->start(m, state); }
};

struct Parts {  // the names of what a mixer's counts are kept under
  std::vector<Count>& counts;
  void operator()(const Attention& a) const {
    counts.push_back({"attention", {}});
    if (has_indexer(a)) counts.push_back({"indexer", {}});
  }
  void operator()(const LinearMixer& m) const { counts.push_back({std::string(m.kind->id), {}}); }
};

struct Forward {
  Weights& weights;
  const Input& in;
  MixerState& state;
  Count*& count;  // of the next part; moves on
  Vectors operator()(const Attention& a) const {
    Count& own = *count++;
    Count& index = has_indexer(a) ? *count++ : own;
    return find_attention_oracle(a)->forward(a, weights, in, state, own, index);
  }
  Vectors operator()(const LinearMixer& m) const {
    return find_linear_oracle(m.kind->id)->forward(m, weights, in.x, state, *count++);
  }
};

std::string norm_name(std::int64_t place) {
  return "norm." + std::to_string(place);
}

void draw_norms(const LayerSpec& spec, NormKind kind, std::int64_t d_model, Weights& weights) {
  if (kind == NormKind::none) return;
  for (std::int64_t i = 0; i < spec.norms; ++i) {
    weights.vector(norm_name(i), d_model, 1);
    if (kind == NormKind::layer) weights.vector(norm_name(i) + ".shift", d_model);
  }
}

struct Norms {
  const LayerSpec& spec;
  NormKind kind;
  Weights& weights;
  [[nodiscard]] Vectors operator()(std::int64_t place, Vectors x) const {
    if (place < spec.norms)
      normalise(x, x.width, kind != NormKind::rms, weights.find(norm_name(place)),
                weights.find(norm_name(place) + ".shift"));
    return x;
  }
};

}  // namespace

Layer::Layer(const LayerSpec& spec, std::int64_t d_model, NormKind norm, std::uint64_t seed)
    : spec_(spec), d_model_(d_model), norm_(norm), ffn_(seed ^ 0x5bd1e995U), norms_(seed ^ 0x1b873593U) {
  for (std::size_t i = 0; i < spec_.mixers.size(); ++i) {
    mixers_.emplace_back(seed + 7919 * (i + 1));
    std::visit(Draw{d_model_, mixers_.back()}, spec_.mixers[i]);
    std::visit(Parts{counts_}, spec_.mixers[i]);
  }
  if (spec_.ffn.any()) counts_.push_back({"feed-forward", {}});
  draw_feed_forward(spec_.ffn, d_model_, ffn_);
  draw_norms(spec_, norm_, d_model_, norms_);
}

LayerState Layer::start() const {
  LayerState state;
  for (const Mixer& mixer : spec_.mixers) {
    state.mixers.emplace_back();
    std::visit(Start{state.mixers.back()}, mixer);
  }
  return state;
}

Vectors Layer::mix(const Vectors& x, LayerState& state, const Context& context) {
  Vectors sum(x.n, d_model_);
  Count* count = counts_.data();
  for (std::size_t i = 0; i < spec_.mixers.size(); ++i) {
    const MixerState* owner = context.owner != nullptr ? &context.owner->mixers[i] : nullptr;
    const Input in{x, context.source, owner, context.absorbed};
    add(std::visit(Forward{mixers_[i], in, state.mixers[i], count}, spec_.mixers[i]), sum);
    state.mixers[i].n_tokens += x.n;
  }
  return sum;
}

Vectors Layer::forward(const Vectors& x, LayerState& state, const Context& context) {
  const Norms norm{spec_, norm_, norms_};
  const NormPlaces places = places_in(spec_);
  Vectors y = x;
  if (!spec_.mixers.empty()) add(norm(places.after_mixers, mix(norm(places.before_mixers, x), state, context)), y);
  if (spec_.ffn.any()) {
    const Vectors in = norm(places.before_ffn, places.before_ffn == places.before_mixers ? x : y);
    add(norm(places.after_ffn, feed_forward(spec_.ffn, ffn_, in, counts_.back())), y);
  }
  for (std::int64_t place = places.after_layer; place < spec_.norms; ++place) y = norm(place, std::move(y));
  return y;
}

void Layer::reset_counts() {
  for (Count& count : counts_) count.multiply_adds = {};
}

std::int64_t Layer::stored() const {
  std::int64_t sum = ffn_.stored() + norms_.stored();
  for (const Weights& weights : mixers_) sum += weights.stored();
  return sum;
}

std::int64_t Layer::read(bool routed) const {
  std::int64_t sum = ffn_.read(routed) + norms_.read(routed);
  for (const Weights& weights : mixers_) sum += weights.read(routed);
  return sum;
}

void Layer::forget(bool routed) {
  ffn_.forget(routed);
  norms_.forget(routed);
  for (Weights& weights : mixers_) weights.forget(routed);
}

}  // namespace mha::layers
