// rules/kernels/<id>.yaml
#include <algorithm>

#include "mha/attention.hpp"
#include "mha/limits.hpp"

#include "core/text.hpp"
#include "rules/loaders.hpp"

namespace mha {
namespace {

// "512+64": latent and rope width; "2x256+64": of each of two latents.
Expected<std::string> parse_latent(std::string_view text) {
  const std::size_t plus = text.find('+'), times = text.find('x');
  const auto width = [](std::string_view part) { return bool{parse_count(part, 1, limits::kMaxLatent)}; };
  const bool many = times != std::string_view::npos && times < plus;
  const bool counted = !many || parse_count(text.substr(0, times), 2, limits::kMaxHeads);
  const std::size_t first = many ? times + 1 : 0;
  if (plus != std::string_view::npos && counted && width(text.substr(first, plus - first)) &&
      width(text.substr(plus + 1))) {
    return std::string(text);
  }
  return Diagnostic{Severity::error,
                    "bad-latent",
                    {},
                    shown(text) + " is not a latent pair",
                    "write latent + rope width, such as \"512+64\", or \"2x256+64\" for two latents"};
}

// Only variants that no other kernel computes are named: the rest follow from widths, groups and latents.
Expected<std::string> parse_variant(std::string_view text) {
  std::vector<std::string> own;
  for (const Variant* variant : variants()) {
    if (!variant->own_kernel) continue;
    own.emplace_back(variant->id);
    if (variant->id == text) return std::string(text);
  }
  return Diagnostic{Severity::error,
                    "unknown-name",
                    {},
                    shown(text) + " is not a variant that needs a kernel of its own",
                    did_you_mean(text, own)};
}

}  // namespace

Expected<KernelSupport> read_kernel(const Document& document) {
  Diagnostics problems;
  MapReader reader(&document.root, document.file, "", problems);
  KernelSupport out;
  out.id = read_id(reader, document);
  out.name = reader.text("name");
  out.version = reader.text("version");
  out.d_head = read_rising(reader, "d_head", 1, limits::kMaxHeadWidth);
  out.d_head_multiple = reader.count("d_head_multiple", 1, limits::kMaxHeadWidth);
  out.d_head_max = reader.count("d_head_max", 1, limits::kMaxHeadWidth);
  if (!out.d_head.empty() && out.d_head_max > 0 && out.d_head.back() > out.d_head_max) {
    reader.invalid("d_head_max", "out-of-range", "d_head lists a wider head, " + to_decimal(out.d_head.back()),
                   "give the widest head that the kernel takes");
  }
  out.group_sizes = read_rising(reader, "group_sizes", 1, limits::kMaxHeads);
  out.latent = reader.list("latent", parse_latent);
  if (reader.find("variants", false) != nullptr) out.variants = reader.list("variants", parse_variant);
  out.source = reader.source("source");
  reader.optional_text("note");
  reader.close();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace mha
