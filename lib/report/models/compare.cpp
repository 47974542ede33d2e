// compare: models side by side, one column each, at one context and batch.
#include <fmt/format.h>
#include <functional>

#include "mha/model_report.hpp"
#include "mha/quantity.hpp"

#include "report/figures.hpp"
#include "report/json_parts.hpp"
#include "report/models/parts.hpp"

namespace mha {
namespace {

using namespace report;

struct Line {
  const char* name;
  std::string (*value)(const Audit& a);
};

std::string layers_of(const Audit& a) {
  std::string text;
  for (const LayerGroup& group : layer_groups(a.architecture)) {
    text += (text.empty() ? "" : "; ") +
            fmt::format("{} x {}", group.n_layers, attention_text(a.architecture.specs[group.spec]));
  }
  return literal(text);
}

std::string rank_at(const Audit& a, std::int64_t degree) {
  for (const RankRow& row : a.ranks) {
    if (row.tensor_parallel == degree) return row.legal ? print_bytes(row.per_sequence) : "illegal";
  }
  return "";
}

std::string legal(const Audit& a) {
  std::string text;
  for (const std::int64_t degree : a.legal_tensor_parallel) text += (text.empty() ? "" : ", ") + std::to_string(degree);
  return text;
}

constexpr Line kLines[] = {
    {"parameters", [](const Audit& a) { return params_both(a.params.total); }},
    {"used by a token", [](const Audit& a) { return params_both(a.params.active); }},
    {"resident", [](const Audit& a) { return params_both(a.params.resident); }},
    {"attention parameters",
     [](const Audit& a) {
       for (const ComponentParams& c : a.params.components) {
         if (c.component == Component::attention) return params_both(c.total);
       }
       return std::string("0");
     }},
    {"layers", layers_of},
    {"d_model", [](const Audit& a) { return print_grouped(a.architecture.d_model); }},
    {"KV cache, slope", [](const Audit& a) { return slope_text(a.cache); }},
    {"KV cache, fixed", [](const Audit& a) { return bytes_both(a.cache.fixed); }},
    {"KV cache, a sequence", [](const Audit& a) { return bytes_both(a.cache.per_sequence); }},
    {"KV cache, the batch", [](const Audit& a) { return print_bytes(a.cache.per_sequence * a.query.batch); }},
    {"with every query head's keys and values", [](const Audit& a) { return print_bytes(a.expanded_per_sequence); }},
    {"a rank of 8, a sequence", [](const Audit& a) { return rank_at(a, 8); }},
    {"legal tensor parallelism", legal},
    {"FLOPs, prefill", [](const Audit& a) { return print_flops(a.prefill.total); }},
    {"FLOPs, decode of a token", [](const Audit& a) { return print_flops(a.decode.total); }},
};

}  // namespace

std::string write_compare(const std::vector<Audit>& audits, std::string_view format) {
  if (format == "json") {
    Json json;
    json.object([&] {
      json_head(json);
      json_query(json, audits.front().query);
      json.objects("models", audits, [&](const Audit& a) {
        json_architecture(json, a.architecture);
        json_params(json, a.params);
        json_cache(json, a);
        json_flops(json, a);
      });
    });
    return json.finish();
  }
  Document doc;
  const ModelQuery& q = audits.front().query;
  doc.heading(1, fmt::format("{} at {}, batch {}", counted(static_cast<std::int64_t>(audits.size()), "model", "models"),
                             tokens(q.n_ctx), q.batch));
  doc.paragraph(fmt::format("Payload in {}; FLOPs counted as {}.", literal(q.cache.name), literal(q.flops.id)));
  Table t{{{"Figure"}}, {}};
  for (const Audit& a : audits) t.columns.push_back({literal(model_title(a.architecture)), Align::right});
  for (const Line& line : kLines) {
    std::vector<std::string> row = {line.name};
    for (const Audit& a : audits) row.push_back(line.value(a));
    t.rows.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < audits.front().allocations.size(); ++i) {
    std::vector<std::string> row = {"reserved by " + literal(audits.front().allocations[i].runtime)};
    for (const Audit& a : audits) row.push_back(print_bytes(a.allocations[i].total));
    t.rows.push_back(std::move(row));
  }
  doc.table(std::move(t));
  return written(doc, format);
}

std::string write_solutions(const Audit& a, const std::vector<Solution>& solutions, const std::string& runtime,
                            std::string_view format) {
  const ModelQuery& q = a.query;
  if (format == "json") {
    Json json;
    json.object([&] {
      json_head(json);
      json_query(json, q);
      json.text("model", model_title(a.architecture));
      json.text("runtime", runtime.empty() ? "payload" : runtime);
      json.objects("solutions", solutions, [&](const Solution& s) {
        json.text("quantity", s.quantity);
        json.text("unit", s.unit);
        json.integer("value", s.value);
        json.boolean("at_limit", s.at_limit);
        const auto use = [&](std::string_view name, const MemoryUse& u) {
          json.object(name, [&] {
            json.integer("weights", u.weights);
            json.integer("cache", u.cache);
            json.integer("reserve", u.reserve);
            json.integer("used", u.used());
            json.integer("capacity", u.capacity);
          });
        };
        use("at_value", s.at_value);
        use("one_more", s.one_more);
        json.integer("tensor_parallel", s.parallel.tensor);
        json.integer("pipeline_parallel", s.parallel.pipeline);
        json.text("note", s.note);
      });
    });
    return json.finish();
  }
  Document doc;
  doc.heading(1, fmt::format("{} on {}", literal(model_title(a.architecture)), literal(q.target->name)));
  doc.paragraph(fmt::format(
      "Weights in {}, cache in {}, {}; batch {}, {}; {}-way tensor and {}-way pipeline parallelism.", q.weights->id,
      literal(q.cache.name), runtime.empty() ? "payload alone" : "reserved as by " + literal(runtime), q.batch,
      tokens(q.n_ctx), q.parallel.tensor, q.parallel.pipeline));
  Table t{{{"Question"},
           {"Answer", Align::right},
           {"Used at the answer", Align::right},
           {"One more", Align::right},
           {"Note"}},
          {}};
  for (const Solution& s : solutions) {
    const auto use = [](const MemoryUse& u) {
      const Bytes gap = u.fits() ? u.capacity - u.used() : u.used() - u.capacity;
      return print_bytes(u.used()) + " of " + print_bytes(u.capacity) + ", " + print_grouped(gap.value()) +
             (u.fits() ? " B free" : " B too many");
    };
    const bool none = s.value == 0;
    t.rows.push_back({s.quantity, none ? "none" : print_grouped(s.value) + " " + s.unit, none ? "" : use(s.at_value),
                      s.at_limit ? "the tool's limit" : use(s.one_more), literal(s.note)});
  }
  doc.table(std::move(t));
  return written(doc, format);
}

}  // namespace mha
