// Published ways of counting FLOPs. Which one a figure uses is half of the figure: they differ by up to 2x on the same model.
#include "mha/model_cost.hpp"

namespace mha {

const std::vector<FlopRule>& flop_rules() {
  using Pairs = FlopRule::Pairs;
  static const std::vector<FlopRule> table = [] {
    std::vector<FlopRule> rules;
    const auto add = [&](std::string_view id, std::string_view name, std::string_view help, std::string_view source,
                         auto change) {
      FlopRule rule;
      rule.id = id;
      rule.name = name;
      rule.help = help;
      rule.source = source;
      change(rule);
      rules.push_back(rule);
    };
    add("causal", "causal triangle", "matrix products only, S (S + 1) / 2 pairs, output head counted",
        "this project: what a kernel that skips masked pairs does", [](FlopRule&) {});
    add("square", "full square", "matrix products only, S^2 pairs, output head counted",
        "this project: what a kernel without a causal mask does", [](FlopRule& r) { r.pairs = Pairs::square; });
    add("calflops", "calflops", "forward, full square, output head as loaded (see --no-head)",
        "MrYxJ/calculate-flops.pytorch, README tables", [](FlopRule& r) {
          r.pairs = Pairs::square;
          r.expanded = true;
        });
    add("calflops-bloom", "calflops on BLOOM", "as calflops, but BLOOM's score product (baddbmm) is missed",
        "MrYxJ/calculate-flops.pytorch, README tables", [](FlopRule& r) {
          r.pairs = Pairs::square;
          r.products = 1;
          r.expanded = true;
        });
    add("deepspeed", "DeepSpeed flops profiler (2021)",
        "forward, projections only: both attention products missed, softmax at one multiply-add a score",
        "deepspeedai/DeepSpeed, docs/_tutorials/flops-profiler.md", [](FlopRule& r) {
          r.pairs = Pairs::square;
          r.products = 0;
          r.softmax_per_score = 2;
          r.expanded = true;
        });
    add("palm", "PaLM, nanoGPT, llm-foundry", "training, 6 N + 12 n_layers n_heads d_head S a token, N all parameters",
        "Chowdhery et al. 2022, appendix B; karpathy/nanoGPT; mosaicml/llm-foundry", [](FlopRule& r) {
          r.pairs = Pairs::square;
          r.training = true;
          r.six_n = true;
          r.expanded = true;
        });
    add("megatron", "Megatron-LM", "training, full square, output head counted, embedding look-up not",
        "NVIDIA/Megatron-LM, README throughput table", [](FlopRule& r) {
          r.pairs = Pairs::square;
          r.training = true;
          r.expanded = true;
        });
    add("chinchilla", "Chinchilla", "training, full square, softmax at 3 FLOPs a score, neither embedding nor head",
        "Hoffmann et al. 2022, appendix F and table A4", [](FlopRule& r) {
          r.pairs = Pairs::square;
          r.head = false;
          r.softmax_per_score = 3;
          r.training = true;
          r.expanded = true;
        });
    add("flashattention", "FlashAttention",
        "attention products only, forward, half of the square: 2 S^2 n_heads d_head",
        "Dao-AILab/flash-attention, benchmarks", [](FlopRule& r) {
          r.pairs = Pairs::half;
          r.attention_only = true;
          r.expanded = true;
        });
    add("deepseek", "DeepSeek-V3", "training, half of the square, output head counted, expanded MLA heads",
        "DeepSeek-AI 2024, arXiv 2412.19437; Insights into DeepSeek-V3, table 2", [](FlopRule& r) {
          r.pairs = Pairs::half;
          r.training = true;
          r.expanded = true;
        });
    return rules;
  }();
  return table;
}

const FlopRule* find_flop_rule(std::string_view id) {
  for (const FlopRule& rule : flop_rules()) {
    if (rule.id == id) return &rule;
  }
  return nullptr;
}

}  // namespace mha
