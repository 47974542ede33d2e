#include "rules/folder.hpp"

#include <algorithm>
#include <filesystem>

#include "core/text.hpp"
#include "rules/loaders.hpp"
#include "rules/text_file.hpp"
#include "rules/yaml_reader.hpp"

namespace mha {
namespace {

namespace fs = std::filesystem;

Diagnostic problem(const fs::path& path, std::string code, std::string what, std::string hint) {
  return Diagnostic{Severity::error, std::move(code), Location{path.string(), 0, 0, {}}, std::move(what),
                    std::move(hint)};
}

// Sorted, so that neither ids nor messages depend on the file system's order.
std::vector<fs::path> entries(const fs::path& dir, std::error_code& error) {
  std::vector<fs::path> out;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) out.push_back(it->path());
  std::sort(out.begin(), out.end());
  return out;
}

bool is_id(const std::string& id) {
  return !id.empty() && id[0] != '.' && id[0] != '-' && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '.' || c == '_';
  });
}

}  // namespace

Listing list_folder(const std::string& rules_dir, std::string_view folder) {
  Listing out;
  const fs::path dir = fs::path(rules_dir) / folder;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(dir, error))) return out;
  error.clear();
  for (const fs::path& path : entries(dir, error)) {
    const std::string name = path.filename().string();
    if (name[0] == '.') continue;  // an editor's
    if (path.extension() == ".yml") {
      out.problems.push_back(problem(path, "bad-file-name", "rule files end in .yaml", "rename it"));
    } else if (path.extension() == ".yaml") {
      const std::string id = path.stem().string();
      if (is_id(id)) {
        out.ids.push_back(id);
      } else {
        out.problems.push_back(problem(path, "bad-file-name", shown(id) + " cannot be the name of a rule",
                                       "use lower-case letters, digits, '-', '_' and '.'"));
      }
    }
  }
  if (error)
    out.problems.push_back(problem(dir, "unreadable-folder", "cannot list the folder", "check its permissions"));
  std::sort(out.ids.begin(), out.ids.end());
  return out;
}

Diagnostics check_rules_dir(const std::string& rules_dir) {
  std::error_code error;
  if (!fs::is_directory(rules_dir, error)) {
    return {problem(rules_dir, "no-rules-folder", "there is no such folder of rules",
                    "give a folder that holds targets/, kernels/ or another kind of rule")};
  }
  std::vector<std::string> known;
  for (const RuleKind& kind : rule_kinds()) known.emplace_back(kind.folder);
  Diagnostics out;
  for (const fs::path& path : entries(rules_dir, error)) {
    const std::string name = path.filename().string();
    if (std::find(known.begin(), known.end(), name) != known.end() || suggest(name, known).empty()) continue;
    if (fs::is_directory(path, error)) {
      out.push_back(problem(path, "unknown-folder", "this folder is not read", did_you_mean(name, known)));
    }
  }
  if (error) out.push_back(problem(rules_dir, "unreadable-folder", "cannot list the folder", "check its permissions"));
  return out;
}

Expected<Document> read_rule_file(const std::string& rules_dir, std::string_view folder, const std::string& id) {
  const std::string path = (fs::path(rules_dir) / folder / (id + ".yaml")).string();
  const Expected<std::string> text = read_text_file(path);
  if (!text) return text.error();
  Expected<Node> root = read_yaml(*text, path);
  if (!root) return root.error();
  return Document{path, id, *std::move(root)};
}

}  // namespace mha
