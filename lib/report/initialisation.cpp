#include "report/initialisation.hpp"

#include <cmath>

namespace mha::report {

std::vector<InitRow> initialisation(const AttentionPlan& plan, const ModelShape& shape) {
  std::vector<InitRow> out;
  for (const WeightMatrix& matrix : plan.matrices) {
    InitRow row;
    row.matrix = "W_" + std::string(matrix.name);
    row.rows = matrix.rows;
    row.cols = matrix.cols;
    row.bias = matrix.bias;
    row.formula = "1 / sqrt(" + std::string(matrix.rows_formula) + ")";
    row.substituted = "1 / sqrt(" + std::to_string(matrix.rows) + ")";
    row.std_dev = 1.0 / std::sqrt(static_cast<double>(matrix.rows));
    if (matrix.name == "o") {
      row.formula += " / sqrt(2 * n_layers)";
      row.substituted += " / sqrt(2 * " + std::to_string(shape.n_layers) + ")";
      row.std_dev /= std::sqrt(2.0 * static_cast<double>(shape.n_layers));
    }
    out.push_back(std::move(row));
  }
  return out;
}

const std::vector<Source>& initialisation_sources() {
  static const std::vector<Source> kSources = {
      {"He et al., Delving Deep into Rectifiers, arXiv 1502.01852, section 2.2 (fan-in scale)", "2015-02-06"},
      {"Radford et al., Language Models are Unsupervised Multitask Learners (GPT-2), section 2.3 (residual layers "
       "scaled "
       "by 1 / sqrt(N))",
       "2019-02-14"},
      {"Shoeybi et al., Megatron-LM, arXiv 1909.08053 (std / sqrt(2 * n_layers) before each residual addition)",
       "2019-09-17"},
      {"Chowdhery et al., PaLM, arXiv 2204.02311, section 2 (no biases: more stable training of large models)",
       "2022-04-05"},
  };
  return kSources;
}

}  // namespace mha::report
