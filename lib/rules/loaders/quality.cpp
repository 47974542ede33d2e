// rules/quality/<id>.yaml: one preset of the quality prior. All figures are nats per token unless the key says otherwise.
#include "mha/attention.hpp"
#include "mha/limits.hpp"

#include "core/text.hpp"
#include "rules/loaders.hpp"

namespace mha {
namespace {

constexpr double kMostNats = 1;  // a layout that costs one nat is no candidate; more is a slipped digit

// One for each variant: a variant without evidence would be priced as MHA of the same widths.
std::map<std::string, double> read_offsets(MapReader& reader, const Document& document, Diagnostics& problems) {
  std::map<std::string, double> offsets;
  const Node* node = reader.free_map("variant_offset");
  MapReader inner(node, document.file, "variant_offset", problems);
  for (const Variant* variant : variants()) {
    const std::string id(variant->id);
    if (node == nullptr) break;
    if (inner.find(id, false) == nullptr) {
      reader.problem(*node, "variant_offset", "missing-offset", "there is no offset for the variant " + id,
                     "add " + id +
                         " with nats per token against MHA of the same widths, from a study; the costly end "
                         "of the spread belongs into conservative");
      continue;
    }
    offsets[id] = inner.real(id, -kMostNats, kMostNats);
  }
  inner.close();
  return offsets;
}

}  // namespace

Expected<QualityPreset> read_quality(const Document& document) {
  Diagnostics problems;
  MapReader reader(&document.root, document.file, "", problems);
  const auto nats = [&](std::string_view key) { return reader.real(key, -kMostNats, kMostNats); };
  const auto penalty = [&](std::string_view key) { return reader.real(key, 0, kMostNats); };
  const auto params = [&](std::string_view key) {
    return static_cast<double>(reader.count(key, 1, limits::kMaxParams));
  };
  QualityPreset out;
  out.id = read_id(reader, document);
  out.param_a = reader.real("param_a", 0, 1e6);
  out.param_alpha = reader.real("param_alpha", 0, 2);
  out.s_a = nats("s_a");
  out.s_b = nats("s_b");
  out.s_w = nats("s_w");
  out.size_exponent = reader.real("size_exponent", -2, 2);
  out.reference_params = params("reference_params");
  out.noise_band = penalty("noise_band");
  out.variant_offset = read_offsets(reader, document, problems);
  out.narrow_kv_penalty = penalty("narrow_kv_penalty");
  out.narrow_kv_width = reader.count("narrow_kv_width", 0, limits::kMaxModelWidth);
  out.narrow_kv_params = params("narrow_kv_params");
  out.small_head_64_to_32 = penalty("small_head_64_to_32");
  out.small_head_to_16 = penalty("small_head_to_16");
  out.one_or_two_heads = penalty("one_or_two_heads");
  out.latent_full_ratio = reader.count("latent_full_ratio", 1, 1024);
  out.source = reader.source("source");
  out.note = reader.optional_text("note");
  reader.close();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace mha
