// Reads rules: the copy embedded in the binary, with files of a user's folder added to or in place of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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
  // Sorted ids of a folder: "targets", "kernels", "quality", "priorities", "constraints", "shapes".
  [[nodiscard]] std::vector<std::string> ids(std::string_view folder) const;
  // Reads every file of every folder and returns all problems (used by tests and by `list rules`).
  [[nodiscard]] Diagnostics check_all() const;

 private:
  std::string rules_dir_;
};

// A request file (request.yaml): flat keys, the same names as the flags with '_' for '-'. Reads into `request`, so that
// flags can be applied on top.
[[nodiscard]] Diagnostics read_request_file(const std::string& path, Request& request);
[[nodiscard]] Diagnostics read_request_text(std::string_view text, const std::string& name, Request& request);

}  // namespace mha
