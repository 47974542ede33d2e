// rules/runtimes/<id>.yaml: how a serving runtime reserves cache.
#include "mha/limits.hpp"

#include "rules/loaders.hpp"

namespace mha {

Expected<RuntimeRule> read_runtime(const Document& document) {
  Diagnostics problems;
  MapReader reader(&document.root, document.file, "", problems);
  RuntimeRule out;
  out.id = read_id(reader, document);
  out.name = reader.text("name");
  out.version = reader.text("version");
  out.block_tokens = reader.count("block_tokens", 1, limits::kMaxContext);
  out.spare_tokens = reader.count("spare_tokens", 0, limits::kMaxContext);
  out.window = read_choice(reader, "window", {"full", "blocks", "cells", "tokens"});
  out.window_block = reader.count("window_block", 1, limits::kMaxContext);
  out.step_tokens = reader.count("step_tokens", 0, limits::kMaxContext);
  out.shared_context = reader.value("shared_context", parse_bool);
  out.unified_pages = reader.value("unified_pages", parse_bool);
  out.latent_cache = reader.value("latent_cache", parse_bool);
  out.source = reader.source("source");
  out.note = reader.optional_text("note");
  reader.close();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace mha
