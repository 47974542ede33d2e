// What would cost less at equal parameters: every way of sharing keys and values with the model's own heads, and a latent,
// in place of the attention whose cache grows; the feed-forward width is solved again so that parameters stay equal. Loss
// differences come from the quality prior and are never merged into cost.
#include <algorithm>
#include <cmath>

#include "mha/limits.hpp"
#include "mha/quality.hpp"

#include "audit/parts.hpp"

namespace mha {
namespace {

// Layouts with the same heads as `own`: each divisor as n_kv_heads, and a latent of 4 d_head with a rotary key of half a head.
std::vector<Layout> candidates(const Layout& own) {
  std::vector<Layout> out;
  const bool latent = own.variant->latent;
  const std::int64_t d_head = latent ? own.d_nope : own.d_head;
  for (std::int64_t n_kv = own.n_heads; n_kv >= 1; --n_kv) {
    if (own.n_heads % n_kv != 0) continue;
    Layout l;
    l.n_heads = own.n_heads;
    l.n_kv_heads = n_kv;
    l.d_head = d_head;
    l.d_value = own.d_value;
    l.bias = own.bias;
    l.qk_norm = own.qk_norm;
    l.variant = find_variant(n_kv == own.n_heads ? "mha" : n_kv == 1 ? "mqa" : "gqa");
    out.push_back(l);
  }
  if (!latent) {
    Layout l;
    l.variant = find_variant("mla");
    l.n_heads = l.n_kv_heads = own.n_heads;
    l.d_kv_latent = 4 * d_head;
    l.d_nope = d_head;
    l.d_rope = d_head / 2 / 2 * 2;
    l.d_head = l.d_nope + l.d_rope;
    l.d_value = own.d_value;
    l.bias.q = own.bias.q;
    l.bias.o = own.bias.o;
    out.push_back(l);
  } else {
    out.push_back(own);
  }
  return out;
}

bool replaceable(const Attention& a, const Layout& own) {
  return a.layout == own && a.span.kind == Span::Kind::full && !a.shares_kv && a.compression.ratio == 0 &&
         a.indexer.n_heads == 0 && !a.tied_values;
}

// The model with `own` replaced by `layout` wherever its cache grows, or in all layers that have it when none is windowed.
Architecture replaced(const Architecture& a, const Layout& own, const Layout& layout) {
  Architecture out = a;
  for (LayerSpec& spec : out.specs) {
    for (Mixer& mixer : spec.mixers) {
      auto* attention = std::get_if<Attention>(&mixer);
      if (attention == nullptr || !replaceable(*attention, own)) continue;
      attention->layout = layout;
      if (layout.variant->latent) {
        attention->qk_norm = QkNorm::none;
        attention->qk_norm_shift = false;
        attention->d_q_latent = 0;
      }
    }
  }
  return out;
}

std::int64_t dense_width(const Architecture& a) {
  std::int64_t width = 0;
  for (const std::uint16_t spec : a.layers) {
    const FeedForward& f = a.specs[spec].ffn;
    if (f.n_experts > 0) return 0;
    if (f.d_ff == 0) continue;
    if (width != 0 && width != f.d_ff) return 0;
    width = f.d_ff;
  }
  return width;
}

// Brings the total nearest to `budget` by one common d_ff; false when layers have experts or different widths.
bool solve_width(Architecture& a, Params budget, std::int64_t& d_ff) {
  const std::int64_t width = dense_width(a);
  if (width == 0) return false;
  const auto total = [&](std::int64_t w) {
    for (LayerSpec& spec : a.specs) {
      if (spec.ffn.d_ff > 0) spec.ffn.d_ff = w;
    }
    return count_params(a, lower(a)).total.value();
  };
  const i128 one = total(width + 1) - total(width);
  const i128 missing = budget.value() - total(width);
  const i128 steps = (missing >= 0 ? missing + one / 2 : missing - one / 2) / one;
  d_ff = std::clamp<std::int64_t>(width + static_cast<std::int64_t>(steps), 1, limits::kMaxFeedForward);
  static_cast<void>(total(d_ff));
  return true;
}

double loss_of(const QualityPreset& preset, const Layout& layout, std::int64_t d_model, Params params) {
  return predict_loss(preset, layout, lower(layout, d_model), d_model, params, params).total();
}

// Loss of each layout under one preset, against the current one; the cheapest within the slack of the best wins. That is the
// rule by which recommend ranks.
void judge(const QualityPreset& preset, const std::vector<Layout>& layouts, const Layout& own, const AuditRules& rules,
           bool first, Audit& audit) {
  const std::int64_t d_model = audit.architecture.d_model;
  const double base = loss_of(preset, own, d_model, audit.params.active);
  std::vector<double> losses;
  for (const Layout& layout : layouts) losses.push_back(loss_of(preset, layout, d_model, audit.params.active) - base);
  const double best = *std::min_element(losses.begin(), losses.end());
  Alternative* winner = nullptr;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    Alternative& alt = audit.alternatives[i];
    const bool within = losses[i] - best <= rules.quality_slack;
    alt.loss_low = first ? losses[i] : std::min(alt.loss_low, losses[i]);
    alt.loss_high = first ? losses[i] : std::max(alt.loss_high, losses[i]);
    if (preset.id == "conservative") {
      alt.loss = losses[i];
      alt.within_slack = within;
    }
    if (within && (winner == nullptr || alt.cache_per_sequence < winner->cache_per_sequence)) winner = &alt;
  }
  winner->winner_of.push_back(preset.id);
}

}  // namespace

