// The testability hook: one synthetic task that a two-layer model with this head layout must solve, as concrete numbers.
// The task is specified here and trained elsewhere: this tool runs no training.
#pragma once

#include <array>

#include "mha/attention.hpp"
#include "mha/rules.hpp"

namespace mha::report {

struct InductionTask {
  std::int64_t vocab_size = 128;
  std::int64_t n_pairs = 32;   // A B pairs shown, all 64 tokens distinct
  std::int64_t n_probes = 16;  // of those pairs asked again, in random order
  std::int64_t n_layers = 2;
  std::int64_t d_model = 0;  // of the small model
  Layout layout;             // the recommended layout scaled down
  bool ratio_kept = true;    // n_heads / n_kv_heads as recommended
  double pass_accuracy = 0.95;
  double chance_uniform = 0;  // 1 / vocab_size
  double chance_unbound = 0;  // knows which values were shown and not yet asked, not which key owns which
  std::int64_t batch = 64;
  std::int64_t max_steps = 10'000;
  std::array<double, 3> learning_rates = {0.0003, 0.001, 0.003};
  std::int64_t eval_sequences = 1'000;

  [[nodiscard]] std::int64_t seq_len() const { return 2 * (n_pairs + n_probes); }
};

[[nodiscard]] InductionTask induction_task(const Layout& layout, std::int64_t d_model);

[[nodiscard]] const std::vector<Source>& induction_sources();

}  // namespace mha::report
