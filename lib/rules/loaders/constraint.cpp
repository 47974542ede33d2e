// rules/constraints/<id>.yaml. Which thresholds a constraint needs is known to its predicate alone.
#include "rules/loaders.hpp"

namespace mha {

Expected<ConstraintRule> read_constraint(const Document& document) {
  Diagnostics problems;
  MapReader reader(&document.root, document.file, "", problems);
  ConstraintRule out;
  out.id = read_id(reader, document);
  out.severity = read_choice(reader, "severity", {"reject", "warn"});
  if (const Node* node = reader.free_map("thresholds")) {
    MapReader inner(node, document.file, "thresholds", problems);
    for (const Node& child : node->children) out.thresholds[child.key] = inner.value(child.key, parse_real);
  }
  out.why = reader.text("why");
  out.source = reader.source("source");
  reader.optional_text("note");
  reader.close();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace mha
