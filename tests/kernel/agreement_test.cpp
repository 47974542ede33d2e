// The kernel against itself and against a second, naive implementation. Every comparison is to the rounding bounds that
// the kernel carries, and the last tests show that these are tight enough to catch one weight that is off by 1e-6.
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

#include "layouts.hpp"

using namespace mha;
using namespace mha::test;
using oracle::Rows;

namespace {

// Column blocks of `width` of matrix `from`, block b of the result being block source(b) of the original.
template <class Source>
oracle::Matrix repeat_blocks(const oracle::Matrix& from, std::int64_t n_blocks, std::int64_t width, Source source) {
  oracle::Matrix to{from.name, from.rows, n_blocks * width, {}, {}, {}};
  for (std::int64_t row = 0; row < from.rows; ++row) {
    to.row_start.push_back(static_cast<std::int64_t>(to.value.size()));
    for (std::int64_t block = 0; block < n_blocks; ++block) {
      const double* first = from.row(row) + source(block) * width;
      to.value.insert(to.value.end(), first, first + width);
    }
  }
  return to;
}

using Exact = long double;
using Table = std::vector<std::vector<Exact>>;

Table times(const Table& x, const oracle::Matrix& w) {
  Table y(x.size(), std::vector<Exact>(static_cast<std::size_t>(w.cols)));
  for (std::size_t t = 0; t < x.size(); ++t)
    for (std::size_t j = 0; j < y[t].size(); ++j) {
      for (std::int64_t i = 0; i < w.rows; ++i)
        y[t][j] += x[t][static_cast<std::size_t>(i)] * static_cast<Exact>(w.row(i)[j]);
      if (!w.bias.empty()) y[t][j] += static_cast<Exact>(w.bias[j]);
    }
  return y;
}

void normalise(std::vector<Exact>& x, std::size_t from, const std::vector<double>& scale) {
  Exact squares = 0;
  for (std::size_t i = 0; i < scale.size(); ++i) squares += x[from + i] * x[from + i];
  const Exact root = std::sqrt(squares / static_cast<Exact>(scale.size()) + static_cast<Exact>(1e-6));
  for (std::size_t i = 0; i < scale.size(); ++i) x[from + i] *= static_cast<Exact>(scale[i]) / root;
}

void turn(std::vector<Exact>& x, std::size_t from, std::size_t width, std::size_t position) {
  for (std::size_t i = 0; i < width; i += 2) {
    const double angle =
        static_cast<double>(position) * std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(width));
    const Exact c = static_cast<Exact>(std::cos(angle)), s = static_cast<Exact>(std::sin(angle));
    const Exact a = x[from + i], b = x[from + i + 1];
    x[from + i] = c * a - s * b;
    x[from + i + 1] = s * a + c * b;
  }
}

// rank terms of a over heads and b over width, divided by their number.
Table product(const Table& a, const Table& b, std::size_t heads, std::size_t rank) {
  Table y(a.size());
  for (std::size_t t = 0; t < a.size(); ++t) {
    const std::size_t width = b[t].size() / rank;
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t i = 0; i < width; ++i) {
        Exact sum = 0;
        for (std::size_t r = 0; r < rank; ++r) sum += a[t][h * rank + r] * b[t][r * width + i];
        y[t].push_back(sum / static_cast<Exact>(rank));
      }
  }
  return y;
}

