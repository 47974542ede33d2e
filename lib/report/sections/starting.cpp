// Answers 4 and 5: how to initialise the projections, and the task that a small model with this layout must solve.
#include <cmath>
#include <fmt/format.h>

#include "mha/quantity.hpp"

#include "report/figures.hpp"
#include "report/induction.hpp"
#include "report/initialisation.hpp"
#include "report/sections/sections.hpp"

namespace mha::report {
namespace {

std::string bias_text(const ProjectionBias& bias) {
  std::string names;
  const std::pair<bool, const char*> parts[] = {{bias.q, "q"}, {bias.k, "k"}, {bias.v, "v"}, {bias.o, "o"}};
  for (const auto& part : parts) {
    if (part.first) names += std::string(names.empty() ? "" : ", ") + part.second;
  }
  if (names.empty()) {
    return "**No biases.** Inputs are normalised, so a bias adds no range; large models train more steadily without "
           "(PaLM, "
           "section 2). A key bias without rotary positions cancels in the softmax.";
  }
  return fmt::format("**Biases on {}**, as the request asks; they start at 0.", names);
}

std::string percent(double fraction, int decimals) {
  return print_fixed(100 * fraction, decimals) + " %";
}

}  // namespace

void add_initialisation(Document& doc, const ReportContext& c) {
  doc.paragraph("Each weight is drawn from a normal distribution with mean 0 and this standard deviation (unitless):");
  Table t{{{"Matrix"},
           {"Shape [in x out]", Align::right},
           {"Standard deviation"},
           {"Numbers"},
           {"Value", Align::right},
           {"Bias"}},
          {}};
  for (const InitRow& row : initialisation(c.plan, c.winner.shape)) {
    t.rows.push_back({"`" + row.matrix + "`", fmt::format("{} x {}", print_grouped(row.rows), print_grouped(row.cols)),
                      row.formula, row.substituted, print_fixed(row.std_dev, 6), row.bias ? "0" : "none"});
  }
  doc.table(std::move(t));
  std::vector<std::string> reasons = {
      "Scale by fan-in: inputs are normalised to unit mean square, so queries, keys and values start with unit "
      "variance, and "
      "the scores after the division by sqrt(d_head) too.",
      "Fan-in, not fan-in + fan-out: K and V then start at the same scale for any n_kv_heads. A Glorot scale would "
      "grow them "
      "as KV heads are removed.",
      fmt::format(
          "The output projection is divided by sqrt(2 * n_layers) = sqrt({}) = {}, as in GPT-2 and Megatron-LM: each "
          "layer adds twice to the residual stream, whose variance then does not grow with depth. Scale the second "
          "feed-forward matrix alike.",
          2 * c.winner.shape.n_layers, print_fixed(std::sqrt(2.0 * static_cast<double>(c.winner.shape.n_layers)), 3))};
  if (c.layout.variant->latent || c.layout.d_q_latent > 0) {
    reasons.emplace_back(
        "Latents are normalised before they are expanded, so each up-projection scales by its own rank, "
        "not by d_model.");
  }
  if (c.layout.rank_kv > 0) {
    reasons.emplace_back(
        "Tensor products: both factors start at unit variance, and 1 / rank before their sum leaves a variance of "
        "1 / rank in keys and values.");
  }
  if (!c.plan.norms.empty()) reasons.emplace_back("Norm scales start at 1.");
  reasons.push_back(bias_text(c.layout.bias));
  doc.bullets(std::move(reasons));
}

void add_induction(Document& doc, const ReportContext& c) {
  const InductionTask task = induction_task(c.layout, c.winner.shape.d_model);
  doc.paragraph(
      fmt::format("**Induction, A B ... A -> B.** A {}-layer model with this head layout, scaled down, must answer at "
                  "least **{}** of the "
                  "probes right. The tool states the test and does not train it.",
                  task.n_layers, percent(task.pass_accuracy, 0)));
  std::string rates;
  for (const double rate : task.learning_rates) rates += (rates.empty() ? "" : ", ") + print_fixed(rate, 4);
  Table t{{{"Parameter"}, {"Value"}}, {}};
  t.rows = {
      {"Layout", fmt::format("{}: {}", variant_label(task.layout), widths(task.layout))},
      {"Model", fmt::format("{} layers, d_model {}, feed-forward 4 * d_model = {}, rotary positions, pre-norm",
                            task.n_layers, task.d_model, 4 * task.d_model)},
      {"Vocabulary", fmt::format("{} tokens, drawn uniformly", task.vocab_size)},
      {"Sequence",
       fmt::format("{} tokens: {} pairs A B (all {} tokens distinct), then {} of the pairs again in random order",
                   task.seq_len(), task.n_pairs, 2 * task.n_pairs, task.n_probes)},
      {"Loss and score", fmt::format("at the {} repeated A only; the target is its B", task.n_probes)},
      {"Training",
       fmt::format(
           "AdamW, best of the rates {}, 500 warm-up steps, batch {}, fresh sequences, at most {} steps, 3 seeds",
           rates, task.batch, print_grouped(task.max_steps))},
      {"Evaluation",
       fmt::format("{} unseen sequences = {} probes (standard error at {}: {})", print_grouped(task.eval_sequences),
                   print_grouped(task.eval_sequences * task.n_probes), percent(task.pass_accuracy, 0),
                   percent(std::sqrt(task.pass_accuracy * (1 - task.pass_accuracy) /
                                     static_cast<double>(task.eval_sequences * task.n_probes)),
                           2))},
      {"Pass", fmt::format("at least {} on every seed, at the best rate", percent(task.pass_accuracy, 0))},
      {"Chance",
       fmt::format("{} (uniform over the vocabulary); {} for a model that knows which B are left, not whose they are",
                   percent(task.chance_uniform, 2), percent(task.chance_unbound, 2))},
  };
  doc.table(std::move(t));
  doc.bullets({
      task.ratio_kept
          ? fmt::format(
                "Kept from the recommendation: the variant and n_heads / n_kv_heads = {}{}. Reduced: the number of "
                "heads and their width.",
                task.layout.group_size(),
                c.layout.variant->latent ? ", and the proportions of latent, rotary and value widths to d_nope" : "")
          : fmt::format(
                "Kept from the recommendation: the variant. n_heads / n_kv_heads is reduced from {} to {} to keep the "
                "test small.",
                c.layout.group_size(), task.layout.group_size()),
      fmt::format(
          "Control 1: the same model with 1 layer must fail (below {}): the first layer writes \"what came before me\" "
          "into each token, the second looks it up, and one layer cannot do both.",
          percent(0.5, 0)),
      "Control 2: with each B of the first part replaced by a random token the score must fall to chance, or the "
      "answer leaks.",
      "Pairs come back in random order, so no fixed offset solves the task. A failure with 2 layers points at a wrong "
      "mapping of "
      "query heads to KV heads, at positions, or at the cache, before it points at the layout.",
  });
}

}  // namespace mha::report
