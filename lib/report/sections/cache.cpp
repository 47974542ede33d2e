// Answer 3: the KV cache, exact and human, per token, per sequence, for the batch, and by context length.
#include <fmt/format.h>

#include "mha/quantity.hpp"

#include "report/figures.hpp"
#include "report/sections/sections.hpp"

namespace mha::report {
namespace {

const char* sharding_text(Sharding sharding) {
  switch (sharding) {
    case Sharding::split_heads:
      return "split by heads";
    case Sharding::split_kv_heads:
      return "split by KV heads down to one, then replicated";
    case Sharding::replicated:
      return "replicated on every device";
  }
  return "";
}

std::string format_text(const StorageFormat& format) {
  if (format.block_elements == 1) {
    return fmt::format("{}, {} an element", format.id, counted(format.block_bytes, "byte", "bytes"));
  }
  return fmt::format("{}, {} a block of {} elements", format.id, counted(format.block_bytes, "byte", "bytes"),
                     format.block_elements);
}

void add_size_row(Table& table, std::string quantity, std::string how, Bytes bytes) {
  table.rows.push_back({std::move(quantity), std::move(how), exact_bytes(bytes), print_bytes(bytes)});
}

}  // namespace

MemoryStatement memory_statement(const Recommendation& r) {
  const Cost& cost = r.winner().cost;
  const Bytes device = r.target.memory.value;
  const Bytes need = cost.memory_per_rank + r.target.reserve.value;
  const std::string batch = counted(r.workload.batch, "sequence", "sequences") + " of " + tokens(r.workload.n_ctx);
  const std::string sum =
      fmt::format("weights {} + cache {} + reserve {} = {} per device", print_bytes(cost.weights_per_rank),
                  print_bytes(cost.cache.per_rank_batch), print_bytes(r.target.reserve.value), print_bytes(need));
  if (cost.cache.per_rank_batch > device) {
    return {false,
            fmt::format("One batch exceeds the device's memory: {} of {} need {} of KV cache alone, {} has {} ({}).",
                        counted(r.workload.batch, "sequence", "sequences"), tokens(r.workload.n_ctx),
                        print_bytes(cost.cache.per_rank_batch), r.target.name, print_bytes(device), sum)};
  }
  if (need > device) {
    return {false,
            fmt::format("One batch exceeds the device's memory together with the weights: {} need {}; {} has {}, {} "
                        "too little.",
                        batch, sum, r.target.name, print_bytes(device), print_bytes(need - device))};
  }
  return {true, fmt::format("One batch fits: {} need {}; {} has {}, {} to spare.", batch, sum, r.target.name,
                            print_bytes(device), print_bytes(device - need))};
}

void add_cache(Document& doc, const ReportContext& c) {
  const CacheSize& cache = c.winner.cost.cache;
  const Workload& w = c.rec.workload;

  Table entries{{{"Cached entry"}, {"Elements per token and layer"}, {"Format"}, {"Tensor parallelism"}}, {}};
  for (const CacheEntry& entry : c.plan.cache) {
    const StorageFormat& format = entry.part == KvPart::key ? *c.winner.formats.key : *c.winner.formats.value;
    entries.rows.push_back({std::string(entry.name),
                            fmt::format("{} = {} * {} = {}", entry.formula, entry.n_rows, entry.row_elements,
                                        print_grouped(i128{entry.n_rows} * entry.row_elements)),
                            format_text(format), sharding_text(entry.sharding)});
  }
  doc.table(std::move(entries));

  Table sizes{{{"KV cache (payload)"}, {"How"}, {"Exact", Align::right}, {"Human", Align::right}}, {}};
  add_size_row(
      sizes, "per token per layer",
      fmt::format("{} elements in {}", print_grouped(cache.elements_per_token_per_layer.value()), c.winner.kv_format),
      cache.per_token_per_layer);
  add_size_row(sizes, "per token", fmt::format("x {} layers", c.winner.shape.n_layers), cache.per_token);
  add_size_row(sizes, "per sequence", fmt::format("x {}", tokens(w.n_ctx)), cache.per_sequence);
  add_size_row(sizes, "batch", fmt::format("x {}", counted(w.batch, "sequence", "sequences")), cache.batch);
  add_size_row(sizes, "batch, per device",
               w.tensor_parallel == 1 ? std::string("one device")
                                      : fmt::format("most loaded of {} ranks", print_grouped(w.tensor_parallel)),
               cache.per_rank_batch);
  doc.table(std::move(sizes));

  const MemoryStatement statement = memory_statement(c.rec);
  doc.paragraph(statement.fits ? literal(statement.text) : "**" + literal(statement.text) + "**");

  Table ladder{{{"Context", Align::right},
                {"Per sequence, exact", Align::right},
                {"Per sequence", Align::right},
                {"Batch, per device", Align::right},
                {"Decode step, bound", Align::right},
                {"Fits"}},
               {}};
  for (const LadderRow& row : c.rec.ladder) {
    ladder.rows.push_back({tokens(row.n_ctx), exact_bytes(row.kv_per_sequence), print_bytes(row.kv_per_sequence),
                           print_bytes(row.kv_batch_per_rank), print_seconds(row.decode_s), row.fits ? "yes" : "no"});
  }
  if (ladder.rows.empty()) return;
  doc.paragraph(
      fmt::format("By context length, batch {}; *fits* counts weights, the cache of the batch and the reserve.",
                  print_grouped(w.batch)));
  doc.table(std::move(ladder));
}

}  // namespace mha::report
