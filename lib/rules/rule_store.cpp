// Embedded rules with a user's folder on top. Every id is looked up in a listing first, so that no typed name ever becomes
// part of a path unchecked.
#include <algorithm>

#include "mha/rules_loader.hpp"

#include "core/text.hpp"
#include "rules/embedded.hpp"
#include "rules/folder.hpp"
#include "rules/loaders.hpp"

namespace mha {
namespace {

void append(Diagnostics& to, Diagnostics from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// One kind of rule: the embedded files, and those of the user's folder.
class Shelf {
 public:
  Shelf(const std::string& rules_dir, std::string_view folder) : rules_dir_(rules_dir), folder_(folder) {
    if (!rules_dir.empty()) user_ = list_folder(rules_dir, folder);
    for (const EmbeddedFile& file : embedded_files()) {
      if (file.folder == folder) embedded_.push_back(&file);
    }
  }

  [[nodiscard]] std::vector<std::string> ids() const {
    std::vector<std::string> out = user_.ids;
    for (const EmbeddedFile* file : embedded_) out.emplace_back(file->id);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  [[nodiscard]] const Diagnostics& problems() const { return user_.problems; }

  // `where` is blamed when there is no such rule.
  [[nodiscard]] Expected<Document> document(const std::string& id, const Location& where) const {
    if (std::binary_search(user_.ids.begin(), user_.ids.end(), id)) return read_rule_file(rules_dir_, folder_, id);
    for (const EmbeddedFile* file : embedded_) {
      if (file->id == id) return to_document(*file);
    }
    const RuleKind* kind = find_rule_kind(folder_);
    const std::string name(kind != nullptr ? kind->singular : folder_);
    const std::string what = id.empty() ? "no " + name + " is named" : shown(id) + " is not a known " + name;
    std::string code = "unknown-" + name;
    std::replace(code.begin(), code.end(), ' ', '-');
    return Diagnostic{Severity::error, code, where, what, did_you_mean(id, ids())};
  }

 private:
  const std::string& rules_dir_;
  std::string_view folder_;
  Listing user_;
  std::vector<const EmbeddedFile*> embedded_;
};

template <class T>
Expected<T> read(const Expected<Document>& document, Expected<T> (*loader)(const Document&)) {
  if (!document) return document.error();
  return loader(*document);
}

template <class T>
std::vector<T> read_all(const Shelf& shelf, Expected<T> (*loader)(const Document&), Diagnostics& problems) {
  append(problems, shelf.problems());
  std::vector<T> out;
  for (const std::string& id : shelf.ids()) {
    Expected<T> value = read(shelf.document(id, {}), loader);
    if (value) {
      out.push_back(*std::move(value));
    } else {
      append(problems, value.error());
    }
  }
  return out;
}

// Where a target's i-th kernel is named.
Location kernel_location(const Document& document, std::size_t i) {
  Location where{document.file, 0, 0, "kernels[" + std::to_string(i) + "]"};
  for (const Node& child : document.root.children) {
    if (child.key != "kernels" || i >= child.children.size()) continue;
    where.line = child.children[i].line;
    where.column = child.children[i].column;
  }
  return where;
}

std::vector<KernelSupport> read_kernels(const Shelf& shelf, const Document& document, const Target& target,
                                        Diagnostics& problems) {
  std::vector<KernelSupport> out;
  for (std::size_t i = 0; i < target.kernels.size(); ++i) {
    Expected<KernelSupport> kernel = read(shelf.document(target.kernels[i], kernel_location(document, i)), read_kernel);
    if (kernel) {
      out.push_back(*std::move(kernel));
    } else {
      append(problems, kernel.error());
    }
  }
  return out;
}

// Ids of `first` in that order, others behind them by id. (Plain sort with a whole key: std::stable_sort of libstdc++ 12 uses
// a buffer that clang 19 reports as deprecated.)
template <class T>
void put_first(std::vector<T>& items, const std::vector<std::string_view>& first) {
  const auto place = [&](const T& item) { return std::find(first.begin(), first.end(), item.id) - first.begin(); };
  std::sort(items.begin(), items.end(),
            [&](const T& a, const T& b) { return place(a) != place(b) ? place(a) < place(b) : a.id < b.id; });
}

}  // namespace

RuleStore::RuleStore(std::string rules_dir) : rules_dir_(std::move(rules_dir)) {}

Expected<RuleSet> RuleStore::load(std::string_view target_id) const {
  Diagnostics problems;
  if (!rules_dir_.empty()) problems = check_rules_dir(rules_dir_);
  if (!problems.empty()) return problems;

  RuleSet out;
  const Shelf targets(rules_dir_, "targets");
  const Expected<Document> document = targets.document(std::string(target_id), {{}, 0, 0, "target"});
  Expected<Target> target = read(document, read_target);
  append(problems, targets.problems());
  if (target) {
    out.target = *std::move(target);
    out.kernels = read_kernels(Shelf(rules_dir_, "kernels"), *document, out.target, problems);
  } else {
    append(problems, target.error());
  }
  out.presets = read_all(Shelf(rules_dir_, "quality"), read_quality, problems);
  put_first(out.presets, {"optimistic", "default", "conservative"});
  out.priorities = read_all(Shelf(rules_dir_, "priorities"), read_priority, problems);
  put_first(out.priorities, {"training", "balanced", "inference"});
  out.constraints = read_all(Shelf(rules_dir_, "constraints"), read_constraint, problems);
  out.shapes = read_all(Shelf(rules_dir_, "shapes"), read_shape, problems);
  std::sort(out.shapes.begin(), out.shapes.end(), [](const ShapeRow& a, const ShapeRow& b) {
    return a.params != b.params ? a.params < b.params : a.id < b.id;
  });
  if (!problems.empty()) return problems;
  return out;
}

Expected<Target> RuleStore::target(std::string_view id) const {
  Diagnostics problems;
  if (!rules_dir_.empty()) problems = check_rules_dir(rules_dir_);
  if (!problems.empty()) return problems;
  return read(Shelf(rules_dir_, "targets").document(std::string(id), {{}, 0, 0, "target"}), read_target);
}

Expected<KernelSupport> RuleStore::kernel(std::string_view id) const {
  Diagnostics problems;
  if (!rules_dir_.empty()) problems = check_rules_dir(rules_dir_);
  if (!problems.empty()) return problems;
  return read(Shelf(rules_dir_, "kernels").document(std::string(id), {{}, 0, 0, "kernel"}), read_kernel);
}

std::vector<std::string> RuleStore::ids(std::string_view folder) const {
  return Shelf(rules_dir_, folder).ids();
}

Diagnostics RuleStore::check_all() const {
  Diagnostics problems;
  if (!rules_dir_.empty()) problems = check_rules_dir(rules_dir_);
  const Shelf kernels(rules_dir_, "kernels");
  for (const RuleKind& kind : rule_kinds()) {
    const Shelf shelf(rules_dir_, kind.folder);
    append(problems, shelf.problems());
    for (const std::string& id : shelf.ids()) {
      const Expected<Document> document = shelf.document(id, {});
      append(problems, document ? kind.check(*document) : document.error());
      if (!document || kind.folder != "targets") continue;
      const Expected<Target> target = read_target(*document);
      for (std::size_t i = 0; target && i < target->kernels.size(); ++i) {
        const Expected<Document> kernel = kernels.document(target->kernels[i], kernel_location(*document, i));
        // A kernel that is there but wrong is reported as itself.
        if (!kernel && kernel.error()[0].code == "unknown-kernel") append(problems, kernel.error());
      }
    }
  }
  return problems;
}

}  // namespace mha
