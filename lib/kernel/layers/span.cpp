// Which tokens a query sees, and how many rows a cache must hold for the queries to come: the table of spans.
#include <algorithm>

#include "kernel/layer_oracle.hpp"

namespace mha::layers {
namespace {

Seen full(const Span& /*span*/, std::int64_t position, std::int64_t /*n_tokens*/, std::int64_t /*n_source*/) {
  return {0, position + 1};
}

Seen window(const Span& span, std::int64_t position, std::int64_t /*n_tokens*/, std::int64_t /*n_source*/) {
  return {std::max<std::int64_t>(0, position + 1 - span.tokens), position + 1};
}

Seen chunked(const Span& span, std::int64_t position, std::int64_t /*n_tokens*/, std::int64_t /*n_source*/) {
  return {position - position % span.tokens, position + 1};
}

Seen cross(const Span& /*span*/, std::int64_t /*position*/, std::int64_t /*n_tokens*/, std::int64_t n_source) {
  return {0, n_source};
}

Seen encoder(const Span& /*span*/, std::int64_t /*position*/, std::int64_t n_tokens, std::int64_t /*n_source*/) {
  return {0, n_tokens};
}

std::int64_t all(const Span& /*span*/) {
  return Cached::kUnbounded;
}

std::int64_t tokens(const Span& span) {
  return span.tokens;
}

std::int64_t none(const Span& /*span*/) {
  return 0;
}

}  // namespace

const std::vector<SpanOracle>& span_oracles() {
  static const std::vector<SpanOracle> table = {
      {Span::Kind::full, "full", full, all},
      {Span::Kind::window, "window", window, tokens},
      {Span::Kind::chunked, "chunked", chunked, tokens},
      {Span::Kind::cross, "cross", cross, all},
      {Span::Kind::encoder, "encoder", encoder, none},
  };
  return table;
}

const SpanOracle& span_oracle(Span::Kind kind) {
  return *std::find_if(span_oracles().begin(), span_oracles().end(),
                       [kind](const SpanOracle& row) { return row.kind == kind; });
}

}  // namespace mha::layers
