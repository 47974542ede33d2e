// "kv_bytes_per_token <= 64KiB": a metric, a comparison and a value in the metric's unit.
#include <array>

#include "mha/quantity.hpp"
#include "mha/recommend.hpp"

#include "core/text.hpp"

namespace mha {
namespace {

constexpr std::array<std::string_view, 6> kOperators = {"<=", ">=", "==", "!=", "<", ">"};  // longer ones first
constexpr std::string_view kForm = "write METRIC OP VALUE, such as 'kv_bytes_per_token <= 64KiB'";

Diagnostic problem(std::string code, std::string what, std::string hint) {
  return {Severity::error, std::move(code), {}, std::move(what), std::move(hint)};
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text = trimmed(text.substr(0, text.size() - suffix.size()));
  return true;
}

Expected<double> parse_seconds(std::string_view text) {
  struct Unit {
    std::string_view suffix;
    double seconds;
  };
  for (const Unit unit : {Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1}}) {
    std::string_view number = text;
    if (!take_suffix(number, unit.suffix)) continue;
    const Expected<double> value = parse_real(number);
    if (!value) break;
    return *value * unit.seconds;
  }
  return problem("bad-value", shown(text) + " is not a time", "give a number with a unit: 1.5s, 20ms or 300us");
}

// Whole FLOPs pass 2^63, so a value that parse_count finds too large is read as a rate (a double) and rounded.
Expected<double> parse_flops(std::string_view text, i128& exact) {
  std::string_view number = text;
  if (!take_suffix(number, "FLOPs")) (void)take_suffix(number, "FLOP");
  const Expected<std::int64_t> whole = parse_count(number, 0, INT64_MAX);
  if (whole) {
    exact = *whole;
    return static_cast<double>(*whole);
  }
  const Expected<double> large = parse_rate(number);
  if (!large || *large > 1e36) {
    return problem("bad-value", shown(text) + " is not a number of FLOPs", "give a number such as 1.2T or 5e15");
  }
  exact = static_cast<i128>(*large);
  return *large;
}

Expected<double> parse_value(const Metric& metric, std::string_view text, i128& exact) {
  switch (metric.unit) {
    case MetricUnit::bytes: {
      const Expected<Bytes> value = parse_bytes(text);
      if (!value) return value.error();
      exact = value->value();
      return value->as_double();
    }
    case MetricUnit::seconds:
      return parse_seconds(text);
    case MetricUnit::flops:
      return parse_flops(text, exact);
    case MetricUnit::count: {
      if (!metric.exact) return parse_real(text);
      const Expected<std::int64_t> value = parse_count(text, 0, INT64_MAX);
      if (!value) return value.error();
      exact = *value;
      return static_cast<double>(*value);
    }
    case MetricUnit::nats:
      return parse_real(text);
  }
  return problem("bad-value", "the metric has no unit", "");
}

}  // namespace

Expected<Assertion> parse_assertion(std::string_view text) {
  text = trimmed(text);
  const std::string quoted = shown(text);
  const std::size_t start = text.find_first_of("<>=!");
  if (text.empty() || start == std::string_view::npos) {
    return problem("bad-assertion", quoted + " holds no comparison", std::string(kForm));
  }
  const std::string_view rest = text.substr(start);
  std::string_view op;
  for (const std::string_view candidate : kOperators) {
    if (op.empty() && rest.starts_with(candidate)) op = candidate;
  }
  // What follows must be the value: "=<", "=>" and "<==" are slips, not comparisons.
  if (op.empty() || rest.substr(op.size()).find_first_of("<>=!") != std::string_view::npos) {
    return problem("bad-assertion", quoted + " holds no comparison that is known", "one of: <= < >= > == !=");
  }
  Assertion assertion;
  assertion.text = text;
  assertion.metric = trimmed(text.substr(0, start));
  assertion.op = op;
  const std::string_view value_text = trimmed(rest.substr(op.size()));
  if (assertion.metric.empty() || value_text.empty()) {
    return problem("bad-assertion", quoted + " lacks " + (assertion.metric.empty() ? "a metric" : "a value"),
                   std::string(kForm));
  }
  const Metric* metric = find_metric(assertion.metric);
  if (metric == nullptr) {
    std::vector<std::string> ids;
    for (const Metric& known : metrics()) ids.emplace_back(known.id);
    return problem("unknown-name", shown(assertion.metric) + " is not a metric", did_you_mean(assertion.metric, ids));
  }
  const Expected<double> value = parse_value(*metric, value_text, assertion.exact);
  if (!value) {
    Diagnostics problems = value.error();
    for (Diagnostic& found : problems) found.what = assertion.metric + ": " + found.what;
    return problems;
  }
  assertion.value = *value;
  return assertion;
}

}  // namespace mha