// Any of the variants as one formula, without a cache: keys and values of every query head are written out in full.
Table naive(const oracle::Weights& w, const Layout& l, const Table& x) {
  const std::size_t n = x.size(), heads = static_cast<std::size_t>(l.n_heads);
  const std::size_t d = static_cast<std::size_t>(l.d_head), dv = static_cast<std::size_t>(l.d_value);
  Table q, k(n, std::vector<Exact>(heads * d)), v(n, std::vector<Exact>(heads * dv));
  if (l.variant->latent) {
    const std::size_t nope = static_cast<std::size_t>(l.d_nope), rope = static_cast<std::size_t>(l.d_rope);
    const std::size_t rank = static_cast<std::size_t>(l.d_kv_latent);
    if (l.d_q_latent > 0) {
      Table latent = times(x, w.matrix("q_down"));
      for (auto& row : latent) normalise(row, 0, w.norm("q_latent_norm").value);
      q = times(latent, w.matrix("q_up"));
    } else {
      q = times(x, w.matrix("q"));
    }
    // Latents of all groups, then the rotary key; a head expands the latent of its group.
    const std::size_t latents = l.n_latents > 0 ? static_cast<std::size_t>(l.n_latents) : 1;
    const std::size_t width = rank / latents;
    Table down = times(x, w.matrix("kv_down"));
    if (l.n_latents > 0 && rope > 0) {
      const Table rotary = times(x, w.matrix("k_rope"));
      for (std::size_t t = 0; t < n; ++t) down[t].insert(down[t].end(), rotary[t].begin(), rotary[t].end());
    }
    const std::vector<double>& scales = w.norm("kv_latent_norm").value;
    for (std::size_t t = 0; t < n; ++t) {
      for (std::size_t g = 0; g < latents; ++g) {
        const auto first = scales.begin() + static_cast<std::ptrdiff_t>(g * width);
        normalise(down[t], g * width, {first, first + static_cast<std::ptrdiff_t>(width)});
      }
      turn(down[t], rank, rope, t);
      for (std::size_t h = 0; h < heads; ++h) turn(q[t], h * d + nope, rope, t);
    }
    v.assign(n, std::vector<Exact>());
    for (std::size_t g = 0; g < latents; ++g) {
      Table own;
      for (std::size_t t = 0; t < n; ++t) {
        const auto first = down[t].begin() + static_cast<std::ptrdiff_t>(g * width);
        own.emplace_back(first, first + static_cast<std::ptrdiff_t>(width));
      }
      const Table up = times(own, w.matrix("k_up")), values = times(own, w.matrix("v_up"));
      const std::size_t group = heads / latents;
      for (std::size_t t = 0; t < n; ++t)
        for (std::size_t h = g * group; h < (g + 1) * group; ++h) {
          for (std::size_t i = 0; i < d; ++i)
            k[t][h * d + i] = i < nope ? up[t][h * nope + i] : down[t][rank + i - nope];
          for (std::size_t i = 0; i < dv; ++i) v[t].push_back(values[t][h * dv + i]);
        }
    }
  } else if (l.variant->id == std::string_view("tpa")) {
    const std::size_t r = static_cast<std::size_t>(l.rank_kv);
    q = l.rank_q == 0
            ? times(x, w.matrix("q"))
            : product(times(x, w.matrix("q_a")), times(x, w.matrix("q_b")), heads, static_cast<std::size_t>(l.rank_q));
    k = product(times(x, w.matrix("k_a")), times(x, w.matrix("k_b")), heads, r);
    v = product(times(x, w.matrix("v_a")), times(x, w.matrix("v_b")), heads, r);
  } else if (l.variant->id == std::string_view("gta")) {
    q = times(x, w.matrix("q"));
    Table rotary = times(x, w.matrix("k_rope"));
    const Table states = times(x, w.matrix("kv"));
    for (std::size_t t = 0; t < n; ++t) {
      turn(rotary[t], 0, d / 2, t);
      for (std::size_t h = 0; h < heads; ++h) {
        turn(q[t], h * d + d / 2, d / 2, t);
        const std::size_t shared = h / static_cast<std::size_t>(l.group_size());
        for (std::size_t i = 0; i < d; ++i) {
          k[t][h * d + i] = i < d / 2 ? states[t][shared * d + i] : rotary[t][i - d / 2];
          v[t][h * d + i] = states[t][shared * d + i];
        }
      }
    }
  } else {
    if (l.d_q_latent > 0) {
      Table latent = times(x, w.matrix("q_down"));
      for (auto& row : latent) normalise(row, 0, w.norm("q_latent_norm").value);
      q = times(latent, w.matrix("q_up"));
    } else {
      q = times(x, w.matrix("q"));
    }
    Table few_k = times(x, w.matrix("k"));
    const Table few_v = times(x, w.matrix("v"));
    for (std::size_t t = 0; t < n; ++t) {
      if (l.qk_norm) {
        for (std::size_t h = 0; h < heads; ++h) normalise(q[t], h * d, w.norm("q_norm").value);
        for (std::size_t h = 0; h < few_k[t].size() / d; ++h) normalise(few_k[t], h * d, w.norm("k_norm").value);
      }
      for (std::size_t h = 0; h < heads; ++h) {
        const std::size_t shared = h / static_cast<std::size_t>(l.group_size());
        for (std::size_t i = 0; i < d; ++i) k[t][h * d + i] = few_k[t][shared * d + i];
        for (std::size_t i = 0; i < dv; ++i) v[t][h * dv + i] = few_v[t][shared * dv + i];
      }
    }
  }
  Table mixed(n, std::vector<Exact>(heads * dv));
  for (std::size_t t = 0; t < n; ++t)
    for (std::size_t h = 0; h < heads; ++h) {
      std::vector<Exact> weight(t + 1);
      Exact sum = 0;
      for (std::size_t j = 0; j <= t; ++j) {
        for (std::size_t i = 0; i < d; ++i) weight[j] += q[t][h * d + i] * k[j][h * d + i];
        sum += weight[j] = std::exp(weight[j] / std::sqrt(static_cast<Exact>(d)));
      }
      for (std::size_t j = 0; j <= t; ++j)
        for (std::size_t i = 0; i < dv; ++i) mixed[t][h * dv + i] += weight[j] / sum * v[j][h * dv + i];
    }
  return times(mixed, w.matrix("o"));
}

