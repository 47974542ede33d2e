// Answers 1 and 2: which projection variant and why; the head geometry with its identities.
#include <fmt/format.h>

#include "mha/quantity.hpp"

#include "report/figures.hpp"
#include "report/sections/sections.hpp"

namespace mha::report {
namespace {

std::string group_digits(std::int64_t n) {
  return print_grouped(n);
}

// "4.00 times smaller than" / "equal to" MHA with the same heads.
std::string against_mha(const ReportContext& c) {
  const Layout& l = c.layout;
  const std::int64_t mha = l.n_heads * (l.d_head + l.d_value);
  const auto own = static_cast<std::int64_t>(c.winner.cost.cache.elements_per_token_per_layer.value());
  const std::string base = fmt::format(
      "MHA with the same {} query heads (n_heads * (d_head + d_value) = {} * ({} + {}) = {} "
      "elements per token and layer)",
      l.n_heads, l.n_heads, l.d_head, l.d_value, group_digits(mha));
  if (own == mha) return fmt::format("It caches as much as {}.", base);
  if (own == 0) return "It caches nothing.";
  return fmt::format("It caches {} elements per token and layer, {} times fewer than {}.", group_digits(own),
                     print_fixed(static_cast<double>(mha) / static_cast<double>(own), 2), base);
}

void add_row(Table& table, const char* name, std::int64_t value, std::string identity) {
  table.rows.push_back({std::string("`") + name + "`", group_digits(value), std::move(identity)});
}

// "4,096 = d_model", or by how much it differs.
std::string width_identity(const ReportContext& c, std::int64_t width) {
  const std::int64_t d_model = c.winner.shape.d_model;
  if (width == d_model) return fmt::format("{} = d_model", group_digits(width));
  return fmt::format("{}, d_model is {}: decoupled head width ({} of d_model)", group_digits(width),
                     group_digits(d_model), print_fixed(static_cast<double>(width) / static_cast<double>(d_model), 3));
}

}  // namespace

void add_projection(Document& doc, const ReportContext& c) {
  doc.paragraph(
      fmt::format("**{}** ({}): {}", variant_label(c.layout), c.layout.variant->name, literal(sentence(c.rec.reason))));
  doc.paragraph(against_mha(c));
}

void add_geometry(Document& doc, const ReportContext& c) {
  const Layout& l = c.layout;
  Table t{{{"Quantity"}, {"Value", Align::right}, {"Identity, with the numbers"}}, {}};
  if (l.variant->latent) {
    add_row(t, "n_heads", l.n_heads, "query heads");
    add_row(t, "n_kv_heads", l.n_kv_heads,
            l.n_latents > 0 ? "= n_heads: each head expands keys and values of its own"
                            : "= n_heads: one latent serves every head");
    if (l.n_latents > 0)
      add_row(t, "n_latents", l.n_latents,
              fmt::format("each serves n_heads / n_latents = {} / {} = {} heads", l.n_heads, l.n_latents,
                          l.n_heads / l.n_latents));
    add_row(t, "d_nope", l.d_nope,
            fmt::format("part of a head without position; n_heads * d_nope = {} * {} = {}", l.n_heads, l.d_nope,
                        width_identity(c, l.n_heads * l.d_nope)));
    add_row(t, "d_rope", l.d_rope, "rotary part of a head; its key is shared by all heads");
    add_row(t, "d_head", l.d_head,
            fmt::format("d_nope + d_rope = {} + {} = {}", l.d_nope, l.d_rope, group_digits(l.d_nope + l.d_rope)));
    add_row(t, "d_value", l.d_value, "value width of a head");
    add_row(
        t, "d_kv_latent", l.d_kv_latent,
        fmt::format("cached latent; the cache holds d_kv_latent + d_rope = {} + {} = {} elements per token and layer",
                    l.d_kv_latent, l.d_rope, group_digits(l.d_kv_latent + l.d_rope)));
    add_row(t, "d_q_latent", l.d_q_latent,
            l.d_q_latent == 0 ? "none: queries are projected from d_model directly" : "query latent, not cached");
  } else {
    add_row(t, "n_heads", l.n_heads,
            fmt::format("n_heads mod n_kv_heads = {} mod {} = {}", l.n_heads, l.n_kv_heads, l.n_heads % l.n_kv_heads));
    add_row(t, "n_kv_heads", l.n_kv_heads,
            fmt::format("group size n_heads / n_kv_heads = {} / {} = {}", l.n_heads, l.n_kv_heads, l.group_size()));
    add_row(
        t, "d_head", l.d_head,
        fmt::format("n_heads * d_head = {} * {} = {}", l.n_heads, l.d_head, width_identity(c, l.n_heads * l.d_head)));
    add_row(t, "d_value", l.d_value,
            l.d_value == l.d_head ? std::string("= d_head")
                                  : fmt::format("n_heads * d_value = {} * {} = {}", l.n_heads, l.d_value,
                                                group_digits(l.n_heads * l.d_value)));
    add_row(t, "w", c.plan.kv_width,
            fmt::format("KV width n_kv_heads * d_head = {} * {} = {}", l.n_kv_heads, l.d_head,
                        group_digits(c.plan.kv_width)));
    if (l.d_rope > 0)
      add_row(t, "d_rope", l.d_rope,
              fmt::format("d_head / 2 = {} / 2: the rotary half of a key, which all KV heads share", l.d_head));
    if (l.d_q_latent > 0) add_row(t, "d_q_latent", l.d_q_latent, "query latent, not cached");
    if (l.rank_kv > 0) {
      add_row(t, "rank_kv", l.rank_kv,
              fmt::format("terms of the tensor product; the cache holds 2 factors of rank_kv * n_heads and rank_kv * "
                          "(d_head + d_value) = {} elements per token and layer",
                          group_digits(l.rank_kv * (2 * l.n_heads + l.d_head + l.d_value))));
      add_row(t, "rank_q", l.rank_q,
              l.rank_q == 0 ? "none: queries are projected whole" : "the same of queries, not cached");
    }
  }
  doc.table(std::move(t));
  if (l.qk_norm) {
    doc.paragraph(
        fmt::format("QK-norm: one scale of {} elements each for queries and keys, in every layer.", l.d_head));
  }
  if (l.d_head > 256 && !c.rec.request.d_head_reason.empty()) {
    doc.paragraph(fmt::format("Reason given for a head wider than 256: {}", literal(c.rec.request.d_head_reason)));
  }
}

}  // namespace mha::report
