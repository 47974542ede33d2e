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

// One rule, or all of a folder; a user's folder that is wrong as a whole is reported first.
template <class T>
Expected<T> one_of(const std::string& rules_dir, std::string_view folder, std::string_view id,
                   Expected<T> (*loader)(const Document&)) {
  if (!rules_dir.empty()) {
    Diagnostics problems = check_rules_dir(rules_dir);
    if (!problems.empty()) return problems;
  }
  const std::string key(find_rule_kind(folder)->singular);
  return read(Shelf(rules_dir, folder).document(std::string(id), {{}, 0, 0, key}), loader);
}

template <class T>
Expected<std::vector<T>> all_of(const std::string& rules_dir, std::string_view folder,
                                Expected<T> (*loader)(const Document&)) {
  Diagnostics problems;
  if (!rules_dir.empty()) problems = check_rules_dir(rules_dir);
  if (!problems.empty()) return problems;
  std::vector<T> out = read_all(Shelf(rules_dir, folder), loader, problems);
  if (!problems.empty()) return problems;
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

// Whether the list under the top-level `key` of an embedded file holds one of `values`, read off the flat nodes.
bool names_one_of(const EmbeddedFile& file, std::string_view key, const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < file.nodes.size(); ++i) {
    const FlatNode& list = file.nodes[i];
    if (file.text.substr(list.key_at, list.key_size) != key) continue;
    for (std::size_t k = 1; k <= list.n_children; ++k) {  // scalars: one node each
      const FlatNode& item = file.nodes[i + k];
      const std::string_view text = file.text.substr(item.text_at, item.text_size);
      if (std::find(values.begin(), values.end(), text) != values.end()) return true;
    }
    return false;
  }
  return false;
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
  return one_of(rules_dir_, "targets", id, read_target);
}

Expected<KernelSupport> RuleStore::kernel(std::string_view id) const {
  return one_of(rules_dir_, "kernels", id, read_kernel);
}

Expected<std::vector<FamilyRule>> RuleStore::families() const {
  return all_of(rules_dir_, "families", read_family);
}

Expected<Architecture> RuleStore::model(std::string_view id) const {
  Expected<Architecture> model = one_of(rules_dir_, "models", id, read_model_rule);
  if (model) model->origin = "catalogue";
  return model;
}

Expected<RuntimeRule> RuleStore::runtime(std::string_view id) const {
  return one_of(rules_dir_, "runtimes", id, read_runtime);
}

Expected<std::vector<RuntimeRule>> RuleStore::runtimes() const {
  return all_of(rules_dir_, "runtimes", read_runtime);
}

Expected<std::vector<QualityPreset>> RuleStore::presets() const {
  Expected<std::vector<QualityPreset>> out = all_of(rules_dir_, "quality", read_quality);
  if (out) put_first(*out, {"optimistic", "default", "conservative"});
  return out;
}

Expected<std::vector<ConversionRule>> RuleStore::conversions() const {
  return all_of(rules_dir_, "conversions", read_conversion);
}

Expected<std::vector<FamilyRule>> RuleStore::families_of(const std::vector<std::string>& names) const {
  // A user's files have to be read to know what they name.
  if (!rules_dir_.empty()) return families();
  Diagnostics problems;
  std::vector<FamilyRule> out;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.folder != "families") continue;
    if (!names_one_of(file, "model_types", names) && !names_one_of(file, "gguf", names)) continue;
    Expected<FamilyRule> family = read_family(to_document(file));
    if (family) {
      out.push_back(*std::move(family));
    } else {
      append(problems, family.error());
    }
  }
  if (!problems.empty()) return problems;
  return out;
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