Table widened(const Rows& x) {
  Table table;
  for (std::int64_t t = 0; t < x.n; ++t) {
    const double* row = x.slice(t).value;
    table.emplace_back(row, row + x.width);
  }
  return table;
}

}  // namespace

TEST_CASE("every path of every variant is within its bound of a naive implementation in extended precision") {
  for (const Variant* variant : variants()) {
    Random random(77);
    for (int i = 0; i < 25; ++i) {
      const Layout layout = random_layout(*variant, random);
      const std::int64_t d_model = random.between(1, 48);
      const oracle::Oracle& own = *oracle::find_oracle(variant->id);
      const oracle::Weights weights = own.draw(layout, d_model, static_cast<std::uint64_t>(i));
      const Rows x = oracle::draw_tokens(6, d_model, static_cast<std::uint64_t>(i));
      const Table expected = naive(weights, layout, widened(x));
      for (const oracle::Path& path : own.paths) {
        const Rows y = prefill(path, weights, layout, x);
        double worst = 0, largest_bound = 0;
        for (std::int64_t t = 0; t < y.n; ++t)
          for (std::int64_t j = 0; j < y.width; ++j) {
            const oracle::Slice at = y.slice(t, j);
            const Exact exact = expected[static_cast<std::size_t>(t)][static_cast<std::size_t>(j)];
            worst = std::max(worst, static_cast<double>(std::abs(static_cast<Exact>(*at.value) - exact)) / *at.error);
            largest_bound = std::max(largest_bound, *at.error);
          }
        CAPTURE(notation(layout));
        CAPTURE(path.name);
        CHECK(worst <= 1.0);
        CHECK(worst > 0.0);
        CHECK(largest_bound < 1e-10);
      }
    }
  }
}

TEST_CASE("decode and chunked prefill give the outputs of prefill") {
  for (const Variant* variant : variants()) {
    Random random(5);
    for (int i = 0; i < 10; ++i) {
      const Layout layout = random_layout(*variant, random);
      const oracle::Oracle& own = *oracle::find_oracle(variant->id);
      const oracle::Weights weights = own.draw(layout, 32, 3);
      const Rows x = oracle::draw_tokens(7, 32, 3);
      for (const oracle::Path& path : own.paths)
        for (const std::int64_t chunk : {1, 2, 3, 5})
          CHECK(
              oracle::compare(prefill(path, weights, layout, x), in_chunks(path, weights, layout, x, chunk)).within());
    }
  }
}

