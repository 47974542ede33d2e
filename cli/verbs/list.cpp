// list: what the other verbs' flags may name, one line each.
#include <algorithm>

#include "mha/model_cost.hpp"
#include "mha/quantity.hpp"
#include "mha/report.hpp"
#include "mha/rules_loader.hpp"

#include "common.hpp"
#include "failure.hpp"
#include "verbs.hpp"

namespace mha::cli {
namespace {

struct Line {
  std::string id;
  std::string help;
};

constexpr std::string_view kFolders[] = {"targets", "kernels", "quality",  "priorities", "constraints",
                                         "shapes",  "models",  "families", "runtimes",   "conversions"};

template <class T>
const T& value_or_throw(const Expected<T>& expected) {
  if (!expected) throw Failure(kBadInput, expected.error());
  return *expected;
}

// The rules that every target shares come with any target.
RuleSet any_rules(const RuleStore& store) {
  return value_or_throw(store.load(store.ids("targets").front()));
}

std::string decimal(double value) {  // "3.35", no trailing zeros
  std::string text = print_fixed(value, 2);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::vector<Line> targets(const RuleStore& store) {
  std::vector<Line> lines;
  for (const std::string& id : store.ids("targets")) {
    const Expected<Target> target = store.target(id);
    const Target& t = value_or_throw(target);
    lines.push_back(
        {id, t.name + ", " + print_bytes(t.memory.value) + ", " + decimal(t.bandwidth_per_s.value / 1e9) + " GB/s"});
  }
  return lines;
}

std::vector<Line> variant_lines(const RuleStore&) {
  std::vector<Line> lines;
  for (const Variant* v : variants())
    lines.push_back({std::string(v->id),
                     std::string(v->name) + ": " + std::string(v->help) + (v->by_default ? "" : " (with --variants)")});
  return lines;
}

std::vector<Line> dtypes(const RuleStore&) {
  std::vector<Line> lines;
  for (const StorageFormat& f : storage_formats()) {
    lines.push_back({std::string(f.id), std::string(f.help) + (f.weights ? "; weights and cache" : "; cache only")});
  }
  return lines;
}

std::vector<Line> kernels(const RuleStore& store) {
  std::vector<Line> lines;
  for (const std::string& id : store.ids("kernels")) {
    const Expected<KernelSupport> kernel = store.kernel(id);
    const KernelSupport& k = value_or_throw(kernel);
    std::string widths;
    for (const std::int64_t d : k.d_head) widths += (widths.empty() ? "d_head " : ", ") + std::to_string(d);
    if (widths.empty()) {
      widths = "d_head a multiple of " + std::to_string(k.d_head_multiple) + " up to " + std::to_string(k.d_head_max);
    }
    lines.push_back({id, k.name + " " + k.version + ": " + widths});
  }
  return lines;
}

std::vector<Line> constraints(const RuleStore& store) {
  std::vector<Line> lines;
  for (const ConstraintRule& rule : any_rules(store).constraints)
    lines.push_back({rule.id, rule.severity + ": " + rule.why});
  return lines;
}

std::vector<Line> shapes(const RuleStore& store) {
  std::vector<Line> lines;
  for (const ShapeRow& s : any_rules(store).shapes) {
    lines.push_back({s.id, print_count(s.params) + " parameters: d_model " + std::to_string(s.d_model) + ", " +
                               std::to_string(s.n_layers) + " layers, heads " + std::to_string(s.n_heads) + "/" +
                               std::to_string(s.n_kv_heads) + "/" + std::to_string(s.d_head)});
  }
  return lines;
}

std::vector<Line> models(const RuleStore& store) {
  std::vector<Line> lines;
  for (const std::string& id : store.ids("models")) {
    const Expected<Architecture> model = store.model(id);
    const Architecture& m = value_or_throw(model);
    lines.push_back({id, print_count(count_params(m, lower(m)).total.value()) + " parameters, " + m.name + ": " +
                             layer_pattern(m)});
  }
  return lines;
}

std::vector<Line> families(const RuleStore& store) {
  std::vector<Line> lines;
  const Expected<std::vector<FamilyRule>> all = store.families();
  for (const FamilyRule& family : value_or_throw(all)) lines.push_back({family.id, family.name});
  return lines;
}

std::vector<Line> runtimes(const RuleStore& store) {
  std::vector<Line> lines;
  const Expected<std::vector<RuntimeRule>> all = store.runtimes();
  for (const RuntimeRule& r : value_or_throw(all)) lines.push_back({r.id, r.name + " " + r.version + ": " + r.note});
  return lines;
}

std::vector<Line> flops(const RuleStore&) {
  std::vector<Line> lines;
  for (const FlopRule& rule : flop_rules()) {
    lines.push_back({std::string(rule.id), std::string(rule.name) + ": " + std::string(rule.help)});
  }
  return lines;
}

std::vector<Line> linear(const RuleStore&) {
  std::vector<Line> lines;
  for (const LinearKind* kind : linear_kinds()) {
    lines.push_back({std::string(kind->id), std::string(kind->name) + ": " + std::string(kind->help)});
  }
  return lines;
}

std::vector<Line> priorities(const RuleStore& store) {
  std::vector<Line> lines;
  for (const Priority& p : any_rules(store).priorities) {
    lines.push_back({p.id, "quality slack " + print_fixed(p.quality_slack, 3) + " nats, least " + p.objective});
  }
  return lines;
}

std::vector<Line> presets(const RuleStore& store) {
  std::vector<Line> lines;
  for (const QualityPreset& p : any_rules(store).presets) {
    lines.push_back({p.id, p.note.empty() ? "noise band " + print_fixed(p.noise_band, 3) + " nats" : p.note});
  }
  return lines;
}

std::vector<Line> metric_lines(const RuleStore&) {
  std::vector<Line> lines;
  for (const Metric& m : metrics()) lines.push_back({std::string(m.id), std::string(m.help)});
  return lines;
}

std::vector<Line> rules(const RuleStore& store) {
  std::vector<Line> lines;
  for (const std::string_view folder : kFolders) {
    for (const std::string& id : store.ids(folder)) lines.push_back({std::string(folder) + "/" + id, ""});
  }
  Diagnostics problems = store.check_all();
  if (!problems.empty()) throw Failure(kBadInput, std::move(problems));
  return lines;
}

std::vector<Line> formats(const RuleStore&) {
  std::vector<Line> lines;
  for (const Writer& w : writers()) lines.push_back({std::string(w.id), std::string(w.help)});
  return lines;
}

struct Topic {
  std::string_view id;
  std::vector<Line> (*lines)(const RuleStore& store);
};
constexpr Topic kTopics[] = {{"targets", targets},       {"variants", variant_lines},  {"dtypes", dtypes},
                             {"kernels", kernels},       {"constraints", constraints}, {"shapes", shapes},
                             {"priorities", priorities}, {"presets", presets},         {"metrics", metric_lines},
                             {"rules", rules},           {"formats", formats},         {"models", models},
                             {"families", families},     {"runtimes", runtimes},       {"flops", flops},
                             {"linear", linear}};

int list_names(const Invocation& invocation) {
  std::vector<std::string> topics;
  std::string all;
  for (const Topic& topic : kTopics) {
    topics.emplace_back(topic.id);
    all += (all.empty() ? "" : ", ") + topics.back();
  }
  if (invocation.arguments.size() != 1) {
    throw usage_error(
        {}, invocation.arguments.empty() ? "nothing to list is named" : "more than one thing to list is named",
        "one of: " + all);
  }
  const std::string& typed = invocation.arguments.front();
  const auto topic =
      std::find_if(std::begin(kTopics), std::end(kTopics), [&](const Topic& t) { return t.id == typed; });
  if (topic == std::end(kTopics)) {
    throw usage_error({}, "there is no list of '" + typed + "'", did_you_mean(typed, topics));
  }
  const std::vector<Line> lines = topic->lines(RuleStore(invocation.value("rules")));
  std::size_t width = 0;
  for (const Line& line : lines) width = std::max(width, line.id.size());
  std::string text;
  for (const Line& line : lines) {
    text += line.id;
    if (!line.help.empty()) text += std::string(width - line.id.size() + 2, ' ') + line.help;
    text += '\n';
  }
  write_stdout(text);
  return kDone;
}

}  // namespace

Verb list_verb() {
  return {"list",
          "list targets, variants, dtypes and everything else that a flag may name",
          false,
          "TOPIC [--rules DIR]",
          {kRulesOption},
          "Topics: targets, models, families, runtimes, flops, variants, linear, dtypes, kernels, constraints, shapes, "
          "priorities, presets, metrics, rules, formats. "
          "'list rules' also reads every rule and reports what is wrong with it.",
          "list targets\nlist metrics\nlist rules --rules my-rules",
          list_names};
}

}  // namespace mha::cli
