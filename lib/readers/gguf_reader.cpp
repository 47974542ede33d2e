// GGUF: header, then its words in those of a config.json, then the reader of those. At the end the tensors are added up
// and compared with the description, which no table of families can fake.
#include <utility>

#include "mha/model_cost.hpp"
#include "mha/model_readers.hpp"

#include "readers/gguf_config.hpp"
#include "readers/gguf_file.hpp"
#include "readers/gguf_keys.hpp"

namespace mha {
namespace {

// Messages name the keys that the file has, not those of a config.json.
void in_words_of_the_file(Diagnostics& diagnostics, const std::string& architecture) {
  for (Diagnostic& found : diagnostics) {
    const std::string key = gguf_key(found.where.key, architecture);
    if (key.empty()) continue;
    found.where.key = key;
    if (found.code == "missing-field") found.hint = "a GGUF file says it as " + key + "; it is not guessed";
  }
}

void compare_with_tensors(const GgufFile& file, Architecture& model) {
  if (file.tensors.empty() || !has_all_tensors(file)) return;
  model.stored = gguf_stored(file);
  i128 held = 0;
  for (const GgufTensor& tensor : file.tensors) held += tensor.elements;
  const i128 described = count_params(model, lower(model)).stored.value();
  if (held == described) return;
  model.notes.push_back(
      Diagnostic{Severity::note, "tensor-total", Location{file.file, 0, 0, {}},
                 "the tensors hold " + to_decimal(held) + " elements, the description gives " + to_decimal(described) +
                     " (" + (held > described ? "+" : "") + to_decimal(held - described) + ")",
                 "parameter counts below are the description's; caches and layouts do not depend on it"});
}

Expected<Architecture> read(const Expected<GgufFile>& file, const std::vector<FamilyRule>& families) {
  if (!file) return file.error();
  const Expected<std::string> architecture = gguf_architecture(*file);
  if (!architecture) return architecture.error();
  const FamilyRule* family = find_gguf_family(families, *architecture);
  if (family == nullptr || family->model_types.empty()) {
    std::vector<std::string> known;
    for (const FamilyRule& rule : families) known.insert(known.end(), rule.gguf.begin(), rule.gguf.end());
    return Diagnostic{Severity::error, "unknown-architecture", Location{file->file, 0, 0, "general.architecture"},
                      "no family of models is known as '" + *architecture + "' in GGUF files",
                      did_you_mean(*architecture, known)};
  }
  Expected<GgufConfig> config = gguf_config(*file, family->model_types.front());
  if (!config) return config.error();
  Expected<Architecture> model = architecture_from_config(config->root, file->file, families);
  if (!model) {
    Diagnostics problems = model.error();
    in_words_of_the_file(problems, *architecture);
    return problems;
  }
  const Diagnostics unsound = check_architecture(*model);
  if (!unsound.empty()) return unsound;
  in_words_of_the_file(model->notes, *architecture);
  model->source.text = "GGUF metadata";
  model->notes.insert(model->notes.end(), file->notes.begin(), file->notes.end());
  model->notes.insert(model->notes.end(), config->notes.begin(), config->notes.end());
  compare_with_tensors(*file, *model);
  return model;
}

}  // namespace

Expected<Architecture> read_gguf_file(const std::string& path, const std::vector<FamilyRule>& families) {
  return read(read_gguf_header(path), families);
}

Expected<Architecture> read_gguf_bytes(std::span<const std::byte> bytes, const std::string& file,
                                       const std::vector<FamilyRule>& families) {
  return read(read_gguf_header(bytes, file), families);
}

}  // namespace mha
