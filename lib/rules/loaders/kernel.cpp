// rules/kernels/<id>.yaml
#include <algorithm>

#include "mha/limits.hpp"

#include "core/text.hpp"
#include "rules/loaders.hpp"

namespace mha {
namespace {

// "512+64": latent and rope width.
Expected<std::string> parse_latent(std::string_view text) {
  const std::size_t plus = text.find('+');
  const auto width = [](std::string_view part) { return bool{parse_count(part, 1, limits::kMaxLatent)}; };
  if (plus != std::string_view::npos && width(text.substr(0, plus)) && width(text.substr(plus + 1))) {
    return std::string(text);
  }
  return Diagnostic{Severity::error,
                    "bad-latent",
                    {},
                    shown(text) + " is not a latent pair",
                    "write latent + rope width, such as \"512+64\""};
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
  out.source = reader.source("source");
  reader.optional_text("note");
  reader.close();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace mha