TEST_CASE("decode reads what earlier tokens left in the cache") {
  for (const oracle::Oracle& own : oracle::oracles()) {
    Random random(6);
    const Layout layout = random_layout(*find_variant(own.id), random);
    const oracle::Weights weights = own.draw(layout, 32, 3);
    const Rows last = oracle::draw_tokens(1, 32, 9);
    for (const oracle::Path& path : own.paths) {
      oracle::Counts counts;
      oracle::Cache one, other;
      (void)path.forward(weights, layout, oracle::draw_tokens(3, 32, 1), one, counts);
      (void)path.forward(weights, layout, oracle::draw_tokens(3, 32, 2), other, counts);
      CHECK_FALSE(oracle::compare(path.forward(weights, layout, last, one, counts),
                                  path.forward(weights, layout, last, other, counts))
                      .within());
    }
  }
}

TEST_CASE("changing or poisoning a future token never changes past outputs") {
  for (const oracle::Oracle& own : oracle::oracles()) {
    Random random(8);
    const Layout layout = random_layout(*find_variant(own.id), random);
    const oracle::Weights weights = own.draw(layout, 32, 3);
    const Rows x = oracle::draw_tokens(6, 32, 3);
    for (const double replacement : {1000.0, std::numeric_limits<double>::quiet_NaN()}) {
      Rows changed = x;
      for (std::int64_t j = 0; j < x.width; ++j) *changed.at(4, j).value = replacement * static_cast<double>(j + 1);
      for (const oracle::Path& path : own.paths) {
        const Rows before = prefill(path, weights, layout, x), after = prefill(path, weights, layout, changed);
        CHECK(oracle::rows_of(before, 0, 4).value == oracle::rows_of(after, 0, 4).value);
        CHECK_FALSE(oracle::compare(oracle::rows_of(before, 4, 1), oracle::rows_of(after, 4, 1)).within());
      }
    }
  }
}

TEST_CASE("GQA with as many KV heads as heads equals MHA and with one equals MQA") {
  const oracle::Oracle& gqa = *oracle::find_oracle("gqa");
  for (const char* id : {"mha", "mqa"}) {
    const std::int64_t n_kv_heads = std::string_view(id) == "mha" ? 6 : 1;
    Layout layout = grouped_layout(id, 6, n_kv_heads, 10, 7);
    layout.qk_norm = true;
    const oracle::Oracle& own = *oracle::find_oracle(id);
    const oracle::Weights weights = own.draw(layout, 40, 4);
    const Rows x = oracle::draw_tokens(6, 40, 4);
    CHECK(
        oracle::compare(prefill(own.paths[0], weights, layout, x), prefill(gqa.paths[0], weights, layout, x)).within());
  }
}

TEST_CASE("GQA equals MHA with each KV head written out for its group, and for no other grouping") {
  const Layout shared = grouped_layout("gqa", 6, 2, 8, 5), full = grouped_layout("mha", 6, 6, 8, 5);
  const oracle::Oracle& gqa = *oracle::find_oracle("gqa");
  const oracle::Oracle& mha = *oracle::find_oracle("mha");
  const oracle::Weights weights = gqa.draw(shared, 40, 4);
  const Rows x = oracle::draw_tokens(6, 40, 4);
  const Rows expected = prefill(gqa.paths[0], weights, shared, x);
  auto with = [&](auto source) {
    oracle::Weights repeated = weights;
    matrix(repeated, "k") = repeat_blocks(weights.matrix("k"), 6, 8, source);
    matrix(repeated, "v") = repeat_blocks(weights.matrix("v"), 6, 5, source);
    return prefill(mha.paths[0], repeated, full, x);
  };
  CHECK(oracle::compare(expected, with([](std::int64_t head) { return head / 3; })).within());
  CHECK_FALSE(oracle::compare(expected, with([](std::int64_t head) { return head % 2; })).within());
}

