// Parameter counts: our count of the record's layout, and the published one less the extras that the record names.
#include <cmath>

#include "mha/model_cost.hpp"
#include "mha/model_readers.hpp"

#include "ground_truth/records.hpp"

namespace mha::ground_truth {

Outcome run_params(const Node& record) {
  Outcome out = outcome_of(record);
  const Expected<Architecture> model = read_model_yaml(layout_yaml(*child(record, "layout")), out.id);
  if (!model) {
    out.problem = to_string(model.error()[0]);
    return out;
  }
  const ModelParams params = count_params(*model, lower(*model));
  const Node& expected = *child(record, "expected");
  const Node& observed = *child(record, "observed");
  out.derived = to_decimal(params.total.value());
  out.expected = text_of(expected, "value");
  out.observed = text_of(observed, "value");
  out.derives = out.derived == out.expected;
  if (const Node* active = child(expected, "active")) {
    out.derives = out.derives && to_decimal(params.active.value()) == active->text;
    out.derived += " (active " + to_decimal(params.active.value()) + ")";
  }
  i128 extras = 0;
  if (const Node* stored = child(record, "stored_extra")) {
    for (const Node& pair : stored->children) extras += std::strtoll(pair.children[1].text.c_str(), nullptr, 10);
  }
  const i128 published = number_of(observed, "value");
  i128 difference = params.total.value() + extras - published;
  if (text_of(observed, "unit") == "bytes") {
    difference = params.total.value() * number_of(observed, "bytes_per_param") + extras - published;
  }
  if (difference < 0) difference = -difference;
  out.agrees = out.derives && difference <= number_of(*child(record, "tolerance"), "abs");
  return out;
}

}  // namespace mha::ground_truth
