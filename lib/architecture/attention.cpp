// Softmax attention as part of a model: the variant's plan, and around it what a model adds: span, shared and tied caches,
// QK-norm of either width, sinks, gates, low-rank projections, the sparse indexer and the compressed cache.
#include "architecture/lower.hpp"
#include "architecture/parts.hpp"

namespace mha {
namespace {

Visible visible_of(const Attention& a) {
  Visible v;
  switch (a.span.kind) {
    case Span::Kind::full:
      break;
    case Span::Kind::window:
      v.kind = Visible::Kind::window;
      v.limit = a.span.tokens;
      break;
    case Span::Kind::chunked:
      v.kind = Visible::Kind::chunked;
      v.limit = a.span.tokens;
      break;
    case Span::Kind::cross:
      v.kind = Visible::Kind::cross;
      break;
    case Span::Kind::encoder:
      v.kind = Visible::Kind::encoder;
      break;
  }
  // Sparse attention reads the tokens that its indexer picked.
  if (a.indexer.n_heads > 0 && a.compression.ratio == 0) v.top_k = a.indexer.top_k;
  return v;
}

Growth growth_of(const Span& span) {
  switch (span.kind) {
    case Span::Kind::full:
    case Span::Kind::encoder:
      return {};
    case Span::Kind::window:
      return {Growth::Kind::window, span.tokens};
    case Span::Kind::chunked:
      return {Growth::Kind::chunked, span.tokens};
    case Span::Kind::cross:
      return {Growth::Kind::source, 0};
  }
  return {};
}

CacheRole role_of(std::string_view entry) {
  if (entry == "v") return CacheRole::value;
  if (entry == "latent") return CacheRole::latent;
  if (entry == "rope_key") return CacheRole::rope_key;
  return CacheRole::key;
}

std::string product_formula(std::string_view rows, std::string_view cols) {
  return std::string(rows) + " * " +
         (cols.find('+') == std::string_view::npos ? std::string(cols) : "(" + std::string(cols) + ")");
}

// Projections that this layer does not have: k and v of a layer that reads another's cache, v where values are the keys.
bool projects(const Attention& a, std::string_view matrix) {
  if (a.shares_kv && (matrix == "k" || matrix == "v" || matrix == "kv_down")) return false;
  return !(a.tied_values && matrix == "v");
}

void add_matrices(const Attention& a, const AttentionPlan& base, LayerPlan& plan) {
  for (const WeightMatrix& m : base.matrices) {
    const bool used = projects(a, m.name);
    const bool stored = used || (a.shares_kv && a.keeps_kv_weights && !(a.tied_values && m.name == "v"));
    if (!stored) continue;
    Tensor t = parts::matrix(std::string(m.name), Component::attention, m.rows, m.cols, m.sharding,
                             product_formula(m.rows_formula, m.cols_formula));
    t.product = used;
    t.kv_heads = a.layout.n_kv_heads;
    if (!used) t.active = 0;
    plan.tensors.push_back(t);
    if (!m.bias) continue;
    Tensor bias = parts::vector(std::string(m.name) + ".bias", Component::attention, m.cols, m.sharding,
                                std::string(m.cols_formula));
    bias.kv_heads = a.layout.n_kv_heads;
    if (!used) bias.active = 0;
    plan.tensors.push_back(bias);
  }
}

void add_norms(const Attention& a, const AttentionPlan& base, LayerPlan& plan) {
  const Layout& l = a.layout;
  for (const NormVector& n : base.norms) {
    const bool of_keys = n.name == "k_norm" || n.name == "kv_latent_norm";  // what the owner has normed already
    if (a.shares_kv && !a.keeps_kv_weights && of_keys) continue;
    const std::int64_t shift = a.qk_norm_shift && (n.name == "q_norm" || n.name == "k_norm") ? 2 : 1;
    plan.tensors.push_back(parts::vector(std::string(n.name), Component::attention, shift * n.elements,
                                         Sharding::replicated, (shift == 2 ? "2 * " : "") + std::string(n.formula)));
    if (a.shares_kv && of_keys) plan.tensors.back().active = 0;
  }
  if (a.qk_norm != QkNorm::full) return;
  const std::int64_t shift = a.qk_norm_shift ? 2 : 1;
  const std::string times = a.qk_norm_shift ? "2 * " : "";
  plan.tensors.push_back(parts::vector("q_norm", Component::attention, shift * l.n_heads * l.d_head,
                                       Sharding::split_heads, times + "n_heads * d_head"));
  if (a.shares_kv && !a.keeps_kv_weights) return;
  Tensor k = parts::vector("k_norm", Component::attention, shift * l.n_kv_heads * l.d_head, Sharding::split_kv_heads,
                           times + "n_kv_heads * d_head");
  k.kv_heads = l.n_kv_heads;
  if (a.shares_kv) k.active = 0;
  plan.tensors.push_back(k);
}

void add_cache(const Attention& a, const AttentionPlan& base, LayerPlan& plan) {
  if (a.shares_kv || a.span.kind == Span::Kind::encoder) return;
  for (const CacheEntry& entry : base.cache) {
    if (a.tied_values && !a.values_cached && entry.name == "v") continue;
    CacheComponent c;
    c.role = role_of(entry.name);
    c.n_rows = entry.n_rows;
    c.row_elements = entry.row_elements;
    c.growth = growth_of(a.span);
    c.sharding = entry.sharding;
    c.formula = entry.formula;
    plan.cache.push_back(c);
  }
}

// Keys and values of cross-attention are projected once for each token of the source, not for the tokens of a step.
bool of_source(const Attention& a, std::string_view matrix) {
  return a.span.kind == Span::Kind::cross && (matrix == "k" || matrix == "v");
}

// The variant's paths over this layer's span.
Work base_work(const Attention& a, const AttentionPlan& base) {
  Work work{"attention", {}};
  for (const ComputePath& path : base.paths) {
    WorkPath out{std::string(path.name), {}};
    for (const MacTerm& term : path.terms) {
      if (!projects(a, term.name) || of_source(a, term.name)) continue;
      WorkTerm t;
      t.name = term.name;
      t.per = term.per;
      t.macs = term.macs;
      t.formula = term.formula;
      if (term.per == MacPer::pair) {
        t.visible = visible_of(a);
        t.scores = term.name == "scores";
        t.n_scores = t.scores ? a.layout.n_heads : 0;
      }
      out.terms.push_back(std::move(t));
    }
    work.paths.push_back(std::move(out));
  }
  return work;
}

// What every path does besides: tensors added behind `first` that are products.
void add_products(std::size_t first, const LayerPlan& plan, Work& work) {
  for (std::size_t i = first; i < plan.tensors.size(); ++i) {
    if (!plan.tensors[i].product) continue;
    for (WorkPath& path : work.paths) path.terms.push_back(parts::product_of(plan.tensors[i]));
  }
}

void add_gates(const Attention& a, std::int64_t d_model, LayerPlan& plan) {
  const Layout& l = a.layout;
  if (a.sinks) {
    plan.tensors.push_back(parts::vector("sinks", Component::attention, l.n_heads, Sharding::split_heads, "n_heads"));
  }
  if (a.output_gate) {
    plan.tensors.push_back(parts::matrix("o_gate", Component::attention, d_model, l.n_heads * l.d_value,
                                         Sharding::split_heads, "d_model * n_heads * d_value"));
  }
  if (a.head_gate) {
    plan.tensors.push_back(parts::matrix("head_gate", Component::attention, d_model, l.n_heads, Sharding::split_heads,
                                         "d_model * n_heads"));
  }
}

// What a compressor keeps of tokens that are not pooled yet: a row of values and a row of gates each, for a block (two where
// blocks overlap). DeepSeek-V4's inference/model.py: Compressor.kv_state and score_state, f32.
void add_pending(std::int64_t ratio, std::int64_t width, const std::string& width_name, LayerPlan& plan) {
  const std::int64_t wide = ratio == 4 ? 2 : 1;
  CacheComponent c;
  c.role = CacheRole::pending;
  c.n_rows = wide * ratio;
  c.row_elements = 2 * wide * width;
  c.growth = {Growth::Kind::fixed, 0};
  c.sharding = Sharding::replicated;
  c.format = "f32";
  c.formula = "overlap * ratio * 2 * overlap * " + width_name;
  plan.cache.push_back(c);
}

// Lightning indexer (DeepSeek-V3.2): index queries from the query latent (or from x), one key a token with a LayerNorm, and a
// weight a head, with which the heads' scores are added up; it scores every visible token. Replicated on every rank.
void add_indexer(const Attention& a, std::int64_t d_model, const Visible& over, const Growth& growth, LayerPlan& plan) {
  const Indexer& i = a.indexer;
  const std::int64_t latent = a.layout.d_q_latent > 0 ? a.layout.d_q_latent : a.d_q_latent;
  const std::int64_t from = latent > 0 ? latent : d_model;
  const std::size_t first = plan.tensors.size();
  plan.tensors.push_back(
      parts::matrix("index_q", Component::indexer, from, i.n_heads * i.d_head, Sharding::replicated,
                    std::string(latent > 0 ? "d_q_latent" : "d_model") + " * index_n_heads * index_d_head"));
  plan.tensors.push_back(parts::matrix("index_weights", Component::indexer, d_model, i.n_heads, Sharding::replicated,
                                       "d_model * index_n_heads"));
  WorkTerm scores;
  scores.name = "index_scores";
  scores.per = MacPer::pair;
  scores.macs = i128{i.n_heads} * i.d_head;
  scores.visible = over;
  scores.formula = "index_n_heads * index_d_head";
  WorkTerm sums = scores;
  sums.name = "index_sums";
  sums.macs = i.n_heads;
  sums.formula = "index_n_heads";
  if (a.compression.ratio == 0) {
    plan.tensors.push_back(parts::matrix("index_k", Component::indexer, d_model, i.d_head, Sharding::replicated,
                                         "d_model * index_d_head"));
    plan.tensors.push_back(
        parts::vector("index_k_norm", Component::indexer, 2 * i.d_head, Sharding::replicated, "2 * index_d_head"));
  } else {
    // Its own compressor: values and gates of the same width, overlapping blocks at ratio 4 (twice the width).
    const std::int64_t wide = a.compression.ratio == 4 ? 2 : 1;
    plan.tensors.push_back(parts::matrix("index_compress", Component::indexer, d_model, 2 * wide * i.d_head,
                                         Sharding::replicated, "d_model * 2 * overlap * index_d_head"));
    plan.tensors.push_back(parts::vector("index_positions", Component::indexer, a.compression.ratio * wide * i.d_head,
                                         Sharding::replicated, "ratio * overlap * index_d_head"));
    plan.tensors.push_back(
        parts::vector("index_norm", Component::indexer, i.d_head, Sharding::replicated, "index_d_head"));
  }
  plan.work.push_back(parts::work_of_tensors("indexer", plan.tensors, first, {scores, sums}));
  CacheComponent key;
  key.role = CacheRole::index_key;
  key.n_rows = 1;
  key.row_elements = i.d_head;
  key.growth = growth;
  key.sharding = Sharding::replicated;
  key.formula = "index_d_head";
  plan.cache.push_back(key);
  if (a.compression.ratio > 1) add_pending(a.compression.ratio, i.d_head, "index_d_head", plan);
}

// DeepSeek-V4: x -> q latent -> heads; one key-value row of d_head for all heads, whose last `window` rows are kept plain,
// and of which `ratio` are pooled into one entry by learned gates. Attention runs over the window and the entries.
void lower_compressed(const Attention& a, std::int64_t d_model, LayerPlan& plan) {
  const Layout& l = a.layout;
  const Compression& c = a.compression;
  const std::size_t first = plan.tensors.size();
  const auto attention = Component::attention;
  if (a.d_q_latent > 0) {
    plan.tensors.push_back(
        parts::matrix("q_down", attention, d_model, a.d_q_latent, Sharding::replicated, "d_model * d_q_latent"));
    plan.tensors.push_back(parts::vector("q_latent_norm", attention, a.d_q_latent, Sharding::replicated, "d_q_latent"));
    plan.tensors.push_back(parts::matrix("q_up", attention, a.d_q_latent, l.n_heads * l.d_head, Sharding::split_heads,
                                         "d_q_latent * n_heads * d_head"));
  } else {
    plan.tensors.push_back(parts::matrix("q", attention, d_model, l.n_heads * l.d_head, Sharding::split_heads,
                                         "d_model * n_heads * d_head"));
  }
  plan.tensors.push_back(parts::matrix("kv", attention, d_model, l.d_head, Sharding::replicated, "d_model * d_head"));
  plan.tensors.push_back(parts::vector("kv_norm", attention, l.d_head, Sharding::replicated, "d_head"));
  if (a.o_groups > 0) {
    plan.tensors.push_back(parts::matrix("o_down", attention, l.n_heads * l.d_value / a.o_groups,
                                         a.o_groups * a.d_o_latent, Sharding::split_heads,
                                         "n_heads * d_value / o_groups * (o_groups * d_o_latent)"));
    plan.tensors.push_back(parts::matrix("o_up", attention, a.o_groups * a.d_o_latent, d_model, Sharding::split_heads,
                                         "o_groups * d_o_latent * d_model"));
  } else {
    plan.tensors.push_back(parts::matrix("o", attention, l.n_heads * l.d_value, d_model, Sharding::split_heads,
                                         "n_heads * d_value * d_model"));
  }
  const bool pooled = c.ratio > 1;
  if (pooled) {
    const std::int64_t wide = c.ratio == 4 ? 2 : 1;  // blocks overlap at ratio 4
    plan.tensors.push_back(parts::matrix("compress", attention, d_model, 2 * wide * l.d_head, Sharding::replicated,
                                         "d_model * 2 * overlap * d_head"));
    plan.tensors.push_back(parts::vector("compress_positions", attention, c.ratio * wide * l.d_head,
                                         Sharding::replicated, "ratio * overlap * d_head"));
    plan.tensors.push_back(parts::vector("compress_norm", attention, l.d_head, Sharding::replicated, "d_head"));
  }
  add_gates(a, d_model, plan);

  Visible near{Visible::Kind::window, c.window, 1, 0};
  if (c.window == 0) near = Visible{};
  Visible far{Visible::Kind::compressed, 0, c.ratio, a.indexer.top_k};
  std::vector<WorkTerm> pairs;
  const auto pair = [&](std::string name, const Visible& visible, std::int64_t width, bool scores,
                        std::string formula) {
    WorkTerm t;
    t.name = std::move(name);
    t.per = MacPer::pair;
    t.macs = i128{l.n_heads} * width;
    t.visible = visible;
    t.scores = scores;
    t.n_scores = scores ? l.n_heads : 0;
    t.formula = std::move(formula);
    pairs.push_back(std::move(t));
  };
  pair("window_scores", near, l.d_head, true, "n_heads * d_head");
  pair("window_values", near, l.d_value, false, "n_heads * d_value");
  if (pooled) {
    pair("entry_scores", far, l.d_head, true, "n_heads * d_head");
    pair("entry_values", far, l.d_value, false, "n_heads * d_value");
  }
  plan.work.push_back(parts::work_of_tensors("attention", plan.tensors, first, std::move(pairs)));

  CacheComponent row;
  row.role = CacheRole::entry;
  row.n_rows = 1;
  row.row_elements = l.d_head;
  row.sharding = Sharding::replicated;
  row.formula = "d_head";
  row.growth = c.window > 0 ? Growth{Growth::Kind::window, c.window} : Growth{};
  plan.cache.push_back(row);
  if (pooled) {
    row.growth = {Growth::Kind::compressed, c.ratio};
    plan.cache.push_back(row);
    add_pending(c.ratio, l.d_head, "d_head", plan);
  }
  if (a.indexer.n_heads > 0 && pooled) {
    add_indexer(a, d_model, {Visible::Kind::compressed, 0, c.ratio, 0}, {Growth::Kind::compressed, c.ratio}, plan);
  }
}

// Low-rank queries of grouped attention replace q by q_down, a norm and q_up.
void replace_queries(const Attention& a, std::int64_t d_model, LayerPlan& plan, Work& work) {
  const Layout& l = a.layout;
  std::vector<Tensor> tensors;
  for (Tensor& t : plan.tensors) {
    if (t.name != "q" || t.component != Component::attention) {
      tensors.push_back(std::move(t));
      continue;
    }
    tensors.push_back(parts::matrix("q_down", Component::attention, d_model, a.d_q_latent, Sharding::replicated,
                                    "d_model * d_q_latent"));
    tensors.push_back(
        parts::vector("q_latent_norm", Component::attention, a.d_q_latent, Sharding::replicated, "d_q_latent"));
    tensors.push_back(parts::matrix("q_up", Component::attention, a.d_q_latent, l.n_heads * l.d_head,
                                    Sharding::split_heads, "d_q_latent * n_heads * d_head"));
  }
  plan.tensors = std::move(tensors);
  for (WorkPath& path : work.paths) {
    for (WorkTerm& term : path.terms) {
      if (term.name != "q") continue;
      term = parts::per_token("q_down", i128{d_model} * a.d_q_latent, "d_model * d_q_latent");
    }
    path.terms.push_back(
        parts::per_token("q_up", i128{a.d_q_latent} * l.n_heads * l.d_head, "d_q_latent * n_heads * d_head"));
  }
}

}  // namespace

void lower_attention(const Attention& a, std::int64_t d_model, LayerPlan& plan) {
  if (a.compression.ratio > 0) {
    lower_compressed(a, d_model, plan);
    return;
  }
  const AttentionPlan base = lower(a.layout, d_model);
  LayerPlan own;
  add_matrices(a, base, own);
  add_norms(a, base, own);
  add_cache(a, base, own);
  Work work = base_work(a, base);
  if (a.d_q_latent > 0) replace_queries(a, d_model, own, work);
  const std::size_t gates = own.tensors.size();
  add_gates(a, d_model, own);
  add_products(gates, own, work);
  own.work.push_back(std::move(work));
  if (a.indexer.n_heads > 0) {
    Visible all = visible_of(a);
    all.top_k = 0;
    add_indexer(a, d_model, all, growth_of(a.span), own);
  }
  plan.tensors.insert(plan.tensors.end(), own.tensors.begin(), own.tensors.end());
  plan.cache.insert(plan.cache.end(), own.cache.begin(), own.cache.end());
  plan.work.insert(plan.work.end(), own.work.begin(), own.work.end());
}

}  // namespace mha
