// Every figure of a whole model as formula, numbers filled in and value. Rows are made from the same normal form as the
// figures; the property tests add them up.
#include "mha/quantity.hpp"

#include "audit/parts.hpp"

namespace mha {
namespace {

std::string n(i128 value) {
  return to_decimal(value);
}

std::string params(i128 value) {
  return print_grouped(value) + " parameters";
}

std::string bytes(Bytes value) {
  return print_grouped(value.value()) + " B (" + print_bytes(value) + ")";
}

std::string flops(Flops value) {
  return print_grouped(value.value()) + " FLOP (" + print_flops(value) + ")";
}

class Rows {
 public:
  explicit Rows(std::vector<ExplainRow>& out) : out_(out) {}
  void group(std::string name) { group_ = std::move(name); }
  void add(std::string figure, std::string formula, std::string substituted, std::string value,
           std::string source = "") {
    out_.push_back(
        {group_, std::move(figure), std::move(formula), std::move(substituted), std::move(value), std::move(source)});
  }

 private:
  std::vector<ExplainRow>& out_;
  std::string group_;
};

std::string copies_of(const Tensor& t) {
  return t.copies == 1 ? std::string() : n(t.copies) + " * ";
}

std::string dimensions(const Tensor& t) {
  return t.rows == 1 ? n(t.cols) : n(t.rows) + " * " + n(t.cols);
}

void tensor_row(Rows& rows, const std::string& where, const Tensor& t, std::int64_t n_layers) {
  const std::string layers = n_layers > 1 ? n(n_layers) + " * " : "";
  rows.add(where + t.name,
           (n_layers > 1 ? "n_layers * " : "") + (t.copies == 1 ? std::string() : "copies * ") + t.formula,
           layers + copies_of(t) + dimensions(t), params(t.elements() * n_layers));
}

void explain_params(const Audit& a, Rows& rows) {
  rows.group("Parameters");
  for (const Tensor& t : a.plan.once) tensor_row(rows, "", t, 1);
  for (const LayerGroup& group : layer_groups(a.architecture)) {
    for (const Tensor& t : a.plan.specs[group.spec].tensors)
      tensor_row(rows, a.architecture.specs[group.spec].name + ": ", t, group.n_layers);
  }
  std::string sum, active;
  for (const ComponentParams& c : a.params.components) {
    sum += (sum.empty() ? "" : " + ") + n(c.total.value());
    active += (active.empty() ? "" : " + ") + n(c.active.value());
  }
  rows.add("total", "sum of the components", sum, params(a.params.total.value()));
  rows.add("active", "total less the experts that a token does not use", active, params(a.params.active.value()));
  if (a.params.mtp.value() > 0) {
    const Params layer = layer_params(a.plan.specs[a.architecture.layers.back()]);
    i128 rest = 0;
    for (const Tensor& t : a.plan.mtp) rest += t.elements();
    rows.add("multi-token prediction", "mtp_layers * (last layer) + projections, norms and tables",
             n(a.architecture.mtp.n_layers) + " * " + n(layer.value()) + " + " + n(rest), params(a.params.mtp.value()));
  }
  rows.add("resident", "total + multi-token prediction", n(a.params.total.value()) + " + " + n(a.params.mtp.value()),
           params(a.params.resident.value()));
  for (const NamedParams& extra : a.architecture.stored)
    rows.add("stored: " + extra.name, "in the checkpoint, no parameter", n(extra.elements), params(extra.elements));
  rows.add("stored", "resident + what is stored besides",
           n(a.params.resident.value()) + " + " + n(a.params.stored.value() - a.params.resident.value()),
           params(a.params.stored.value()));
}

std::string growth_formula(const Growth& g) {
  switch (g.kind) {
    case Growth::Kind::token:
      return "n_ctx";
    case Growth::Kind::window:
      return "min(n_ctx, window)";
    case Growth::Kind::chunked:
      return "min(n_ctx, chunk)";
    case Growth::Kind::compressed:
      return "floor(n_ctx / ratio)";
    case Growth::Kind::fixed:
      return "1";
    case Growth::Kind::source:
      return "n_source";
  }
  return "";
}

std::string growth_numbers(const Growth& g, const ModelQuery& q) {
  switch (g.kind) {
    case Growth::Kind::window:
    case Growth::Kind::chunked:
      return "min(" + n(q.n_ctx) + ", " + n(g.limit) + ")";
    case Growth::Kind::compressed:
      return "floor(" + n(q.n_ctx) + " / " + n(g.limit) + ")";
    case Growth::Kind::token:
    case Growth::Kind::fixed:
    case Growth::Kind::source:
      break;
  }
  return n(cached_rows(g, q.n_ctx, q.n_source));
}

void explain_cache(const Audit& a, Rows& rows) {
  rows.group("KV cache");
  std::string sum;
  for (const CacheLine& line : a.cache.lines) {
    const Growth& growth = line.component.growth;
    const StorageFormat* format = find_format(line.format);
    rows.add(line.layers + ": " + std::string(name_of(line.component.role)),
             "n_layers * " + growth_formula(growth) + " * bytes(" + line.component.formula + ")",
             n(line.n_layers) + " * " + growth_numbers(growth, a.query) + " * " + n(line.row.value()) + " (" +
                 n(line.component.n_rows) + " rows of " + n(line.component.row_elements) + " in " + line.format + ")",
             bytes(line.total), format == nullptr ? "" : std::string(format->source));
    sum += (sum.empty() ? "" : " + ") + n(line.total.value());
  }
  rows.add("a sequence", "sum of the above", sum.empty() ? "0" : sum, bytes(a.cache.per_sequence));
  rows.add("slope", "bytes that the growing caches add",
           n(a.cache.slope.value()) + " B in " + n(a.cache.slope_tokens) +
               (a.cache.slope_tokens == 1 ? " token" : " tokens"),
           print_fixed(a.cache.bytes_per_token(), 3) + " B/token");
  rows.add("fixed", "full windows and states", n(a.cache.fixed.value()), bytes(a.cache.fixed));
  rows.add("the batch", "batch * a sequence", n(a.query.batch) + " * " + n(a.cache.per_sequence.value()),
           bytes(a.cache.per_sequence * a.query.batch));
  for (const RankRow& row : a.ranks) {
    if (!row.legal || row.tensor_parallel == 1) continue;
    rows.add("one of " + n(row.tensor_parallel) + " tensor-parallel ranks, a sequence",
             "KV heads split to one and then replicate, latents replicate, states split",
             n((row.per_sequence - row.replicated).value()) + " split + " + n(row.replicated.value()) + " whole",
             bytes(row.per_sequence));
  }
  for (const Allocation& allocation : a.allocations) {
    for (const AllocationLine& line : allocation.lines)
      rows.add(allocation.runtime + ", " + line.layers + ": " + line.what,
               "n_layers * cells * bytes a cell * sequences", n(line.n_layers) + " layers, " + n(line.cells) + " cells",
               bytes(line.total));
    rows.add(allocation.runtime, "sum of its lines", n(allocation.total.value()), bytes(allocation.total));
  }
}

void explain_flops(const Audit& a, const ModelFlops& count, const std::string& phase, Rows& rows) {
  rows.group("FLOPs, " + phase + " (" + std::string(a.query.flops.id) + ")");
  std::string sum;
  for (const FlopLine& line : count.lines) {
    rows.add(line.name, "2 * multiply-adds", n(line.value.value()), flops(line.value),
             std::string(a.query.flops.source));
    sum += (sum.empty() ? "" : " + ") + n(line.value.value());
  }
  rows.add("total", "sum of the above", sum.empty() ? "0" : sum, flops(count.total));
}

void explain_work(const Audit& a, Rows& rows) {
  rows.group("Multiply-adds of one layer");
  for (const LayerGroup& group : layer_groups(a.architecture)) {
    const std::string& name = a.architecture.specs[group.spec].name;
    for (const Work& work : a.plan.specs[group.spec].work) {
      for (const WorkPath& path : work.paths) {
        for (const WorkTerm& term : path.terms) {
          const char* per = term.per == MacPer::new_token       ? "a new token"
                            : term.per == MacPer::context_token ? "a cached token"
                                                                : "a query-key pair";
          rows.add(name + ": " + work.name + (work.paths.size() > 1 ? " (" + path.name + ")" : "") + ", " + term.name,
                   term.formula, n(term.macs), print_grouped(term.macs) + " for " + per);
        }
      }
    }
  }
}

}  // namespace

std::vector<ExplainRow> explain(const Audit& audit) {
  std::vector<ExplainRow> out;
  Rows rows(out);
  explain_params(audit, rows);
  explain_cache(audit, rows);
  explain_work(audit, rows);
  explain_flops(audit, audit.prefill, "prefill of " + print_grouped(audit.query.n_ctx - audit.query.n_past) + " tokens",
                rows);
  explain_flops(audit, audit.decode, "decode of one token", rows);
  return out;
}

}  // namespace mha
