// Which reader a file is for. Told apart by its first bytes, never by its name: a config.json may be called anything.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "mha/model_readers.hpp"

#include "core/text.hpp"
#include "readers/json_reader.hpp"
#include "rules/text_file.hpp"

namespace mha {
namespace {

// The first bytes of a file behind white space and a byte order mark; empty when it cannot be read.
std::string first_bytes(const std::string& path) {
  constexpr std::size_t kEnough = 512;
  std::string text(kEnough, '\0');
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(path.c_str(), "rb"), &std::fclose);
  text.resize(stream ? std::fread(text.data(), 1, kEnough, stream.get()) : 0);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string::npos ? std::string() : text.substr(first);
}

Expected<Architecture> read_json_model(const std::string& path, const RuleStore& rules) {
  const Expected<std::string> text = read_json_text(path);
  if (!text) return text.error();
  const Expected<std::vector<FamilyRule>> families = rules.families();
  if (!families) return families.error();
  return read_config_json(*text, path, *families);
}

Expected<Architecture> read_file(const std::string& path, const RuleStore& rules) {
  const std::string head = first_bytes(path);
  if (head.starts_with("GGUF")) {
    const Expected<std::vector<FamilyRule>> families = rules.families();
    return families ? read_gguf_file(path, *families) : families.error();
  }
  if (head.starts_with("{") || head.starts_with("[")) return read_json_model(path, rules);
  const Expected<std::string> text = read_text_file(path);
  if (!text) return text.error();
  if (head.empty()) {
    return Diagnostic{Severity::error, "empty-file", Location{path, 0, 0, {}}, "the file is empty",
                      "give a config.json, a GGUF file or a model file"};
  }
  return read_model_yaml(*text, path);
}

bool looks_like_path(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".json") || name.ends_with(".gguf") ||
         name.ends_with(".yaml") || name.ends_with(".yml");
}

}  // namespace

Expected<Architecture> read_model(const std::string& path_or_name, const RuleStore& rules) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path_or_name, ignored);
  if (!exists && !looks_like_path(path_or_name)) {
    Expected<Architecture> model = rules.model(path_or_name);
    if (model) return model;
    Diagnostics problems = model.error();
    for (Diagnostic& problem : problems) {
      if (problem.code == "unknown-model" && problem.where.file.empty()) {
        problem.where.key.clear();
        problem.what = shown(path_or_name) + " is neither a file nor a model of the catalogue";
      }
    }
    return problems;
  }
  Expected<Architecture> model = read_file(path_or_name, rules);
  if (model) model->origin = path_or_name;
  return model;
}

}  // namespace mha
