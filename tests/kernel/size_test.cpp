// validate() keeps the heads and makes the run smaller: tokens first, then d_model.
#include <doctest/doctest.h>

#include "mha/validate.hpp"

#include "layouts.hpp"

using namespace mha;
using namespace mha::test;

TEST_CASE("a small layout is validated at its own width with all tokens") {
  const Validation validation = validate(grouped_layout("mha", 12, 12, 64, 64), 768);
  CHECK(validation.d_model == 768);
  CHECK(validation.n_tokens == 16);
  CHECK(validation.exact());
}

TEST_CASE("a large layout keeps its heads and is validated at a smaller width") {
  const Layout layout = grouped_layout("gqa", 64, 8, 128, 128);
  const Validation validation = validate(layout, 8192);
  CHECK(validation.layout == layout);
  CHECK(validation.full_d_model == 8192);
  CHECK(validation.d_model >= 64);
  CHECK(validation.d_model < 8192);
  CHECK(validation.n_tokens >= 2);
  CHECK(validation.exact());
  CHECK(validation.tolerances.size() == 2);  // decode against prefill, and GQA of all heads against MHA
}

TEST_CASE("a layout over the bounds at every size still runs with two tokens at the smallest width") {
  ValidationBounds bounds;
  bounds.max_multiply_adds = 1000;
  const Validation validation = validate(grouped_layout("gqa", 8, 2, 16, 16), 512, bounds);
  CHECK(validation.d_model == 64);
  CHECK(validation.n_tokens == 2);
  CHECK(validation.exact());
}

TEST_CASE("the memory bound shrinks the run as well") {
  ValidationBounds bounds;
  bounds.max_bytes = 1.0e6;
  const Validation validation = validate(grouped_layout("gqa", 8, 2, 16, 16), 512, bounds);
  CHECK(validation.n_tokens < 16);
  CHECK(validation.exact());
}

TEST_CASE("a model narrower than the smallest width keeps its width") {
  ValidationBounds bounds;
  bounds.max_multiply_adds = 1;
  CHECK(validate(grouped_layout("mqa", 4, 1, 8, 8), 40, bounds).d_model == 40);
}

TEST_CASE("both paths of a DeepSeek-V3 layer are validated with all of its ranks") {
  const Validation validation = validate(mla_layout(128, 512, 1536, 128, 64, 128), 7168);
  CHECK(validation.exact());
  CHECK(validation.tolerances.size() == 4);
  for (const ToleranceRow& row : validation.tolerances) CHECK(row.bound < 1e-9);
}
