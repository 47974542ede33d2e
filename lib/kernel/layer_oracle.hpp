// The counting reference of whole layers: any LayerSpec in float64, written from the definition of each mixer and never
// from a LayerPlan, so that its counts can contradict the lowering. It keeps real caches and states, and a later step
// can read only what they hold. Not fast, and not for use in a model.
//
// A multiply-add is counted where a product is added to a sum over an index: products with weights, scores, sums of
// values, updates of and reads from a state. Elementwise arithmetic is carried out and not counted: biases, norms,
// activations, gates, decays, skips, softmax, and the pooling of compressed attention. Masked pairs are never computed.
// No rotary embedding: it belongs to the model around the layer, and it changes no count.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mha/architecture.hpp"

namespace mha::layers {

struct Vectors {  // [n x width], row-major: one row a token
  Vectors() = default;
  Vectors(std::int64_t rows, std::int64_t row_width)
      : n(rows), width(row_width), value(static_cast<std::size_t>(rows * row_width)) {}

  [[nodiscard]] double* at(std::int64_t row, std::int64_t column = 0) { return value.data() + row * width + column; }
  [[nodiscard]] const double* at(std::int64_t row, std::int64_t column = 0) const {
    return value.data() + row * width + column;
  }

  std::int64_t n = 0;
  std::int64_t width = 0;
  std::vector<double> value;
};

// ---- What is counted ------------------------------------------------------------------------------------------------

enum class Product : unsigned char {
  weights,  // of a new token with a weight, taps of a convolution included
  source,   // of a token of the source sequence with a weight: once, before the first step
  context,  // of everything in the cache with a weight, at each step (latents that are expanded)
  scores,   // of a query with a key
  values,   // of a probability with a value
  index,    // of an index query with an index key, and of the heads' weights with the results
  state,    // with the state of a recurrence
};
inline constexpr std::size_t kProducts = 7;

struct Count {       // of one part of the layer
  std::string part;  // "attention", "indexer", the id of a linear kind, "feed-forward"
  std::array<std::int64_t, kProducts> multiply_adds{};

  [[nodiscard]] std::int64_t& of(Product product) { return multiply_adds[static_cast<std::size_t>(product)]; }
  [[nodiscard]] std::int64_t of(Product product) const { return multiply_adds[static_cast<std::size_t>(product)]; }
};

// ---- Weights --------------------------------------------------------------------------------------------------------

struct Weight {  // y[cols] += x[rows] * W[rows x cols]; biases, scales and shifts have one row
  std::string name;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  bool routed = false;  // of an expert: only the tokens that were sent to it read it
  std::vector<double> value;
  std::vector<char> read;  // by element: has it been used?

  [[nodiscard]] double use(std::int64_t row, std::int64_t col) {
    const auto i = static_cast<std::size_t>(row * cols + col);
    read[i] = 1;
    return value[i];
  }
  [[nodiscard]] double use(std::int64_t col) { return use(0, col); }
};

// The weights of one part. A name that was not drawn is absent: find() says so, and [] is for those that must be there.
class Weights {
 public:
  explicit Weights(std::uint64_t seed) : state_(seed) {}

  void matrix(std::string name, std::int64_t rows, std::int64_t cols, bool bias = false, bool routed = false);
  // About `centre`, half as far as 1 on each side; no elements: not drawn.
  void vector(std::string name, std::int64_t elements, double centre = 0, bool routed = false);

  [[nodiscard]] Weight* find(std::string_view name);
  [[nodiscard]] Weight& operator[](std::string_view name) { return *find(name); }

  [[nodiscard]] std::int64_t stored() const;
  [[nodiscard]] std::int64_t read(bool routed) const;  // different elements used since the last forget()
  void forget(bool routed);

 private:
  Weight& add(std::string name, std::int64_t rows, std::int64_t cols, bool routed);
  double uniform();

  std::deque<Weight> items_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::uint64_t state_;
};

// ---- What a sequence leaves behind ----------------------------------------------------------------------------------

// Cached rows. Row i is the i-th that was added; a ring of `capacity` rows forgets the oldest. The rows of the current
// step are readable until it is over, as a prefill reads them, whether the ring has room for them or not.
class Cached {
 public:
  static constexpr std::int64_t kUnbounded = -1;

  Cached() = default;
  Cached(CacheRole role, std::int64_t width, std::int64_t capacity) : role_(role), width_(width), capacity_(capacity) {}

  void add(const double* row) { step_.insert(step_.end(), row, row + width_); }
  [[nodiscard]] const double* row(std::int64_t i) const;  // nullptr: forgotten, or not yet there
  [[nodiscard]] std::int64_t added() const;
  [[nodiscard]] std::int64_t oldest() const;  // readable row; added() where there is none
  void settle();                              // the step is over

