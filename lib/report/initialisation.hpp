// Starting scales of the attention weights: a fold over the plan's matrices, so that it holds for any variant.
#pragma once

#include <string>
#include <vector>

#include "mha/attention.hpp"
#include "mha/model.hpp"
#include "mha/rules.hpp"

namespace mha::report {

struct InitRow {
  std::string matrix;     // "W_q"
  std::int64_t rows = 0;  // fan-in
  std::int64_t cols = 0;
  std::string formula;      // "1 / sqrt(d_model)"
  std::string substituted;  // "1 / sqrt(4096)"
  double std_dev = 0;       // of a normal distribution, mean 0
  bool bias = false;        // starts at 0
};

// The output projection writes to the residual stream, as the second matrix of the feed-forward does: 2 * n_layers writes.
[[nodiscard]] std::vector<InitRow> initialisation(const AttentionPlan& plan, const ModelShape& shape);

[[nodiscard]] const std::vector<Source>& initialisation_sources();

}  // namespace mha::report
