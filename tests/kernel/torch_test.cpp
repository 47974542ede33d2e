// The oracle against PyTorch with the same weights, in double precision: torch::nn::MultiheadAttention, and a GQA
// composed from torch's matmul and softmax. Only this file sees torch's headers.
#include <torch/torch.h>

#undef CHECK  // glog's
#undef CHECK_GT
#undef CHECK_LT
#undef CHECK_EQ
#undef CHECK_NE
#undef CHECK_GE
#undef CHECK_LE
#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

#include "layouts.hpp"

using namespace mha;

namespace {

constexpr double kRelative = 1e-10;  // both sides are double precision

torch::Tensor tensor_of(const double* value, std::int64_t rows, std::int64_t cols) {
  return torch::from_blob(const_cast<double*>(value), {rows, cols}, torch::kFloat64).clone();
}

torch::Tensor weight(const oracle::Weights& weights, const char* name) {  // [rows x cols]: y = x W
  const oracle::Matrix& w = weights.matrix(name);
  torch::Tensor result = torch::empty({w.rows, w.cols}, torch::kFloat64);
  for (std::int64_t i = 0; i < w.rows; ++i) result[i].copy_(tensor_of(w.row(i), 1, w.cols)[0]);
  return result;
}

torch::Tensor bias(const oracle::Weights& weights, const char* name) {
  const std::vector<double>& b = weights.matrix(name).bias;
  return tensor_of(b.data(), 1, static_cast<std::int64_t>(b.size()))[0];
}

// Added to the scores: minus infinity where a key lies in the query's future. (The C++ module adds masks, boolean ones
// too.)
torch::Tensor future(std::int64_t n) {
  return torch::full({n, n}, -std::numeric_limits<double>::infinity(), torch::kFloat64).triu(1);
}

double relative_difference(const torch::Tensor& expected, const oracle::Rows& y) {
  const torch::Tensor own = tensor_of(y.value.data(), y.n, y.width);
  return ((own - expected).abs().max() / expected.abs().max()).item<double>();
}

}  // namespace

DOCTEST_TEST_CASE("MHA equals torch::nn::MultiheadAttention") {
  struct Shape {
    std::int64_t n_heads, d_head, n_tokens;
  };
  for (const Shape& shape : {Shape{2, 8, 5}, Shape{12, 64, 16}, Shape{8, 32, 33}, Shape{1, 16, 7}}) {
    torch::NoGradGuard no_grad;
    const std::int64_t d_model = shape.n_heads * shape.d_head;
    Layout layout = test::grouped_layout("mha", shape.n_heads, shape.n_heads, shape.d_head, shape.d_head);
    layout.bias = {true, true, true, true};
    const oracle::Oracle& own = *oracle::find_oracle("mha");
    const oracle::Weights weights = own.draw(layout, d_model, 7);
    const oracle::Rows x = oracle::draw_tokens(shape.n_tokens, d_model, 7);

    torch::nn::MultiheadAttention module(torch::nn::MultiheadAttentionOptions(d_model, shape.n_heads).bias(true));
    module->to(torch::kFloat64);
    module->eval();
    // torch computes y = x W^T and stacks queries, keys and values.
    module->in_proj_weight.copy_(
        torch::cat({weight(weights, "q").t(), weight(weights, "k").t(), weight(weights, "v").t()}));
    module->in_proj_bias.copy_(torch::cat({bias(weights, "q"), bias(weights, "k"), bias(weights, "v")}));
    module->out_proj->weight.copy_(weight(weights, "o").t());
    module->out_proj->bias.copy_(bias(weights, "o"));
    const torch::Tensor input = tensor_of(x.value.data(), x.n, x.width).unsqueeze(1);  // [tokens x batch x d_model]
    const torch::Tensor expected = std::get<0>(module->forward(input, input, input, /*key_padding_mask=*/{},
                                                               /*need_weights=*/false, future(x.n)))
                                       .squeeze(1);
    DOCTEST_CAPTURE(d_model);
    DOCTEST_CHECK(relative_difference(expected, test::prefill(own.paths[0], weights, layout, x)) < kRelative);
    DOCTEST_CHECK(relative_difference(expected, test::in_chunks(own.paths[0], weights, layout, x, 1)) < kRelative);
  }
}

DOCTEST_TEST_CASE("GQA equals a composition of torch's matmul and softmax") {
  struct Shape {
    std::int64_t d_model, n_heads, n_kv_heads, d_head, d_value, n_tokens;
  };
  // The second has d_head apart from d_model / n_heads, the third values of another width, the fourth both.
  for (const Shape& s : {Shape{64, 8, 2, 8, 8, 9}, Shape{96, 16, 8, 32, 32, 17}, Shape{48, 6, 3, 8, 20, 5},
                         Shape{100, 12, 4, 24, 10, 12}}) {
    torch::NoGradGuard no_grad;
    const Layout layout = test::grouped_layout("gqa", s.n_heads, s.n_kv_heads, s.d_head, s.d_value);
    const oracle::Oracle& own = *oracle::find_oracle("gqa");
    const oracle::Weights weights = own.draw(layout, s.d_model, 7);
    const oracle::Rows x = oracle::draw_tokens(s.n_tokens, s.d_model, 7);

    const torch::Tensor input = tensor_of(x.value.data(), x.n, x.width);
    auto heads = [&](const char* name, std::int64_t n_heads, std::int64_t width) {  // [heads x tokens x width]
      return torch::matmul(input, weight(weights, name)).view({x.n, n_heads, width}).transpose(0, 1);
    };
    const torch::Tensor q = heads("q", s.n_heads, s.d_head);
    const torch::Tensor k = heads("k", s.n_kv_heads, s.d_head).repeat_interleave(s.n_heads / s.n_kv_heads, 0);
    const torch::Tensor v = heads("v", s.n_kv_heads, s.d_value).repeat_interleave(s.n_heads / s.n_kv_heads, 0);
    const torch::Tensor scores = torch::matmul(q, k.transpose(1, 2)) / std::sqrt(static_cast<double>(s.d_head));
    const torch::Tensor p = torch::softmax(scores + future(x.n), -1);
    const torch::Tensor mixed = torch::matmul(p, v).transpose(0, 1).reshape({x.n, s.n_heads * s.d_value});
    const torch::Tensor expected = torch::matmul(mixed, weight(weights, "o"));
    DOCTEST_CAPTURE(s.d_model);
    DOCTEST_CHECK(relative_difference(expected, test::prefill(own.paths[0], weights, layout, x)) < kRelative);
    DOCTEST_CHECK(relative_difference(expected, test::in_chunks(own.paths[0], weights, layout, x, 1)) < kRelative);
  }
}
