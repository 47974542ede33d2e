// rules/shapes/<id>.yaml: one production model.
#include "mha/limits.hpp"

#include "rules/loaders.hpp"

namespace mha {

Expected<ShapeRow> read_shape(const Document& document) {
  Diagnostics problems;
  MapReader reader(&document.root, document.file, "", problems);
  ShapeRow out;
  out.id = read_id(reader, document);
  out.params = reader.count("params", limits::kMinParams, limits::kMaxParams);
  out.d_model = reader.count("d_model", 1, limits::kMaxModelWidth);
  out.n_layers = reader.count("n_layers", 1, limits::kMaxLayers);
  out.n_heads = reader.count("n_heads", 1, limits::kMaxHeads);
  out.n_kv_heads = reader.count("n_kv_heads", 1, limits::kMaxHeads);
  if (out.n_heads > 0 && out.n_kv_heads > 0 && out.n_heads % out.n_kv_heads != 0) {
    reader.invalid("n_kv_heads", "kv-heads-divide",
                   to_decimal(out.n_kv_heads) + " KV heads do not divide " + to_decimal(out.n_heads) + " heads",
                   "give a divisor of n_heads");
  }
  out.d_head = reader.count("d_head", 1, limits::kMaxHeadWidth);
  out.d_ff = reader.count("d_ff", 1, limits::kMaxFeedForward);
  out.vocab_size = reader.count("vocab_size", 1, limits::kMaxVocab);
  out.tied_embeddings = reader.value("tied_embeddings", parse_bool);
  out.source = reader.source("source");
  reader.optional_text("note");
  reader.close();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace mha
