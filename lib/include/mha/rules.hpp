// What the YAML files under rules/ mean, once read. Every number of a rule carries its source and the date it was read.
// Reading lives in lib/rules; these are plain values, so that the core needs no YAML.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mha/diagnostics.hpp"
#include "mha/units.hpp"

namespace mha {

struct Source {
  std::string text;  // "ai-dynamo/aiconfigurator systems/h100_sxm.yaml"
  std::string date;  // "2026-08-21"
};

template <class T>
struct Sourced {
  T value{};
  Source source;
};

// rules/targets/<id>.yaml
struct Target {
  std::string id;
  std::string name;
  std::string kind;  // gpu, cpu, npu, soc
  Sourced<Bytes> memory;
  Sourced<Bytes> reserve;                              // held back for the runtime
  Sourced<double> bandwidth_per_s;                     // bytes
  std::map<std::string, Sourced<double>> peaks_per_s;  // dense FLOP/s by compute type: f32, bf16, fp8, int8
  std::vector<std::int64_t> tensor_parallel;           // degrees that one node offers: 1, 2, 4, 8
  Source tensor_parallel_source;
  std::vector<std::string> kernels;  // ids of rules/kernels that run here
  // Measured fractions of the roofline bound, low end, for the high end of a predicted time.
  Sourced<double> decode_efficiency_low;
  Sourced<double> prefill_efficiency_low;
  std::string note;

  [[nodiscard]] const double* peak(std::string_view compute_type) const;  // nullptr: the target has none
};

// rules/kernels/<id>.yaml: which head widths a runtime's attention kernel takes without padding or falling back.
struct KernelSupport {
  std::string id;
  std::string name;
  std::string version;
  std::vector<std::int64_t> d_head;  // exact list; empty: any multiple of d_head_multiple
  std::int64_t d_head_multiple = 1;
  std::int64_t d_head_max = 0;
  std::vector<std::int64_t> group_sizes;  // empty: any
  std::vector<std::string> latent;        // latent + rope pairs: "512+64", "2x256+64" (GLA); empty: no MLA kernel
  std::vector<std::string> variants;      // those with a kernel of their own (Variant::own_kernel) that it computes
  Source source;
};

// rules/quality/<id>.yaml: one preset of the quality prior.
struct QualityPreset {
  std::string id;                       // optimistic, default, conservative
  double param_a = 0, param_alpha = 0;  // A / N^alpha
  double s_a = 0;                       // nats per halving of min(a/d, 1), at reference_params
  double s_b = 0;                       // nats per doubling of clip(a/d, 1, 2)
  double s_w = 0;                       // nats per halving of w
  double size_exponent = 0;             // slopes scale with (N / reference_params)^size_exponent
  double reference_params = 1e9;
  double noise_band = 0.01;
  std::map<std::string, double> variant_offset;  // by variant id; the loader wants one for each row of variants()
  double narrow_kv_penalty = 0;                  // w < narrow_kv_width and N >= narrow_kv_params
  std::int64_t narrow_kv_width = 0;
  double narrow_kv_params = 0;
  double small_head_64_to_32 = 0;      // d_head 64 -> 32, linear in log2 between
  double small_head_to_16 = 0;         // total at 16
  double one_or_two_heads = 0;         // n_heads = 1 (half of it at 2)
  std::int64_t latent_full_ratio = 4;  // a latent below ratio * d_head costs s_w per halving
  Source source;
  std::string note;
};

// rules/priorities/<id>.yaml: what each priority ranks by.
struct Priority {
  std::string id;            // training, balanced, inference
  double quality_slack = 0;  // nats per token
  std::string objective;     // id of the cost that is minimised: training_flops, decode_time
  Source source;
};

// rules/constraints/<id>.yaml: thresholds of one row of the constraint table.
struct ConstraintRule {
  std::string id;                            // "d-head-min"
  std::string severity;                      // "reject" or "warn"
  std::map<std::string, double> thresholds;  // names that the predicate asks for, e.g. "min"
  std::string why;                           // one sentence for people
  Source source;
};

// rules/shapes/<id>.yaml: a production model that a budget is sized from.
struct ShapeRow {
  std::string id;
  std::int64_t params = 0, d_model = 0, n_layers = 0, n_heads = 0, n_kv_heads = 0, d_head = 0, d_ff = 0, vocab_size = 0;
  bool tied_embeddings = false;
  Source source;
};

// rules/runtimes/<id>.yaml: how a serving runtime reserves cache. Which of the rules a runtime follows is data; what each
// rule does is lib/cost/allocation.cpp.
struct RuntimeRule {
  std::string id;
  std::string name;
  std::string version;
  std::int64_t block_tokens = 1;  // full-length caches are reserved in blocks (or cells) of so many tokens
  std::int64_t spare_tokens = 0;  // kept besides, once
  std::string window;  // "full": windows reserve the full length; "blocks": vLLM; "cells": llama.cpp; "tokens"
  std::int64_t window_block = 1;  // window caches are rounded up to this
  std::int64_t step_tokens = 0;   // default for tokens in flight: max batched tokens, ubatch
  bool shared_context = false;    // n_ctx is divided among the slots unless they are unified (llama.cpp)
  bool unified_pages = false;     // pages of all layer kinds are made equally large (vLLM hybrid models)
  bool latent_cache = true;       // MLA's latent is cached; false: the expanded heads are
  Source source;
  std::string note;
};

// rules/conversions/<id>.yaml: what it took to turn one attention into another after training.
struct ConversionRule {
  std::string id;
  std::vector<std::string> from, to;  // variant ids
  std::string method;                 // "mean-pool KV heads, continue training on 5 % of the tokens"
  std::string cost;                   // "5 % of the original steps"
  std::string effect;                 // "-0.1 points of 47.2 on average"
  std::string scale;                  // "T5 XXL"
  Source source;
  std::string tier;  // trust: T1 .. T4
};

// Everything a run may look at. Targets and kernels are read when asked for, because reading YAML costs more than all of
// the arithmetic; `load_rules` (rules_loader.hpp) reads the rest.
struct RuleSet {
  Target target;
  std::vector<KernelSupport> kernels;  // those that the target names
  std::vector<QualityPreset> presets;  // optimistic, default, conservative
  std::vector<Priority> priorities;
  std::vector<ConstraintRule> constraints;  // sorted by id
  std::vector<ShapeRow> shapes;             // sorted by params
};

}  // namespace mha
