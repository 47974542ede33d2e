// Gaps and contradictions between the fields of a request. Each check is one row of a table, looks at the request alone
// and adds what it finds; whether a layout is good is not decided here.
#include <algorithm>

#include "mha/recommend.hpp"
#include "mha/request.hpp"

#include "core/text.hpp"

namespace mha {
namespace {

void add(Diagnostics& problems, std::string_view key, std::string code, std::string what, std::string hint) {
  Location where;
  where.key = flag_name(key);
  problems.push_back({Severity::error, std::move(code), std::move(where), std::move(what), std::move(hint)});
}

std::string number(std::int64_t value) {
  return std::to_string(value);
}

bool any_latent(const Request& request) {
  const std::vector<const Variant*> chosen = requested_variants(request);
  return std::any_of(chosen.begin(), chosen.end(), [](const Variant* v) { return v->latent; });
}

bool only_latent(const Request& request) {
  const std::vector<const Variant*> chosen = requested_variants(request);
  return std::all_of(chosen.begin(), chosen.end(), [](const Variant* v) { return v->latent; });
}

bool asks_for_latent(const Request& request) {
  if (!request.variants.empty()) return any_latent(request);
  return std::any_of(variant_pins().begin(), variant_pins().end(),
                     [&](const VariantPin& pin) { return (request.*pin.member).has_value(); });
}

// ---- The checks
// ----------------------------------------------------------------------------------------------------------

void check_seq_len(const Request& request, Diagnostics& problems) {
  if (request.seq_len) return;
  add(problems, "seq_len", "missing-field", "no sequence length is given",
      "give the number of tokens that everything is priced at, such as --seq-len 32k");
}

void check_target(const Request& request, Diagnostics& problems) {
  if (!request.target.empty()) return;
  add(problems, "target", "missing-field", "no deployment target is given",
      "give one, such as --target h100-sxm; 'mha-configurator list targets' shows all");
}

void check_budget(const Request& request, Diagnostics& problems) {
  if (request.params) return;
  std::string missing;
  const auto need = [&](std::string_view key, bool given) {
    if (!given) missing += (missing.empty() ? "" : ", ") + flag_name(key);
  };
  need("d_model", request.d_model.has_value());
  need("n_layers", request.n_layers.has_value());
  need("d_ff", request.d_ff.has_value());
  need("vocab_size", request.vocab_size.has_value());
  if (missing.empty()) return;
  add(problems, "params", "missing-field", "no parameter budget is given",
      "give one, such as --params 1.3B, or the whole shape (missing: " + missing + ")");
}

void check_kv_heads_divide(const Request& request, Diagnostics& problems) {
  if (!request.n_heads || !request.n_kv_heads || *request.n_heads % *request.n_kv_heads == 0) return;
  std::string divisors;
  for (std::int64_t k = 1; k <= *request.n_heads; ++k) {
    if (*request.n_heads % k == 0) divisors += (divisors.empty() ? "" : ", ") + number(k);
  }
  add(problems, "n_kv_heads", "kv-heads-divide",
      number(*request.n_kv_heads) + " key/value heads cannot serve " + number(*request.n_heads) +
          " query heads evenly: n_heads must be a multiple of n_kv_heads",
      "n_kv_heads for " + number(*request.n_heads) + " heads: " + divisors);
}

// Do the pinned head counts suit at least one of the variants? Asked of each variant's own enumeration, and why not of
// its check, so that a new variant needs nothing here.
void check_heads_suit_variants(const Request& request, Diagnostics& problems) {
  if (!request.n_heads || !request.n_kv_heads || *request.n_heads % *request.n_kv_heads != 0) return;
  std::optional<LayoutProblem> first;
  AxisValues axes;  // values that every variant without latents has a layout for
  axes.coupled = false;
  axes.n_heads = {*request.n_heads};
  axes.n_kv_heads = {*request.n_kv_heads};
  axes.d_head = axes.d_q_latent = {64};
  axes.rank_kv = axes.rank_q = {1};
  for (const Variant* variant : requested_variants(request)) {
    Layout layout;
    layout.variant = variant;
    layout.n_heads = *request.n_heads;
    layout.n_kv_heads = *request.n_kv_heads;
    layout.d_head = layout.d_value = 64;
    std::optional<LayoutProblem> found = variant->check(layout, layout.n_heads * layout.d_head);
    if (variant->latent) {
      if (*request.n_kv_heads == *request.n_heads) return;
      found = LayoutProblem{"latent-kv-heads",
                            std::string(variant->id) + " serves every query head from " +
                                (variant->has("n_latents") ? "latents" : "one latent") + ", but n_kv_heads is " +
                                number(*request.n_kv_heads) + " of " + number(*request.n_heads),
                            "leave --n-kv-heads out, or name another variant in --variants"};
    } else {
      std::vector<Layout> layouts;
      variant->enumerate(axes, layouts);
      if (!layouts.empty()) return;
    }
    if (!first) first = found;
  }
  if (first) add(problems, "n_kv_heads", first->code, first->what, first->hint);
}

void check_width_splits(const Request& request, Diagnostics& problems) {
  if (request.decoupled || !request.d_model) return;
  const std::int64_t d_model = *request.d_model;
  const auto nearest = [&](std::int64_t step) {
    const std::int64_t below = d_model / step * step;
    const std::int64_t above = below + step;
    return (below > 0 ? number(below) + " or " : std::string()) + number(above);
  };
  const std::string_view free_width = ", or pass --decoupled to let the attention width differ from d_model";
  if (request.n_heads && d_model % *request.n_heads != 0) {
    add(problems, "d_model", "width-does-not-split",
        "d_model " + number(d_model) + " does not split over " + number(*request.n_heads) + " heads of one width",
        "the nearest d_model that does: " + nearest(*request.n_heads) + std::string(free_width));
    return;
  }
  if (request.d_head && !asks_for_latent(request)) {
    if (request.n_heads && *request.n_heads * *request.d_head != d_model) {
      add(problems, "d_head", "width-mismatch",
          "n_heads " + number(*request.n_heads) + " * d_head " + number(*request.d_head) + " = " +
              number(*request.n_heads * *request.d_head) + ", but d_model is " + number(d_model),
          "d_head " + number(d_model / *request.n_heads) + " fits" + std::string(free_width));
    } else if (!request.n_heads && d_model % *request.d_head != 0) {
      add(problems, "d_head", "width-does-not-split",
          "d_model " + number(d_model) + " does not split into heads of width " + number(*request.d_head),
          "the nearest d_model that does: " + nearest(*request.d_head) + std::string(free_width));
    }
  }
  if (only_latent(request) && request.d_nope) {
    if (request.n_heads && *request.n_heads * *request.d_nope != d_model) {
      add(problems, "d_nope", "width-mismatch",
          "n_heads " + number(*request.n_heads) + " * d_nope " + number(*request.d_nope) + " = " +
              number(*request.n_heads * *request.d_nope) + ", but d_model is " + number(d_model),
          "d_nope " + number(d_model / *request.n_heads) + " fits" + std::string(free_width));
    } else if (!request.n_heads && d_model % *request.d_nope != 0) {
      add(problems, "d_nope", "width-does-not-split",
          "d_model " + number(d_model) + " does not split into heads of width " + number(*request.d_nope),
          "the nearest d_model that does: " + nearest(*request.d_nope) + std::string(free_width));
    }
  }
}

void check_latent_widths(const Request& request, Diagnostics& problems) {
  if (!any_latent(request) || !request.d_head || !request.d_nope || !request.d_rope) return;
  if (*request.d_head == *request.d_nope + *request.d_rope) return;
  add(problems, "d_head", "latent-widths",
      "d_nope " + number(*request.d_nope) + " + d_rope " + number(*request.d_rope) + " = " +
          number(*request.d_nope + *request.d_rope) + ", but d_head is " + number(*request.d_head),
      "leave --d-head out: in a latent variant it is the sum of the two");
}

// A pin that no variant of the request has would be ignored.
void check_variant_pins(const Request& request, Diagnostics& problems) {
  const std::vector<const Variant*> chosen = requested_variants(request);
  for (const VariantPin& pin : variant_pins()) {
    if (!(request.*pin.member)) continue;
    if (std::any_of(chosen.begin(), chosen.end(), [&](const Variant* v) { return v->has(pin.key); })) continue;
    std::string owners;
    bool latent = false;
    for (const Variant* variant : variants()) {
      if (!variant->has(pin.key)) continue;
      owners += (owners.empty() ? "" : " or ") + std::string(variant->id);
      latent = latent || variant->latent;
    }
    add(problems, pin.key, latent ? "no-latent-variant" : "pin-without-variant",
        std::string(pin.key) + " is given, but no variant of the request has it",
        "add " + owners + " to --variants, or leave " + flag_name(pin.key) + " out");
  }
}

using Check = void (*)(const Request&, Diagnostics&);
constexpr Check kChecks[] = {
    check_budget,       check_seq_len,       check_target,      check_kv_heads_divide, check_heads_suit_variants,
    check_width_splits, check_latent_widths, check_variant_pins};

}  // namespace

Diagnostics check_request(const Request& request) {
  // Each value is held to its own field's rules first: a request may have been filled in by hand.
  Diagnostics problems;
  Request scratch = request;
  for (const RequestField& field : request_fields()) {
    const std::string text = field.get(request);
    if (text.empty()) continue;
    for (Diagnostic& problem : field.set(scratch, text)) {
      problem.where.key = flag_name(field.key);
      problems.push_back(std::move(problem));
    }
  }
  if (!problems.empty()) return problems;
  for (const Check check : kChecks) check(request, problems);
  return problems;
}

Diagnostics check_request_against(const Request& request, const RuleSet& rules) {
  Diagnostics problems;
  const auto known = [&](std::string_view key, std::string_view kind, const std::string& name, const auto& rows) {
    std::vector<std::string> ids;
    for (const auto& row : rows) ids.push_back(row.id);
    if (std::find(ids.begin(), ids.end(), name) != ids.end()) return;
    add(problems, key, "unknown-name", shown(name) + " is not a " + std::string(kind), did_you_mean(name, ids));
  };
  known("priority", "priority", request.priority, rules.priorities);
  known("quality_preset", "quality preset", request.quality_preset, rules.presets);

  const StorageFormat* format = find_format(request.dtype);
  if (format != nullptr && rules.target.peak(format->compute_peak) == nullptr) {
    std::string usable;
    for (const StorageFormat& other : storage_formats()) {
      if (!other.weights || rules.target.peak(other.compute_peak) == nullptr) continue;
      usable += (usable.empty() ? "" : ", ") + std::string(other.id);
    }
    add(problems, "dtype", "no-peak", "the target " + rules.target.id + " states no compute rate for " + request.dtype,
        "dtypes that it computes in: " + usable);
  }
  return problems;
}

}  // namespace mha
