// Figures that others published or that real programs printed (tests/data/ground_truth.yaml), and what our own derivation
// gives for each: the layout of a record is written as a model file, read by the reader and costed like any other model.
#pragma once

#include <string>
#include <vector>

#include "rules/node.hpp"

namespace mha::ground_truth {

struct Outcome {
  std::string id, model, collection, status;
  std::string why;         // the record's
  std::string derived;     // ours, as text
  std::string expected;    // the record's own derivation
  std::string observed;    // published
  bool derives = false;    // ours is the record's expected value, exactly
  bool agrees = false;     // ... and the published one within its tolerance, after the extras it names
  std::string problem;     // why it could not be derived
  std::string convention;  // of FLOPs
};

[[nodiscard]] Node load(const std::string& path);          // the whole file; empty on failure
[[nodiscard]] std::vector<Outcome> run(const Node& file);  // params, kv and flops
[[nodiscard]] Outcome run_params(const Node& record);
[[nodiscard]] Outcome run_kv(const Node& record);
[[nodiscard]] Outcome run_flops(const Node& record);

// ---- For the runners -------------------------------------------------------------------------------------------------

[[nodiscard]] const Node* child(const Node& node, std::string_view key);  // null when there is none
[[nodiscard]] std::string text_of(const Node& node, std::string_view key);
[[nodiscard]] std::int64_t number_of(const Node& node, std::string_view key, std::int64_t fallback = 0);
[[nodiscard]] double real_of(const Node& node, std::string_view key, double fallback = 0);
[[nodiscard]] bool flag_of(const Node& node, std::string_view key, bool fallback = false);
[[nodiscard]] Outcome outcome_of(const Node& record);
// The layout as our own YAML (docs/model-file.md).
[[nodiscard]] std::string layout_yaml(const Node& layout);

}  // namespace mha::ground_truth