  [[nodiscard]] CacheRole role() const { return role_; }
  [[nodiscard]] std::int64_t elements() const { return static_cast<std::int64_t>(ring_.size()); }

 private:
  CacheRole role_ = CacheRole::key;
  std::int64_t width_ = 0;
  std::int64_t capacity_ = kUnbounded;
  std::int64_t settled_ = 0;  // rows that ever went into the ring
  std::vector<double> ring_, step_;
};

struct Fixed {  // a state of the same size at any length
  CacheRole role = CacheRole::state;
  std::vector<double> value;
};

struct MixerState {
  std::map<std::string, Cached, std::less<>> cached;
  std::map<std::string, Fixed, std::less<>> fixed;
  std::int64_t n_tokens = 0;

  [[nodiscard]] Cached& rows(std::string_view name) { return cached.find(name)->second; }
  [[nodiscard]] const Cached& rows(std::string_view name) const { return cached.find(name)->second; }
  [[nodiscard]] std::vector<double>& state(std::string_view name) { return fixed.find(name)->second.value; }
};

struct LayerState {
  std::vector<MixerState> mixers;
  void settle();  // a step is over: what the caches cannot hold is gone
  [[nodiscard]] std::map<CacheRole, std::int64_t> elements() const;
};

// ---- One step of one mixer ------------------------------------------------------------------------------------------

struct Input {
  const Vectors& x;                   // [n_new x d_model]
  const Vectors* source = nullptr;    // [n_source x d_model] of cross-attention
  const MixerState* owner = nullptr;  // whose cache a layer reads that keeps none
  bool absorbed = false;              // latent attention on the latents, not on expanded keys and values
};

// One row a kind of linear and state-space mixer; there is one for each row of linear_kinds().
struct LinearOracle {
  std::string_view id;
  void (*draw)(const LinearMixer& mixer, std::int64_t d_model, Weights& weights) = nullptr;
  void (*start)(const LinearMixer& mixer, MixerState& state) = nullptr;
  Vectors (*forward)(const LinearMixer& mixer, Weights& weights, const Vectors& x, MixerState& state,
                     Count& count) = nullptr;
};
[[nodiscard]] const std::vector<LinearOracle>& linear_oracles();
[[nodiscard]] const LinearOracle* find_linear_oracle(std::string_view id);  // nullptr: none

struct Seen {  // tokens first .. end - 1
  std::int64_t first = 0;
  std::int64_t end = 0;
};

// One row a kind of span; there is one for each Span::Kind.
struct SpanOracle {
  Span::Kind kind = Span::Kind::full;
  std::string_view id;
  // What the token at `position` sees when its step ends with `n_tokens` tokens of the sequence.
  Seen (*seen)(const Span& span, std::int64_t position, std::int64_t n_tokens, std::int64_t n_source) = nullptr;
  std::int64_t (*capacity)(const Span& span) = nullptr;  // cached rows: Cached::kUnbounded, or 0 for none
};
[[nodiscard]] const std::vector<SpanOracle>& span_oracles();
[[nodiscard]] const SpanOracle& span_oracle(Span::Kind kind);

// ---- A layer --------------------------------------------------------------------------------------------------------

class Layer {
 public:
  Layer(const LayerSpec& spec, std::int64_t d_model, NormKind norm, std::uint64_t seed);

  [[nodiscard]] LayerState start() const;  // of an empty sequence

  struct Context {
    const Vectors* source = nullptr;
    const LayerState* owner = nullptr;  // of the layer whose cache this one reads; it has made the same step already
    bool absorbed = false;
  };
  // Appends x [n_new x d_model] to the sequence and returns the layer's output. n_new = 1 is decode, an empty state is
  // prefill, everything between is a chunk. The caller settles the state.
  [[nodiscard]] Vectors forward(const Vectors& x, LayerState& state, const Context& context);

  // In the order of the mixers, an indexer behind its attention, and the feed-forward part.
  [[nodiscard]] const std::vector<Count>& counts() const { return counts_; }
  void reset_counts();

  [[nodiscard]] std::int64_t stored() const;           // weights, all of them
  [[nodiscard]] std::int64_t read(bool routed) const;  // different weights used since forget()
  void forget(bool routed);

  // The weights of one part, for tests that set them: mixers in order, then "ffn" and "norms".
  [[nodiscard]] Weights& mixer_weights(std::size_t i) { return mixers_[i]; }
  [[nodiscard]] Weights& ffn_weights() { return ffn_; }

 private:
  [[nodiscard]] Vectors mix(const Vectors& x, LayerState& state, const Context& context);

  LayerSpec spec_;
  std::int64_t d_model_;
  NormKind norm_;
  std::vector<Weights> mixers_;
  Weights ffn_, norms_;
  std::vector<Count> counts_;
};

}  // namespace mha::layers