TEST_CASE("absorbed equals expanded for MLA with and without query latent, rotary part and biases") {
  const oracle::Oracle& own = *oracle::find_oracle("mla");
  for (const std::int64_t d_q_latent : {0, 20})
    for (const std::int64_t d_rope : {0, 6})
      for (const bool bias : {false, true}) {
        Layout layout = mla_layout(5, 24, d_q_latent, 9, d_rope, 11);
        layout.bias = {bias, bias, bias, bias};
        const oracle::Weights weights = own.draw(layout, 40, 4);
        const Rows x = oracle::draw_tokens(6, 40, 4);
        const Rows expanded = prefill(own.paths[0], weights, layout, x);
        CHECK(oracle::compare(expanded, prefill(own.paths[1], weights, layout, x)).within());
        CHECK(oracle::compare(expanded, in_chunks(own.paths[1], weights, layout, x, 1)).within());
      }
}

TEST_CASE("absorbed equals expanded for GLA with each number of latents, and its heads read no latent but their own") {
  const oracle::Oracle& own = *oracle::find_oracle("gla");
  for (const std::int64_t n_latents : {2, 3, 6})
    for (const std::int64_t d_rope : {0, 6})
      for (const bool bias : {false, true}) {
        Layout layout = gla_layout(6, n_latents, 24, bias ? 20 : 0, 9, d_rope, 11);
        layout.bias = {bias, bias, bias, bias};
        REQUIRE(!layout.variant->check(layout, 40));
        const oracle::Weights weights = own.draw(layout, 40, 4);
        const Rows x = oracle::draw_tokens(6, 40, 4);
        const Rows expanded = prefill(own.paths[0], weights, layout, x);
        CHECK(oracle::compare(expanded, prefill(own.paths[1], weights, layout, x)).within());
        CHECK(oracle::compare(expanded, in_chunks(own.paths[1], weights, layout, x, 1)).within());
      }
  // Heads 3 to 5 read the second latent: with their part of the output silenced, its weights do not matter.
  const Layout layout = gla_layout(6, 2, 24, 0, 8, 4, 8);
  oracle::Weights weights = own.draw(layout, 40, 4);
  oracle::Matrix& o = matrix(weights, "o");
  for (std::int64_t row = 3 * 8; row < 6 * 8; ++row)
    for (std::int64_t j = 0; j < o.cols; ++j) o.value[static_cast<std::size_t>(row * o.cols + j)] = 0;
  oracle::Weights changed = weights;
  oracle::Matrix& down = matrix(changed, "kv_down");
  for (std::int64_t row = 0; row < down.rows; ++row) down.value[static_cast<std::size_t>(row * down.cols + 12)] += 1;
  const Rows x = oracle::draw_tokens(6, 40, 4);
  CHECK(oracle::compare(prefill(own.paths[0], weights, layout, x), prefill(own.paths[0], changed, layout, x)).within());
  matrix(changed, "kv_down").value[11] += 1;  // the last column of the first latent
  CHECK_FALSE(
      oracle::compare(prefill(own.paths[0], weights, layout, x), prefill(own.paths[0], changed, layout, x)).within());
}

