#include "search/axes.hpp"

#include <algorithm>

#include "attention/divisors.hpp"
#include "attention/variants.hpp"

namespace mha {
namespace {

// Head widths that some runtime has a kernel for (rules/kernels), used when heads need not fill d_model exactly.
const std::vector<std::int64_t> kHeadWidths = {16,  24,  32,  40,  48,  64,  72,  80,  96,
                                               112, 128, 144, 160, 192, 224, 256, 320, 512};
constexpr std::int64_t kHeadWidthMultiple = 8;  // coupled: every divisor of d_model that is a multiple of this
constexpr std::int64_t kMaxHeadWidth = 512;
constexpr std::int64_t kMaxDecoupledRatio = 2;  // n_heads * d_head <= 2 d_model: the quality prior knows no more

// MLA ranks: those that were released or studied (DeepSeek, Kimi-K2, GLM-5: 512 + 64; MiniCPM3: 256 + 32; the GLA paper:
// 256, 384 and 512) and two above. Below 256 there is no evidence to rank by.
const std::vector<std::int64_t> kKvLatents = {256, 384, 512, 768, 1024};
const std::vector<std::int64_t> kQueryLatents = {0, 768, 1024, 1536, 2048};
const std::vector<std::int64_t> kRopeWidths = {32, 64};

// Two latents is what the study of GLA trained (arXiv 2505.21487). Tensor products: ranks 2 for keys and values and 6 for
// queries, or whole queries (arXiv 2501.06425; SongtaoLiu0823/MLRA trains 2 and 6 as well).
const std::vector<std::int64_t> kLatentCounts = {2};
const std::vector<std::int64_t> kKvRanks = {2};
const std::vector<std::int64_t> kQueryRanks = {0, 6};

std::vector<std::int64_t> pinned_or(const std::optional<std::int64_t>& pin, std::vector<std::int64_t> all) {
  return pin ? std::vector<std::int64_t>{*pin} : all;
}

}  // namespace

AxisValues make_axes(const Request& request, std::int64_t d_model) {
  AxisValues axes;
  axes.d_model = d_model;
  axes.coupled = !request.decoupled;
  axes.bias = request.bias;
  axes.qk_norm = request.qk_norm;
  std::vector<std::int64_t> widths, heads;
  if (request.decoupled) {
    widths = kHeadWidths;
    const std::int64_t narrowest = request.d_head.value_or(widths.front());
    for (std::int64_t n = 1; n * narrowest <= kMaxDecoupledRatio * d_model; ++n) heads.push_back(n);
  } else {
    heads = divisors(d_model);
    for (const std::int64_t width : heads)
      if (width % kHeadWidthMultiple == 0 && width <= kMaxHeadWidth) widths.push_back(width);
  }
  axes.n_heads = pinned_or(request.n_heads, heads);
  axes.d_head = pinned_or(request.d_head, widths);
  if (request.n_kv_heads) axes.n_kv_heads = {*request.n_kv_heads};
  if (request.d_value) axes.d_value = {*request.d_value};
  axes.d_nope = pinned_or(request.d_nope, widths);
  axes.d_rope = pinned_or(request.d_rope, kRopeWidths);
  axes.d_kv_latent = pinned_or(request.d_kv_latent, kKvLatents);
  std::vector<std::int64_t> query_latents;
  for (const std::int64_t rank : kQueryLatents)
    if (rank < d_model) query_latents.push_back(rank);
  axes.d_q_latent = pinned_or(request.d_q_latent, query_latents);
  axes.n_latents = pinned_or(request.n_latents, kLatentCounts);
  axes.rank_kv = pinned_or(request.rank_kv, kKvRanks);
  axes.rank_q = pinned_or(request.rank_q, kQueryRanks);
  return axes;
}

std::vector<const Variant*> allowed_variants(const Request& request) {
  Request asked = request;
  std::vector<std::string>& ids = asked.variants;
  const auto has = [&](std::string_view id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); };
  if (has("gqa") && request.n_kv_heads) {
    if (request.n_heads && *request.n_heads == *request.n_kv_heads && !has("mha")) ids.emplace_back("mha");
    if (*request.n_kv_heads == 1 && !has("mqa")) ids.emplace_back("mqa");
  }
  // Where the request names no variant, a pin that only one kind has chooses the kind: KV heads mean nothing to a latent,
  // latent widths nothing to the others.
  const bool named = !ids.empty() && !has("all");
  std::vector<const Variant*> allowed;
  for (const Variant* variant : requested_variants(asked)) {
    bool suits = !(variant->latent && request.n_kv_heads.has_value());
    for (const VariantPin& pin : variant_pins())
      if ((request.*pin.member).has_value() && !variant->has(pin.key)) suits = false;
    if (named || suits) allowed.push_back(variant);
  }
  return allowed;
}

}  // namespace mha
