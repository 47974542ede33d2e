// Cache of a whole model, payload only: slope, fixed part and the exact size at a length, itemised by layer kind and
// component. What a runtime reserves is allocation.cpp.
#include <algorithm>
#include <numeric>

#include "mha/limits.hpp"
#include "mha/model_cost.hpp"

namespace mha {
namespace {

// Formats that name a packing of several rows rather than one format for all of them.
struct Recipe {
  std::string_view id;
  std::string_view help;
  std::string_view key, value, latent, rope_key, index_key, entry;
};

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> table = {
      {"fp8_ds_mla", "packed slots of DeepSeek-V3.2: 512 fp8 + 4 f32 scales + 64 bf16 = 656 bytes; index keys 132",
       "fp8", "fp8", "fp8_tile128", "bf16", "fp8_tile128", "fp8_v4_entry"},
  };
  return table;
}

const StorageFormat* format_or_null(std::string_view id) {
  return find_format(id);
}

bool grows(const Growth& growth) {
  return growth.kind == Growth::Kind::token || growth.kind == Growth::Kind::compressed;
}

}  // namespace

std::vector<std::string> cache_format_names() {
  std::vector<std::string> names;
  for (const StorageFormat& format : storage_formats()) names.emplace_back(format.id);
  for (const Recipe& recipe : recipes()) names.emplace_back(recipe.id);
  return names;
}

Expected<ModelFormats> parse_cache_format(std::string_view text) {
  ModelFormats out;
  out.name = text;
  for (const Recipe& recipe : recipes()) {
    if (recipe.id != text) continue;
    out.key = format_or_null(recipe.key);
    out.value = format_or_null(recipe.value);
    out.latent = format_or_null(recipe.latent);
    out.rope_key = format_or_null(recipe.rope_key);
    out.index_key = format_or_null(recipe.index_key);
    out.entry = format_or_null(recipe.entry);
    return out;
  }
  const std::size_t slash = text.find('/');
  const std::string_view key = text.substr(0, slash);
  const std::string_view value = slash == std::string_view::npos ? key : text.substr(slash + 1);
  for (const std::string_view part : {key, value}) {
    if (find_format(part) != nullptr) continue;
    return Diagnostic{Severity::error,
                      "unknown-format",
                      {},
                      "'" + std::string(part) + "' is not a cache format",
                      did_you_mean(part, cache_format_names())};
  }
  out.key = out.latent = out.rope_key = out.index_key = out.entry = find_format(key);
  out.value = find_format(value);
  return out;
}

const StorageFormat& ModelFormats::of(const CacheComponent& component) const {
  if (!component.format.empty()) return linear != nullptr ? *linear : *find_format(component.format);
  switch (component.role) {
    case CacheRole::value:
      return *value;
    case CacheRole::latent:
      return *latent;
    case CacheRole::rope_key:
      return *rope_key;
    case CacheRole::index_key:
      return *index_key;
    case CacheRole::entry:
      return *entry;
    case CacheRole::key:
    case CacheRole::state:
    case CacheRole::pending:
    case CacheRole::conv_state:
      return *key;
  }
  return *key;
}

std::int64_t cached_rows(const Growth& growth, std::int64_t n_ctx, std::int64_t n_source) {
  switch (growth.kind) {
    case Growth::Kind::token:
      return n_ctx;
    case Growth::Kind::window:
    case Growth::Kind::chunked:
      return std::min(n_ctx, growth.limit);
    case Growth::Kind::compressed:
      return n_ctx / growth.limit;
    case Growth::Kind::fixed:
      return 1;
    case Growth::Kind::source:
      return n_source;
  }
  return 0;
}

Bytes row_bytes(const CacheComponent& component, const ModelFormats& formats) {
  return formats.of(component).row_bytes(component.row_elements) * component.n_rows;
}

ModelCache cache_of(const Architecture& architecture, const ModelPlan& plan, const ModelFormats& formats,
                    std::int64_t n_ctx, std::int64_t n_source) {
  ModelCache out;
  for (const LayerGroup& group : layer_groups(architecture)) {
    for (const CacheComponent& component : plan.specs[group.spec].cache) {
      if (!formats.counts(component)) continue;
      CacheLine line{architecture.specs[group.spec].name,
                     group.n_layers,
                     component,
                     std::string(formats.of(component).id),
                     row_bytes(component, formats),
                     {}};
      line.total = line.row * group.n_layers * cached_rows(component.growth, n_ctx, n_source);
      out.per_sequence += line.total;
      const Growth& growth = component.growth;
      if (growth.kind == Growth::Kind::token)
        out.growing_elements += Elements(i128{group.n_layers} * component.n_rows * component.row_elements);
      if (growth.kind == Growth::Kind::compressed) out.slope_tokens = std::lcm(out.slope_tokens, growth.limit);
      if (!grows(growth)) {
        const bool limited = growth.kind == Growth::Kind::window || growth.kind == Growth::Kind::chunked;
        const std::int64_t rows = limited ? growth.limit : cached_rows(growth, 1, n_source);
        out.fixed += line.row * group.n_layers * rows;
      }
      out.lines.push_back(std::move(line));
    }
  }
  for (const CacheLine& line : out.lines) {
    const Growth& growth = line.component.growth;
    if (growth.kind == Growth::Kind::token) out.slope += line.row * line.n_layers * out.slope_tokens;
    if (growth.kind == Growth::Kind::compressed)
      out.slope += line.row * line.n_layers * (out.slope_tokens / growth.limit);
  }
  return out;
}

}  // namespace mha
