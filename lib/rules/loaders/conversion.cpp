// rules/conversions/<id>.yaml: one published conversion of a trained model's attention.
#include "rules/loaders.hpp"

namespace mha {

Expected<ConversionRule> read_conversion(const Document& document) {
  Diagnostics problems;
  MapReader reader(&document.root, document.file, "", problems);
  ConversionRule out;
  out.id = read_id(reader, document);
  out.from = reader.list("from", parse_text);
  out.to = reader.list("to", parse_text);
  out.method = reader.text("method");
  out.cost = reader.text("cost");
  out.effect = reader.text("effect");
  out.scale = reader.text("scale");
  out.tier = read_choice(reader, "tier", {"T1", "T2", "T3", "T4"});
  out.source = reader.source("source");
  reader.close();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace mha
