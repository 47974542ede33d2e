// Reads rules: the copy embedded in the binary, with files of a user's folder added to or in place of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mha/architecture.hpp"
#include "mha/family.hpp"
#include "mha/request.hpp"
#include "mha/rules.hpp"

namespace mha {

class RuleStore {
 public:
  // `rules_dir` empty: embedded rules only. A file DIR/targets/x.yaml adds target x, or replaces the embedded one.
  explicit RuleStore(std::string rules_dir = {});

  [[nodiscard]] Expected<RuleSet> load(std::string_view target_id) const;  // everything one request needs
  [[nodiscard]] Expected<Target> target(std::string_view id) const;
  [[nodiscard]] Expected<KernelSupport> kernel(std::string_view id) const;
  [[nodiscard]] Expected<std::vector<FamilyRule>> families() const;  // sorted by id
  // Only those with one of `names` as a model_type or GGUF architecture, without taking the others apart: what reading one
  // file needs.
  [[nodiscard]] Expected<std::vector<FamilyRule>> families_of(const std::vector<std::string>& names) const;
  [[nodiscard]] Expected<Architecture> model(std::string_view id) const;  // of the catalogue
  [[nodiscard]] Expected<RuntimeRule> runtime(std::string_view id) const;
  [[nodiscard]] Expected<std::vector<RuntimeRule>> runtimes() const;        // sorted by id
  [[nodiscard]] Expected<std::vector<ConversionRule>> conversions() const;  // sorted by id
  [[nodiscard]] Expected<std::vector<QualityPreset>> presets() const;       // optimistic, default, conservative
  // Sorted ids of a folder: "targets", "kernels", "quality", "priorities", "constraints", "shapes", "models" ...
  [[nodiscard]] std::vector<std::string> ids(std::string_view folder) const;
  // Reads every file of every folder and returns all problems (used by tests and by `list rules`).
  [[nodiscard]] Diagnostics check_all() const;

 private:
  std::string rules_dir_;
};

// A model in our own YAML, as in rules/models/*.yaml (docs/model-file.md).
[[nodiscard]] Expected<Architecture> read_model_yaml(std::string_view text, const std::string& file);

// A request file (request.yaml): flat keys, the same names as the flags with '_' for '-'. Reads into `request`, so that
// flags can be applied on top.
[[nodiscard]] Diagnostics read_request_file(const std::string& path, Request& request);
[[nodiscard]] Diagnostics read_request_text(std::string_view text, const std::string& name, Request& request);

}  // namespace mha