void add_alternatives(Audit& audit, const AuditRules& rules) {
  const std::vector<AttentionUse> uses = attention_uses(audit.architecture);
  const AttentionUse* main = main_attention(uses);
  const auto none = [&](std::string why) { audit.alternatives_note = std::move(why); };
  if (main == nullptr) return none("No layer's cache grows with every token, so there is nothing to share.");
  const Layout own = main->attention->layout;
  if (!replaceable(*main->attention, own))
    return none("The growing cache is already sparse or tied; replacing it would be another model.");
  if (!own.variant->by_default) return none("Only MHA, MQA, GQA and MLA are weighed against each other here.");
  std::int64_t replaced_layers = 0;
  for (const AttentionUse& use : uses) replaced_layers += replaceable(*use.attention, own) ? use.n_layers : 0;

  std::vector<Layout> layouts = candidates(own);
  std::erase_if(layouts, [&](const Layout& l) { return l.variant->check(l, audit.architecture.d_model).has_value(); });
  for (const Layout& layout : layouts) {
    Alternative alt;
    alt.notation = notation(layout);
    alt.variant = layout.variant->id;
    alt.current = layout == own;
    Architecture model = alt.current ? audit.architecture : replaced(audit.architecture, own, layout);
    if (!alt.current) static_cast<void>(solve_width(model, audit.params.total, alt.d_ff));
    const ModelPlan plan = lower(model);
    alt.params = count_params(model, plan).total;
    const ModelCache cache = cache_of(model, plan, audit.query.cache, audit.query.n_ctx, audit.query.n_source);
    alt.cache_per_token = Bytes(cache.slope.value() / cache.slope_tokens);
    alt.cache_per_sequence = cache.per_sequence;
    audit.alternatives.push_back(std::move(alt));
  }
  for (const QualityPreset& preset : rules.presets)
    judge(preset, layouts, own, rules, &preset == &rules.presets.front(), audit);
  const auto better = [](const Alternative& a, const Alternative& b) {
    return a.cache_per_sequence != b.cache_per_sequence ? a.cache_per_sequence < b.cache_per_sequence : a.loss < b.loss;
  };
  std::sort(audit.alternatives.begin(), audit.alternatives.end(), better);
  audit.alternatives_note = dense_width(audit.architecture) > 0
                                ? "Parameters are held equal: d_ff is solved again for each layout."
                                : "Experts are left as they are: parameters differ by the attention matrices alone.";
  if (replaced_layers < audit.architecture.n_layers())
    audit.alternatives_note += " Only the " + to_decimal(replaced_layers) + " layers of this layout change.";
  for (const ConversionRule& rule : rules.conversions) {
    if (std::find(rule.from.begin(), rule.from.end(), own.variant->id) != rule.from.end())
      audit.conversions.push_back(rule);
  }
}

}  // namespace mha
