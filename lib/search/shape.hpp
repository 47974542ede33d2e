// The model shape that a budget buys: what the request gives is kept, what it leaves out is taken from the nearest production
// model or solved.
#pragma once

#include <string>
#include <vector>

#include "mha/diagnostics.hpp"
#include "mha/model.hpp"
#include "mha/request.hpp"
#include "mha/rules.hpp"

namespace mha {

inline constexpr std::int64_t kFeedForwardMultiple = 64;  // d_ff is a multiple of this

struct ShapePlan {
  ModelShape shape;        // d_ff: as given, or solved for the row's own layout; each candidate solves its own again
  bool solve_d_ff = true;  // per candidate, so that all have equal parameters
  Params budget;           // of the request; 0 when the full shape was given without one
  ShapeRow row;
  std::string note;  // "d_model 2048 and n_layers 16 from llama-3.2-1b; d_ff solved per layout"
};

[[nodiscard]] Expected<ShapePlan> plan_shape(const Request& request, const std::vector<ShapeRow>& rows);

}  // namespace mha
