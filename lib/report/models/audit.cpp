// audit: one page about one model. Every size stands beside the context and batch it is for.
#include <fmt/format.h>

#include "mha/model_report.hpp"
#include "mha/quantity.hpp"

#include "report/figures.hpp"
#include "report/json_parts.hpp"
#include "report/models/parts.hpp"

namespace mha {
namespace {

using namespace report;

std::string signed_nats(double value) {
  return signed_fixed(value, 4);
}

void say_answer(const Audit& a, Document& doc) {
  doc.heading(1, literal(model_title(a.architecture)));
  std::string family = a.architecture.family.empty() ? std::string() : literal(a.architecture.family) + ", ";
  doc.paragraph(fmt::format("{}{} layers ({}), d_model {}, vocabulary {}{}.", family, a.architecture.n_layers(),
                            literal(layer_pattern(a.architecture)), print_grouped(a.architecture.d_model),
                            print_grouped(a.architecture.vocab_size),
                            a.architecture.tied_embeddings ? ", tied embeddings" : ""));
  doc.paragraph(
      fmt::format("**{}** parameters, {} used by a token. KV cache **{}** and {} fixed: {} for one sequence of {}, {} "
                  "for a batch of "
                  "{} (payload, {}).",
                  params_both(a.params.total), print_count(a.params.active.value()), slope_text(a.cache),
                  print_bytes(a.cache.fixed), bytes_both(a.cache.per_sequence), tokens(a.query.n_ctx),
                  print_bytes(a.cache.per_sequence * a.query.batch), a.query.batch, literal(a.query.cache.name)));
}

void say_layers(const Audit& a, Document& doc) {
  Table t{{{"Kind"},
           {"Layers", Align::right},
           {"Attention"},
           {"Feed-forward"},
           {"Norms", Align::right},
           {"Parameters a layer", Align::right}},
          {}};
  for (const LayerGroup& group : layer_groups(a.architecture)) {
    const LayerSpec& spec = a.architecture.specs[group.spec];
    t.rows.push_back({literal(spec.name), std::to_string(group.n_layers), literal(attention_text(spec)),
                      literal(feed_forward_text(spec.ffn)), std::to_string(spec.norms),
                      print_grouped(layer_params(a.plan.specs[group.spec]).value())});
  }
  doc.heading(2, "Layers");
  doc.table(std::move(t));
}

void say_findings(const Audit& a, Document& doc) {
  doc.heading(2, "What is unusual, and what follows");
  std::vector<std::string> items;
  for (const Finding& finding : a.findings) {
    items.push_back(fmt::format("{}{}: {}.", finding.severity == Severity::note ? "" : "**Warning**, ",
                                literal(finding.code), literal(finding.message)));
  }
  if (items.empty()) items.emplace_back("Nothing: a plain layout that every runtime stores as it is.");
  doc.bullets(std::move(items));
}

void say_params(const Audit& a, Document& doc) {
  Table t{{{"Parameters"}, {"Total", Align::right}, {"Used by a token", Align::right}}, {}};
  for (const ComponentParams& c : a.params.components)
    t.rows.push_back(
        {std::string(name_of(c.component)), print_grouped(c.total.value()), print_grouped(c.active.value())});
  t.rows.push_back({"**total**", print_grouped(a.params.total.value()), print_grouped(a.params.active.value())});
  if (a.params.mtp.value() > 0) t.rows.push_back({"multi-token prediction", print_grouped(a.params.mtp.value()), "0"});
  t.rows.push_back({"resident", print_grouped(a.params.resident.value()), ""});
  if (a.params.stored != a.params.resident)
    t.rows.push_back({"stored in the checkpoint", print_grouped(a.params.stored.value()), ""});
  doc.heading(2, "Parameters");
  doc.table(std::move(t));
  if (!a.architecture.stored.empty()) {
    std::vector<std::string> items;
    for (const NamedParams& extra : a.architecture.stored)
      items.push_back(
          fmt::format("stored besides: {}, {} elements", literal(extra.name), print_grouped(extra.elements)));
    doc.bullets(std::move(items));
  }
}

std::string growth_text(const Growth& g) {
  switch (g.kind) {
    case Growth::Kind::token:
      return "every token";
    case Growth::Kind::window:
      return fmt::format("up to a window of {}", print_grouped(g.limit));
    case Growth::Kind::chunked:
      return fmt::format("up to a chunk of {}", print_grouped(g.limit));
    case Growth::Kind::compressed:
      return fmt::format("every {} tokens", print_grouped(g.limit));
    case Growth::Kind::fixed:
      return "fixed";
    case Growth::Kind::source:
      return "source tokens";
  }
  return "";
}

void say_cache(const Audit& a, Document& doc) {
  doc.heading(2, fmt::format("KV cache of one sequence at {}", tokens(a.query.n_ctx)));
  Table t{{{"Layers"},
           {"What"},
           {"Grows with"},
           {"Format"},
           {"Bytes a row and layer", Align::right},
           {"All layers", Align::right}},
          {}};
  for (const CacheLine& line : a.cache.lines) {
    t.rows.push_back({fmt::format("{} {}", line.n_layers, literal(line.layers)),
                      std::string(name_of(line.component.role)), growth_text(line.component.growth),
                      literal(line.format), print_grouped(line.row.value()), print_bytes(line.total)});
  }
  t.rows.push_back({"**payload**", "", "", "", "", print_bytes(a.cache.per_sequence)});
  doc.table(std::move(t));

  Table by{{{"Context", Align::right},
            {"Payload, a sequence", Align::right},
            {"Batch", Align::right},
            {"Bytes a token", Align::right}},
           {}};
  for (std::int64_t n = 1024; n <= std::max<std::int64_t>(a.query.n_ctx, 1024); n *= 2) {
    const Bytes at = cache_of(a.architecture, a.plan, a.query.cache, n, a.query.n_source).per_sequence;
    by.rows.push_back({print_grouped(n), print_bytes(at), print_bytes(at * a.query.batch),
                       at.value() % n == 0 ? print_grouped(at.value() / n)
                                           : print_fixed(at.as_double() / static_cast<double>(n), 1)});
    if (n > a.query.n_ctx / 2) break;
  }
  doc.table(std::move(by));
}

void say_allocations(const Audit& a, Document& doc) {
  if (a.allocations.empty()) return;
  doc.heading(2, fmt::format("What runtimes reserve for {} of {}", counted(a.query.batch, "sequence", "sequences"),
                             tokens(a.query.n_ctx)));
  Table t{{{"Runtime"}, {"Reserved", Align::right}, {"Payload", Align::right}, {"Waste", Align::right}, {"Rules"}}, {}};
  for (const Allocation& allocation : a.allocations) {
    std::string notes;
    for (const std::string& note : allocation.notes) notes += (notes.empty() ? "" : "; ") + literal(note);
    const double waste =
        allocation.total.value() == 0 ? 0 : 100 * (1 - allocation.payload.as_double() / allocation.total.as_double());
    t.rows.push_back({literal(allocation.runtime), print_bytes(allocation.total), print_bytes(allocation.payload),
                      print_fixed(waste, 1) + " %", notes.empty() ? "whole blocks" : notes});
  }
  doc.table(std::move(t));
}

void say_ranks(const Audit& a, Document& doc) {
  doc.heading(2, "Tensor-parallel ranks, payload of one sequence");
  Table t{{{"Degree", Align::right},
           {"Cache a rank", Align::right},
           {"Of which whole on every rank", Align::right},
           {"Copies of a KV head", Align::right},
           {"Weights a rank", Align::right}},
          {}};
  for (const RankRow& row : a.ranks) {
    if (!row.legal) {
      t.rows.push_back({std::to_string(row.tensor_parallel), "illegal", "", "", ""});
      continue;
    }
    t.rows.push_back({std::to_string(row.tensor_parallel), print_bytes(row.per_sequence), print_bytes(row.replicated),
                      std::to_string(row.replication), print_count(row.params.value())});
  }
  doc.table(std::move(t));
  const Parallel& p = a.query.parallel;
  if (p.pipeline > 1 || p.decode_context > 1) {
    doc.paragraph(fmt::format(
        "With {}-way tensor, {}-way pipeline and {}-way decode-context parallelism the most loaded rank (stage {}, {} "
        "layers) holds {} a sequence: {} divided, {} whole.",
        p.tensor, p.pipeline, p.decode_context, a.rank.stage, a.rank.n_layers, print_bytes(a.rank.per_sequence),
        print_bytes(a.rank.split), print_bytes(a.rank.replicated)));
  }
}

void say_flops(const Audit& a, Document& doc) {
  doc.heading(2, fmt::format("FLOPs, counted as {}", literal(a.query.flops.id)));
  doc.paragraph(
      fmt::format("{} ({}). Other conventions: --flops.", literal(a.query.flops.help), literal(a.query.flops.source)));
  Table t{{{"Step"}, {"FLOPs", Align::right}, {"Exact", Align::right}}, {}};
  t.rows.push_back({fmt::format("prefill of {}{}", tokens(a.query.n_ctx - a.query.n_past),
                                a.query.n_past > 0 ? fmt::format(" behind {}", print_grouped(a.query.n_past)) : ""),
                    print_flops(a.prefill.total), print_grouped(a.prefill.total.value())});
  t.rows.push_back({fmt::format("decode of one token at {}", tokens(a.query.n_ctx)), print_flops(a.decode.total),
                    print_grouped(a.decode.total.value())});
  doc.table(std::move(t));
}

void say_alternatives(const Audit& a, Document& doc) {
  doc.heading(2, "What would cost less at equal parameters");
  if (!a.alternatives.empty()) {
    Table t{{{"Layout"},
             {"Cache a token", Align::right},
             {"A sequence", Align::right},
             {"Parameters", Align::right},
             {"d_ff", Align::right},
             {"Loss, nats", Align::right},
             {"Over the presets", Align::right},
             {"Verdict"}},
            {}};
    for (const Alternative& alt : a.alternatives) {
      std::string verdict = alt.current ? "as it is" : alt.within_slack ? "within the slack" : "beyond the slack";
      if (!alt.winner_of.empty()) {
        verdict += "; **cheapest within it**: ";
        for (std::size_t i = 0; i < alt.winner_of.size(); ++i)
          verdict += (i > 0 ? ", " : "") + literal(alt.winner_of[i]);
      }
      t.rows.push_back({literal(alt.notation), print_bytes(alt.cache_per_token), print_bytes(alt.cache_per_sequence),
                        print_count(alt.params.value()), alt.d_ff > 0 ? print_grouped(alt.d_ff) : "",
                        signed_nats(alt.loss), signed_nats(alt.loss_low) + " to " + signed_nats(alt.loss_high),
                        verdict});
    }
    doc.table(std::move(t));
  }
  doc.paragraph(
      literal(a.alternatives_note) +
      (a.alternatives.empty()
           ? ""
           : fmt::format(" Loss against the present layout, conservative preset. The slack is {} nats from the best of "
                         "these layouts; for each preset the cheapest cache within it is named.",
                         print_fixed(a.quality_slack, 3))));
}

void say_conversions(const Audit& a, Document& doc) {
  if (a.conversions.empty()) return;
  doc.heading(2, "What a conversion took elsewhere");
  Table t{{{"To"}, {"How"}, {"Cost"}, {"Effect"}, {"On"}, {"Trust"}, {"Source"}}, {}};
  for (const ConversionRule& c : a.conversions) {
    std::string to;
    for (const std::string& id : c.to) to += (to.empty() ? "" : ", ") + id;
    t.rows.push_back({literal(to), literal(c.method), literal(c.cost), literal(c.effect), literal(c.scale),
                      literal(c.tier), literal(dated(c.source))});
  }
  doc.table(std::move(t));
}

std::string audit_json(const Audit& a, const std::string& command) {
  Json json;
  json.object([&] {
    json_head(json);
    json_query(json, a.query);
    json_architecture(json, a.architecture);
    json_params(json, a.params);
    json_cache(json, a);
    json_flops(json, a);
    json.objects("findings", a.findings, [&](const Finding& f) {
      json.text("code", f.code);
      json.text("severity", f.severity == Severity::note ? "note" : "warning");
      json.text("message", f.message);
    });
    json.objects("alternatives", a.alternatives, [&](const Alternative& alt) {
      json.text("notation", alt.notation);
      json.text("variant", alt.variant);
      json.boolean("current", alt.current);
      json.boolean("within_slack", alt.within_slack);
      json.array("winner_of", [&] {
        for (const std::string& preset : alt.winner_of) json.item(preset);
      });
      json.integer("params", alt.params);
      json.integer("d_ff", alt.d_ff);
      json.integer("bytes_per_token", alt.cache_per_token);
      json.integer("bytes_per_sequence", alt.cache_per_sequence);
      json.object("delta_loss_nats", [&] {
        json.real("value", alt.loss);
        json.real("low", alt.loss_low);
        json.real("high", alt.loss_high);
      });
    });
    json.text("alternatives_note", a.alternatives_note);
    json.objects("conversions", a.conversions, [&](const ConversionRule& c) {
      json.text("id", c.id);
      json.text("method", c.method);
      json.text("cost", c.cost);
      json.text("effect", c.effect);
      json.text("source", dated(c.source));
    });
    json.text("source", a.architecture.source.text.empty() ? a.architecture.origin : dated(a.architecture.source));
    json.text("reproduce", command);
  });
  return json.finish();
}

}  // namespace

std::string write_audit(const Audit& a, const std::string& command, std::string_view format) {
  if (format == "json") return audit_json(a, command);
  if (format == "yaml") return to_yaml(a.architecture);
  Document doc;
  say_answer(a, doc);
  say_layers(a, doc);
  say_findings(a, doc);
  say_params(a, doc);
  say_cache(a, doc);
  say_allocations(a, doc);
  say_ranks(a, doc);
  say_flops(a, doc);
  say_alternatives(a, doc);
  say_conversions(a, doc);
  doc.heading(2, "Source");
  doc.paragraph(a.architecture.source.text.empty() ? "Read from " + literal(a.architecture.origin) + "."
                                                   : sentence(literal(dated(a.architecture.source))));
  doc.code("", command + "\n");
  return written(doc, format);
}

std::string write_model_explain(const Audit& a, const std::vector<ExplainRow>& rows, std::string_view format) {
  if (format == "json") {
    Json json;
    json.object([&] {
      json_head(json);
      json_query(json, a.query);
      json_architecture(json, a.architecture);
      json.objects("figures", rows, [&](const ExplainRow& row) {
        json.text("group", row.group);
        json.text("figure", row.figure);
        json.text("formula", row.formula);
        json.text("substituted", row.substituted);
        json.text("value", row.value);
        json.text("source", row.source);
      });
    });
    return json.finish();
  }
  Document doc;
  doc.heading(1, literal(model_title(a.architecture)));
  for (std::size_t i = 0; i < rows.size();) {
    const std::string& group = rows[i].group;
    Table t{{{"Figure"}, {"Value", Align::right}, {"Formula"}, {"With the numbers"}, {"Source"}}, {}};
    for (; i < rows.size() && rows[i].group == group; ++i)
      t.rows.push_back({literal(rows[i].figure), literal(rows[i].value), literal(rows[i].formula),
                        literal(rows[i].substituted), literal(rows[i].source)});
    doc.heading(2, literal(group));
    doc.table(std::move(t));
  }
  return written(doc, format);
}

}  // namespace mha