TEST_CASE("GLA of two latents that are alike equals MLA with that latent") {
  // The same columns twice, each with the scale of the one norm: both groups then read what MLA's heads read.
  const Layout two = gla_layout(6, 2, 24, 0, 8, 4, 5), one = mla_layout(6, 12, 0, 8, 4, 5);
  const oracle::Oracle& gla = *oracle::find_oracle("gla");
  const oracle::Oracle& mla = *oracle::find_oracle("mla");
  oracle::Weights weights = mla.draw(one, 40, 4);
  const Rows x = oracle::draw_tokens(6, 40, 4);
  const Rows expected = prefill(mla.paths[0], weights, one, x);
  oracle::Weights doubled = weights;
  oracle::Matrix latents{"kv_down", 40, 24, {}, {}, {}}, rotary{"k_rope", 40, 4, {}, {}, {}};
  for (std::int64_t row = 0; row < 40; ++row) {
    const double* from = weights.matrix("kv_down").row(row);
    latents.row_start.push_back(static_cast<std::int64_t>(latents.value.size()));
    rotary.row_start.push_back(static_cast<std::int64_t>(rotary.value.size()));
    for (int copy = 0; copy < 2; ++copy) latents.value.insert(latents.value.end(), from, from + 12);
    rotary.value.insert(rotary.value.end(), from + 12, from + 16);
  }
  matrix(doubled, "kv_down") = latents;
  doubled.matrices.push_back(rotary);
  for (oracle::NormScale& norm : doubled.norms) {
    if (norm.name != "kv_latent_norm") continue;
    const std::vector<double> scale = norm.value;
    norm.value.insert(norm.value.end(), scale.begin(), scale.end());
  }
  for (const oracle::Path& path : gla.paths) CHECK(oracle::compare(expected, prefill(path, doubled, two, x)).within());
}

TEST_CASE("factored equals expanded for TPA with each rank, whole queries and biases") {
  const oracle::Oracle& own = *oracle::find_oracle("tpa");
  for (const std::int64_t rank_kv : {1, 2, 5})
    for (const std::int64_t rank_q : {0, 1, 6})
      for (const bool bias : {false, true}) {
        Layout layout = tpa_layout(5, 9, 11, rank_kv, rank_q);
        layout.bias = {bias, bias, bias, bias};
        const oracle::Weights weights = own.draw(layout, 40, 4);
        const Rows x = oracle::draw_tokens(6, 40, 4);
        const Rows expanded = prefill(own.paths[0], weights, layout, x);
        CHECK(oracle::compare(expanded, prefill(own.paths[1], weights, layout, x)).within());
        CHECK(oracle::compare(expanded, in_chunks(own.paths[1], weights, layout, x, 1)).within());
      }
}

TEST_CASE("MFA equals MQA when its query latent is the token itself") {
  // W_q_down the identity, and tokens of mean square 1 up to the norm's epsilon: the queries are then W_q's.
  const Layout low = mfa_layout(5, 8, 6, 16), whole = grouped_layout("mqa", 5, 1, 8, 6);
  const oracle::Oracle& mfa = *oracle::find_oracle("mfa");
  const oracle::Oracle& mqa = *oracle::find_oracle("mqa");
  const oracle::Weights weights = mqa.draw(whole, 16, 4);
  oracle::Weights factored = mfa.draw(low, 16, 4);
  for (const char* name : {"k", "v", "o"}) matrix(factored, name) = weights.matrix(name);
  oracle::Matrix queries = weights.matrix("q");
  queries.name = "q_up";
  matrix(factored, "q_up") = queries;
  oracle::Matrix& down = matrix(factored, "q_down");
  for (std::int64_t row = 0; row < 16; ++row)
    for (std::int64_t j = 0; j < 16; ++j) down.value[static_cast<std::size_t>(row * 16 + j)] = row == j ? 1 : 0;
  for (oracle::NormScale& norm : factored.norms) norm.value.assign(norm.value.size(), std::sqrt(1 + 1e-6));
  Rows x(6, 16);
  for (std::int64_t t = 0; t < 6; ++t)
    for (std::int64_t j = 0; j < 16; ++j) *x.at(t, j).value = (t * 7 + j * 5) % 3 == 0 ? 1 : -1;
  CHECK(oracle::compare(prefill(mqa.paths[0], weights, whole, x), prefill(mfa.paths[0], factored, low, x)).within());
}

