// FLOPs: our count of the record's layout under the convention that it names.
#include <cmath>

#include "mha/model_cost.hpp"
#include "mha/model_readers.hpp"

#include "ground_truth/records.hpp"

namespace mha::ground_truth {
namespace {

// The row of flop_rules() that counts as the record's source did.
std::string_view rule_of(const Outcome& out, const Node& setting) {
  const std::string count = text_of(setting, "count");
  if (count == "chinchilla_train") return "chinchilla";
  if (count == "train_flops_per_token") {
    if (child(setting, "n_params") != nullptr) return "palm";
    return flag_of(setting, "causal_half") ? "deepseek" : "megatron";
  }
  const std::int64_t products = number_of(setting, "attn_matmuls", 2);
  if (products == 1) return "calflops-bloom";
  if (products == 0) return "deepspeed";
  static_cast<void>(out);
  return "calflops";
}

double published(const Node& observed, const std::string& unit) {
  const double value = real_of(observed, "value");
  if (unit == "GMACs" || unit == "GFLOPs" || unit == "GFLOPs/token") return value * 1e9;
  return value;
}

// A single linear layer: one matrix of our normal form.
i128 linear_macs(const Node& setting) {
  Tensor t;
  t.rows = number_of(setting, "d_in");
  t.cols = number_of(setting, "d_out");
  t.product = true;
  return t.macs() * number_of(setting, "tokens");
}

}  // namespace

Outcome run_flops(const Node& record) {
  Outcome out = outcome_of(record);
  const Node& setting = *child(record, "setting");
  const Node& observed = *child(record, "observed");
  const Node& expected = *child(record, "expected");
  const Node& tolerance = *child(record, "tolerance");
  const std::string count = text_of(setting, "count"), unit = text_of(observed, "unit");
  out.expected = text_of(expected, "value");
  out.observed = text_of(observed, "value") + " " + unit;
  double derived = 0;
  if (count == "linear_macs") {
    out.convention = "multiply-adds of one matrix";
    derived = static_cast<double>(linear_macs(setting));
  } else {
    const Expected<Architecture> model = read_model_yaml(layout_yaml(*child(record, "layout")), out.id);
    if (!model) {
      out.problem = to_string(model.error()[0]);
      return out;
    }
    FlopRule rule = *find_flop_rule(rule_of(out, setting));
    out.convention = rule.id;
    if (child(setting, "lm_head") != nullptr) rule.head = flag_of(setting, "lm_head");
    const std::int64_t seq = number_of(setting, "seq");
    const i128 batch = number_of(setting, "batch", 1);
    const ModelPlan plan = lower(*model);
    if (const Node* n = child(setting, "n_params")) {
      if (to_decimal(count_params(*model, plan).total.value()) != n->text)
        out.problem = "N differs: " + to_decimal(count_params(*model, plan).total.value()) + " against " + n->text;
    }
    const i128 flops = count_flops(*model, plan, rule, Step{0, seq}).total.value() * batch;
    derived = static_cast<double>(flops);
    if (count == "train_flops_per_token") derived = static_cast<double>(flops) / static_cast<double>(seq);
    if (count == "forward_macs") derived = static_cast<double>(flops / 2);
    // The pooler of a BERT runs on one token of the sequence, outside the layers.
    if (count == "forward_macs" && number_of(setting, "attn_matmuls", 2) == 2)
      derived += static_cast<double>(number_of(setting, "extra_macs"));
  }
  out.derived = to_decimal(static_cast<i128>(derived));
  const double want = real_of(expected, "value");
  out.derives = out.problem.empty() && derived == want;
  double difference = 0, allowed = 0;
  if (unit == "MFU_percent") {
    const double mfu = 100 * derived * real_of(observed, "tokens_per_s") /
                       (real_of(observed, "chips") * real_of(observed, "peak_flops"));
    difference = std::abs(mfu - real_of(observed, "value"));
    allowed = real_of(tolerance, "abs") + real_of(tolerance, "rel") * real_of(observed, "value");
  } else if (unit == "TFLOP/s/GPU") {
    const double rate = derived * real_of(observed, "tokens_per_s_per_gpu") / 1e12;
    difference = std::abs(rate - real_of(observed, "value"));
    allowed = real_of(tolerance, "rel") * real_of(observed, "value");
  } else {
    const double value = published(observed, unit);
    difference = std::abs(derived - value);
    const double scale = unit == "FLOPs" ? 1 : 1e9;
    allowed = real_of(tolerance, "abs") * scale + real_of(tolerance, "rel") * value;
  }
  out.agrees = out.derives && difference <= allowed;
  return out;
}

}  // namespace mha::ground_truth
