// The table of metrics that --limit and `check` may speak of, and the comparison.
#include <algorithm>
#include <cmath>

#include "mha/quantity.hpp"
#include "mha/recommend.hpp"

namespace mha {
namespace {

using C = const Candidate&;

std::string print_metric(const Metric& metric, i128 integer, double real) {
  switch (metric.unit) {
    case MetricUnit::bytes:
      return print_bytes(Bytes(integer)) + " (" + print_grouped(integer) + " B)";
    case MetricUnit::flops:
      return print_flops(Flops(integer));
    case MetricUnit::seconds:
      return print_seconds(real);
    case MetricUnit::count:
      return print_grouped(integer);
    case MetricUnit::nats:
      return print_fixed(real, 4) + " nats";
  }
  return {};
}

struct Comparison {
  std::string_view op;
  bool (*holds)(int order);  // order: sign of actual - limit
};

const std::vector<Comparison>& comparisons() {
  static const std::vector<Comparison> table = {
      {"<=", [](int order) { return order <= 0; }}, {"<", [](int order) { return order < 0; }},
      {">=", [](int order) { return order >= 0; }}, {">", [](int order) { return order > 0; }},
      {"==", [](int order) { return order == 0; }}, {"!=", [](int order) { return order != 0; }},
  };
  return table;
}

Metric whole(std::string_view id, MetricUnit unit, std::string_view help, i128 (*get)(C)) {
  return {id, unit, help, true, get, nullptr};
}
Metric real(std::string_view id, MetricUnit unit, std::string_view help, double (*get)(C)) {
  return {id, unit, help, false, nullptr, get};
}

}  // namespace

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> table = {
      whole("kv_bytes_per_token_per_layer", MetricUnit::bytes, "cache of one token in one layer",
            [](C c) { return c.cost.cache.per_token_per_layer.value(); }),
      whole("kv_bytes_per_token", MetricUnit::bytes, "cache of one token, all layers",
            [](C c) { return c.cost.cache.per_token.value(); }),
      whole("kv_bytes_per_sequence", MetricUnit::bytes, "cache of one sequence at --seq-len",
            [](C c) { return c.cost.cache.per_sequence.value(); }),
      whole("kv_bytes_batch", MetricUnit::bytes, "cache of the whole batch",
            [](C c) { return c.cost.cache.batch.value(); }),
      whole("kv_bytes_batch_per_device", MetricUnit::bytes, "cache of the batch on the most loaded device",
            [](C c) { return c.cost.cache.per_rank_batch.value(); }),
      whole("weight_bytes_per_device", MetricUnit::bytes, "weights on the most loaded device",
            [](C c) { return c.cost.weights_per_rank.value(); }),
      whole("memory_bytes_per_device", MetricUnit::bytes, "weights and cache on the most loaded device",
            [](C c) { return c.cost.memory_per_rank.value(); }),
      whole("params", MetricUnit::count, "parameters of the whole model",
            [](C c) { return c.cost.params.total.value(); }),
      whole("attention_params", MetricUnit::count, "parameters of attention, all layers",
            [](C c) { return c.cost.params.attention.value(); }),
      whole("n_heads", MetricUnit::count, "query heads", [](C c) { return i128{c.layout.n_heads}; }),
      whole("n_kv_heads", MetricUnit::count, "key/value heads", [](C c) { return i128{c.layout.n_kv_heads}; }),
      whole("d_head", MetricUnit::count, "query/key width of one head", [](C c) { return i128{c.layout.d_head}; }),
      whole("group_size", MetricUnit::count, "query heads per key/value head",
            [](C c) { return i128{c.layout.group_size()}; }),
      whole("d_ff", MetricUnit::count, "feed-forward width", [](C c) { return i128{c.shape.d_ff}; }),
      whole("prefill_flops", MetricUnit::flops, "FLOPs to read one prompt of --seq-len (causal)",
            [](C c) { return c.cost.flops_causal.prefill.value(); }),
      whole("decode_flops_per_token", MetricUnit::flops, "FLOPs of one new token at full context",
            [](C c) { return c.cost.flops_causal.decode_per_token.value(); }),
      whole("training_flops_per_token", MetricUnit::flops, "FLOPs of training a token (causal)",
            [](C c) { return c.cost.flops_causal.training_per_token.value(); }),
      real("prefill_seconds", MetricUnit::seconds, "roofline bound of reading one prompt",
           [](C c) { return c.cost.prefill.bound_s; }),
      real("decode_seconds", MetricUnit::seconds, "roofline bound of one decode step of the batch",
           [](C c) { return c.cost.decode.bound_s; }),
      real("delta_loss", MetricUnit::nats, "predicted loss against MHA of equal parameters",
           [](C c) { return c.loss.total(); }),
  };
  return table;
}

const Metric* find_metric(std::string_view id) {
  for (const Metric& metric : metrics())
    if (metric.id == id) return &metric;
  return nullptr;
}

AssertionResult check_assertion(const Assertion& assertion, const Candidate& candidate) {
  AssertionResult result;
  result.assertion = assertion;
  const Metric& metric = *find_metric(assertion.metric);
  const i128 integer = metric.exact ? metric.integer(candidate) : 0;
  const double value = metric.exact ? static_cast<double>(integer) : metric.real(candidate);
  const int order = metric.exact ? (integer > assertion.exact) - (integer < assertion.exact)
                                 : (value > assertion.value) - (value < assertion.value);
  for (const Comparison& row : comparisons())
    if (row.op == assertion.op) result.met = row.holds(order);
  result.actual = print_metric(metric, integer, value);
  if (order == 0) {
    result.margin = "exactly at the limit";
    return result;
  }
  const i128 gap = integer > assertion.exact ? integer - assertion.exact : assertion.exact - integer;
  const double limit = metric.exact ? static_cast<double>(assertion.exact) : assertion.value;
  result.margin =
      print_metric(metric, gap, std::abs(value - assertion.value)) + (order > 0 ? " above" : " below") + " the limit";
  if (limit != 0) result.margin += " (" + print_fixed(100 * std::abs(value - limit) / std::abs(limit), 1) + " %)";
  return result;
}

}  // namespace mha
