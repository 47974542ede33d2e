// What serving runtimes reserve for a cache, beside what the layout needs: blocks, windows with tokens in flight, pages made
// equal over layer kinds, padded cells. The rules of each runtime are data (rules/runtimes); what a rule does is here.
#include <algorithm>

#include "mha/model_cost.hpp"
#include "mha/quantity.hpp"

#include "cost/model_rank.hpp"
#include "cost/sharding.hpp"

namespace mha {
namespace {

std::int64_t round_up(std::int64_t n, std::int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

std::string text(std::int64_t n) {
  return to_decimal(n);
}

// Components of one layer kind that live and die together: they share cells.
struct Pool {
  std::string layers;
  std::string what;
  Growth growth;
  std::int64_t n_layers = 0;
  Bytes row;         // of one cell and layer, on the rank
  bool cut = false;  // along the tokens
  [[nodiscard]] bool is_state() const { return growth.kind == Growth::Kind::fixed; }
};

// Layer kinds whose caches are alike (dense and mixture-of-experts layers, say) are one pool to a runtime.
void add_pool(Pool pool, std::vector<Pool>& pools) {
  const auto same = std::find_if(pools.begin(), pools.end(), [&](const Pool& p) {
    return p.growth == pool.growth && p.cut == pool.cut && p.row == pool.row && p.what == pool.what && !p.is_state();
  });
  if (same == pools.end()) {
    pools.push_back(std::move(pool));
    return;
  }
  same->n_layers += pool.n_layers;
  same->layers += " and " + pool.layers;
}

// The plan of a runtime that keeps each head's keys and values where MLA could keep its latent. Grouped latents, which no
// such runtime runs, stay as they are.
ModelPlan with_expanded_heads(const Architecture& a, ModelPlan plan) {
  for (std::size_t i = 0; i < a.specs.size(); ++i) {
    for (const Mixer& mixer : a.specs[i].mixers) {
      const auto* attention = std::get_if<Attention>(&mixer);
      if (attention == nullptr || !attention->layout.variant->latent || attention->layout.n_latents > 0) continue;
      const Layout& l = attention->layout;
      CacheComponent key{CacheRole::key,        l.n_heads, l.d_nope + l.d_rope,          {},
                         Sharding::split_heads, {},        "n_heads * (d_nope + d_rope)"};
      CacheComponent value{CacheRole::value, l.n_heads, l.d_value, {}, Sharding::split_heads, {}, "n_heads * d_value"};
      std::vector<CacheComponent> cache;
      for (const CacheComponent& c : plan.specs[i].cache) {
        if (c.role == CacheRole::latent) {
          key.growth = value.growth = c.growth;
          cache.push_back(key);
          cache.push_back(value);
        } else if (c.role != CacheRole::rope_key) {
          cache.push_back(c);
        }
      }
      plan.specs[i].cache = std::move(cache);
    }
  }
  return plan;
}

bool caches_latents(const ModelPlan& plan) {
  return std::any_of(plan.specs.begin(), plan.specs.end(), [](const LayerPlan& spec) {
    return std::any_of(spec.cache.begin(), spec.cache.end(),
                       [](const CacheComponent& c) { return c.role == CacheRole::latent; });
  });
}

std::vector<Pool> pools_of(const Architecture& a, const ModelPlan& plan, const ModelFormats& formats,
                           const Stage& stage, const Parallel& parallel) {
  std::vector<Pool> pools;
  for (const LayerGroup& group : groups_of(a, stage)) {
    std::vector<Pool> own;
    for (const CacheComponent& c : plan.specs[group.spec].cache) {
      if (!formats.counts(c)) continue;
      const Bytes row = row_bytes_on_rank(c, formats, parallel);
      const auto same = std::find_if(
          own.begin(), own.end(), [&](const Pool& p) { return p.growth == c.growth && p.cut == cut_along_tokens(c); });
      if (same == own.end()) {
        own.push_back({a.specs[group.spec].name, std::string(name_of(c.role)), c.growth, group.n_layers, row,
                       cut_along_tokens(c)});
      } else {
        same->row += row;
        same->what += " and " + std::string(name_of(c.role));
      }
    }
    for (Pool& pool : own) add_pool(std::move(pool), pools);
  }
  return pools;
}

class Allocator {
 public:
  Allocator(const RuntimeRule& runtime, const AllocationInput& input, Allocation& out)
      : r_(runtime), in_(input), out_(out), step_(input.step_tokens > 0 ? input.step_tokens : runtime.step_tokens) {}

  void run(std::vector<Pool> pools) {
    if (r_.unified_pages) unify(pools);
    for (const Pool& pool : pools) {
      const std::int64_t cells = cells_of(pool);
      const std::int64_t copies = in_.unified && r_.shared_context && !pool.is_state() ? 1 : in_.sequences;
      AllocationLine line{pool.layers, pool.what, pool.n_layers, cells, {}};
      line.total = pool.row * cells * pool.n_layers * copies;
      out_.total += line.total;
      out_.lines.push_back(std::move(line));
    }
    if (r_.spare_tokens == 0) return;
    AllocationLine spare{"all", "spare", 0, r_.spare_tokens, {}};
    for (const Pool& pool : pools) {
      if (pool.growth.kind == Growth::Kind::token) spare.total += pool.row * pool.n_layers * spare.cells;
    }
    note("keeps room for " + text(spare.cells) + (spare.cells == 1 ? " more token" : " more tokens"));
    out_.total += spare.total;
    out_.lines.push_back(std::move(spare));
  }

 private:
  void note(std::string line) {
    if (std::find(out_.notes.begin(), out_.notes.end(), line) == out_.notes.end())
      out_.notes.push_back(std::move(line));
  }

  // Tokens that one full-length cache holds: a slot's share where the context is one pool for all slots.
  [[nodiscard]] std::int64_t context() const {
    if (!r_.shared_context || in_.shared_total == 0) return in_.n_ctx;
    return in_.unified ? in_.shared_total : (in_.shared_total + in_.sequences - 1) / in_.sequences;
  }

  std::int64_t cells_of(const Pool& pool) {
    const std::int64_t block = block_for(pool);
    std::int64_t n = context();
    if (!in_.unified && r_.shared_context) n = round_up(n, block);
    if (in_.unified && r_.shared_context && in_.shared_total == 0) n *= in_.sequences;
    if (pool.cut) n = static_cast<std::int64_t>(split(n, in_.parallel.decode_context));
    switch (pool.growth.kind) {
      case Growth::Kind::token:
        if (round_up(n, block) != n) note("full-length caches are rounded up to " + text(block) + " tokens");
        return round_up(n, block);
      case Growth::Kind::window:
        return window_cells(pool, n, pool.growth.limit);
      case Growth::Kind::chunked:
        // The chunk in use, and what a step adds: as a window without the token that is just leaving it.
        return window_cells(pool, n, pool.growth.limit + 1);
      case Growth::Kind::compressed:
        return round_up(n / pool.growth.limit, std::max<std::int64_t>(1, block / pool.growth.limit));
      case Growth::Kind::source:
        return round_up(in_.n_source, block);
      case Growth::Kind::fixed:
        return 1;
    }
    return 0;
  }

  std::int64_t window_cells(const Pool& pool, std::int64_t n, std::int64_t window) {
    const std::int64_t block = block_for(pool);
    if (r_.window == "full") {
      note("windows reserve the full length");
      return round_up(n, block);
    }
    if (r_.window == "blocks") {
      const std::int64_t tokens = std::min(window - 1 + step_, n);
      note("a window of " + text(window) + " reserves ceil(min(window - 1 + " + text(step_) +
           " tokens a step, length) / " + text(block) + ") + 1 blocks");
      return round_up(tokens, block) + block;
    }
    if (r_.window == "cells") {
      const std::int64_t slots = in_.unified ? in_.sequences : 1;
      const std::int64_t cells = std::min(n, window * slots + step_);
      note("a window of " + text(window) + " reserves min(length, window" + (slots > 1 ? " * " + text(slots) : "") +
           " + " + text(step_) + ") cells, rounded up to " + text(r_.window_block));
      return round_up(cells, r_.window_block);
    }
    return round_up(std::min(n, window), block);
  }

  [[nodiscard]] std::int64_t block_for(const Pool& pool) const {
    return pool.growth.kind == Growth::Kind::token && grown_block_ > 0 ? grown_block_ : r_.block_tokens;
  }

  // vLLM serves layer kinds from one pool of equal pages. Layer kinds are padded to a common group size, and a state takes a
  // page, so that the block of the attention layers grows until a page holds a state.
  void unify(std::vector<Pool>& pools) {
    std::int64_t fewest = 0, most = 0;
    Bytes state, token;
    std::int64_t states = 0;
    std::string state_layers;
    for (const Pool& pool : pools) {
      if (pool.is_state()) {
        if (pool.layers != state_layers) state = Bytes(0);
        state_layers = pool.layers;
        state += pool.row;
        ++states;
      } else if (pool.growth.kind == Growth::Kind::token) {
        token = std::max(token, pool.row);
      }
      fewest = fewest == 0 ? pool.n_layers : std::min(fewest, pool.n_layers);
      most = std::max(most, pool.n_layers);
    }
    if (pools.size() < 2) return;
    if (states > 0 && token > Bytes(0)) {
      const i128 tokens = (state.value() + token.value() - 1) / token.value();
      grown_block_ = round_up(static_cast<std::int64_t>(tokens), r_.block_tokens);
      note("a state of " + print_grouped(state.value()) + " bytes takes a page, so that blocks grow to " +
           text(grown_block_) + " tokens");
      pad_states(pools, token * grown_block_);
    }
    if (fewest == most) return;
    const std::int64_t group = most * 4 < fewest * 5 ? most : fewest;
    for (Pool& pool : pools) {
      const std::int64_t padded = round_up(pool.n_layers, group);
      if (padded == pool.n_layers) continue;
      note(text(pool.n_layers) + " " + pool.layers + " layers are padded to " + text(padded) + ", groups of " +
           text(group));
      pool.n_layers = padded;
    }
  }

  // The states of a layer share one page of `page` bytes; the first of them is charged for all.
  void pad_states(std::vector<Pool>& pools, Bytes page) {
    std::vector<std::string> done;
    std::vector<Pool> out;
    for (Pool& pool : pools) {
      if (pool.is_state()) {
        if (std::find(done.begin(), done.end(), pool.layers) != done.end()) continue;
        done.push_back(pool.layers);
        pool.row = std::max(page, pool.row);
        pool.what = "state page";
      }
      out.push_back(pool);
    }
    pools = std::move(out);
  }

  const RuntimeRule& r_;
  const AllocationInput& in_;
  Allocation& out_;
  std::int64_t step_ = 0;
  std::int64_t grown_block_ = 0;
};

}  // namespace

Allocation allocate(const Architecture& architecture, const ModelPlan& plan, const ModelFormats& formats,
                    const RuntimeRule& runtime, const AllocationInput& input) {
  Allocation most;
  const bool expands = !runtime.latent_cache && caches_latents(plan);
  const ModelPlan held = expands ? with_expanded_heads(architecture, plan) : plan;
  for (const Stage& stage : pipeline_stages(architecture.n_layers(), input.parallel.pipeline)) {
    Allocation out;
    out.runtime = runtime.name + " " + runtime.version;
    Allocator(runtime, input, out).run(pools_of(architecture, held, formats, stage, input.parallel));
    if (expands) out.notes.emplace_back("caches the keys and values of every head in place of the latent");
    if (most.runtime.empty() || out.total > most.total) most = std::move(out);
  }
  const std::int64_t n = input.shared_total > 0 ? input.shared_total / input.sequences : input.n_ctx;
  most.payload =
      cache_per_rank(architecture, plan, formats, n, input.parallel, input.n_source).per_sequence * input.sequences;
  return most;
}

std::int64_t tokens_in(Bytes memory, Bytes per_token, std::int64_t block_tokens) {
  return static_cast<std::int64_t>(memory.value() / (per_token.value() * block_tokens)) * block_tokens;
}

}  // namespace mha
