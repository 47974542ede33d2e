// rules/priorities/<id>.yaml
#include "rules/loaders.hpp"

namespace mha {

Expected<Priority> read_priority(const Document& document) {
  Diagnostics problems;
  MapReader reader(&document.root, document.file, "", problems);
  Priority out;
  out.id = read_id(reader, document);
  out.quality_slack = reader.real("quality_slack", 0, 1);
  out.objective = read_choice(reader, "objective", {"decode_time", "training_flops"});
  out.source = reader.source("source");
  reader.optional_text("note");
  reader.close();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace mha
