// Pieces of JSON that more than one answer has. Names are the contract in docs/json.md.
#pragma once

#include "mha/recommend.hpp"

#include "report/json_out.hpp"

namespace mha::report {

void json_head(Json& json);                                // schema_version, tool
void json_layout(Json& json, const Candidate& candidate);  // the fields of a decision, without the reason
void json_model(Json& json, const ModelShape& shape);      // "model"
void json_cost(Json& json, const Candidate& candidate);    // "cost"
void json_loss(Json& json, const Candidate& candidate);    // "delta_loss_nats"
void json_validation(Json& json, const std::optional<Validation>& validation);  // "validation"

}  // namespace mha::report
