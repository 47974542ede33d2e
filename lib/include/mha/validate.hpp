// Runs the reference attention kernel on a layout and compares everything that it counts with the cost model.
#pragma once

#include "mha/validation.hpp"

namespace mha {

struct ValidationBounds {
  double max_multiply_adds =
      2.0e8;                   // work of the whole validation: about 0.3 s; tokens first, then d_model shrink to fit
  double max_bytes = 256.0e6;  // memory of weights and activations
  std::int64_t max_tokens = 16;
  std::uint64_t seed = 1;
};

// n_heads, n_kv_heads, d_head and ranks are always the real ones.
[[nodiscard]] Validation validate(const Layout& layout, std::int64_t d_model, const ValidationBounds& bounds = {});

}  // namespace mha
