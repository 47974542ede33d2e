// The outcome of running the counting kernel on a layout and comparing it with the cost model. Plain data; the run itself is
// in validate.hpp (mha::configurator), so that a report can show an outcome without linking a kernel.
#pragma once

#include <string>
#include <vector>

#include "mha/attention.hpp"

namespace mha {

struct ValidationRow {
  std::string quantity;  // "weights, one layer", "multiply-adds, prefill, scores"
  i128 analytic = 0;
  i128 counted = 0;
  [[nodiscard]] bool exact() const { return analytic == counted; }
};

struct ToleranceRow {  // floating-point agreement, e.g. decode against prefill
  std::string quantity;
  double difference = 0;  // largest |a - b| / bound
  double max_abs = 0;     // largest |a - b|
  double bound = 0;       // largest bound, from sums of absolute products
  [[nodiscard]] bool within() const { return difference <= 1.0; }
};

struct Validation {
  Layout layout;
  std::int64_t d_model = 0;       // as run; below the request's when that would not fit the bound
  std::int64_t full_d_model = 0;  // of the request
  std::int64_t n_tokens = 0;      // as run
  std::vector<ValidationRow> rows;
  std::vector<ToleranceRow> tolerances;
  [[nodiscard]] bool exact() const;
};

}  // namespace mha