TEST_CASE("GTA's groups share their states, all heads share the rotary key, and the value is the whole state") {
  const Layout layout = gta_layout(6, 2, 8);
  const oracle::Oracle& own = *oracle::find_oracle("gta");
  const oracle::Weights weights = own.draw(layout, 40, 4);
  const Rows x = oracle::draw_tokens(6, 40, 4);
  const Rows expected = prefill(own.paths[0], weights, layout, x);
  auto with = [&](const Layout& other, auto source) {
    oracle::Weights repeated = weights;
    matrix(repeated, "kv") = repeat_blocks(weights.matrix("kv"), 6, 8, source);
    return prefill(own.paths[0], repeated, other, x);
  };
  const Layout full = gta_layout(6, 6, 8);
  CHECK(oracle::compare(expected, with(full, [](std::int64_t head) { return head / 3; })).within());
  CHECK_FALSE(oracle::compare(expected, with(full, [](std::int64_t head) { return head % 2; })).within());
  // One token: its probability is 1, so the output is its states through W_o, and neither keys nor queries matter.
  const Rows first = oracle::rows_of(x, 0, 1);
  oracle::Weights other = weights;
  for (double& w : matrix(other, "k_rope").value) w += 1;
  for (double& w : matrix(other, "q").value) w -= 1;
  const Rows alone = prefill(own.paths[0], weights, layout, first);
  CHECK(oracle::compare(alone, prefill(own.paths[0], other, layout, first)).within());
  matrix(other, "kv").value[7] += 1;  // last element of the first state: no part of a key, but of the value
  CHECK_FALSE(oracle::compare(alone, prefill(own.paths[0], other, layout, first)).within());
}

TEST_CASE("one weight that is off by a millionth is outside the bound") {
  for (const oracle::Oracle& own : oracle::oracles()) {
    Layout layout = usual_layout(own.id);
    layout.bias.o = true;
    const oracle::Weights weights = own.draw(layout, 64, 4);
    const Rows x = oracle::draw_tokens(8, 64, 4);
    for (const oracle::Matrix& original : weights.matrices) {
      oracle::Weights perturbed = weights;
      // The first row's largest weight, so that the change is a real one.
      oracle::Matrix& w = matrix(perturbed, original.name);
      std::size_t largest = 0;
      for (std::size_t j = 1; j < static_cast<std::size_t>(w.cols); ++j)
        if (std::abs(w.value[j]) > std::abs(w.value[largest])) largest = j;
      w.value[largest] *= 1 + 1e-6;
      for (const oracle::Path& reference : own.paths)
        for (const oracle::Path& path : own.paths) {
          CAPTURE(own.id);
          CAPTURE(original.name);
          CHECK_FALSE(oracle::compare(prefill(reference, weights, layout, x), in_chunks(path, perturbed, layout, x, 1))
                          .within());
        }
    }
  }
}

TEST_CASE("a NaN, an infinity or another shape is never within a bound") {
  const Rows x = oracle::draw_tokens(3, 4, 1);
  CHECK(oracle::compare(x, x).within());
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Rows y = x;
    y.value[5] = bad;
    CHECK_FALSE(oracle::compare(x, y).within());
    y.error[5] = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(oracle::compare(x, y).within());
  }
  CHECK_FALSE(oracle::compare(x, oracle::rows_of(x, 0, 2)).within());
}

TEST_CASE("large matrices are windows of a pool whose rows differ") {
  const Layout layout = grouped_layout("gqa", 64, 8, 64, 64);
  const oracle::Weights weights = oracle::find_oracle("gqa")->draw(layout, 512, 1);
  const oracle::Matrix& q = weights.matrix("q");
  CHECK(q.value.size() < static_cast<std::size_t>(q.rows * q.cols));
  CHECK(q.row_start.size() == 512);
  for (std::int64_t i = 0; i < q.rows; ++i) {
    CHECK(q.row_start[static_cast<std::size_t>(i)] + q.cols <= static_cast<std::int64_t>(q.value.size()));
    if (i > 0) CHECK(q.row(i)[0] != q.row(i - 1)[0]);
  }
}
