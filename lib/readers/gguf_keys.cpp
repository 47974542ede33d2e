// Keys: ggml-org/llama.cpp gguf-py/gguf/constants.py, class Keys. Windows: set_swa_pattern in the model code of the
// same project, where they stand because converters did not write them at first.
#include "readers/gguf_keys.hpp"

#include <algorithm>
#include <array>

namespace mha {
namespace {

using Form = GgufKeyRow::Form;

constexpr auto kKeys = std::to_array<GgufKeyRow>({
    {"block_count", "num_hidden_layers", Form::own},
    {"nextn_predict_layers", "num_nextn_predict_layers", Form::own},
    {"embedding_length", "hidden_size", Form::count},
    {"vocab_size", "vocab_size", Form::own},
    {"context_length", "max_position_embeddings", Form::positive},
    {"feed_forward_length", "intermediate_size", Form::per_layer},
    {"attention.head_count", "num_attention_heads", Form::own},
    {"attention.head_count_kv", "num_key_value_heads", Form::own},
    {"attention.key_length", "head_dim", Form::own},
    {"attention.value_length", "v_head_dim", Form::own},
    {"attention.key_length_mla", "qk_nope_head_dim", Form::own},
    {"attention.value_length_mla", "v_head_dim", Form::own},
    {"attention.kv_lora_rank", "kv_lora_rank", Form::own},
    {"attention.q_lora_rank", "q_lora_rank", Form::positive},
    {"rope.dimension_count", "qk_rope_head_dim", Form::own},
    {"attention.key_length_swa", "swa_head_dim", Form::own},
    {"attention.value_length_swa", "swa_v_head_dim", Form::own},
    {"attention.sliding_window", "sliding_window", Form::own},
    {"attention.sliding_window_pattern", "layer_types", Form::own},
    {"attention.recurrent_layers", "layer_types", Form::own},
    {"full_attention_interval", "full_attention_interval", Form::own},
    {"attention.shared_kv_layers", "num_kv_shared_layers", Form::count},
    {"attention.indexer.head_count", "index_n_heads", Form::positive},
    {"attention.indexer.key_length", "index_head_dim", Form::positive},
    {"attention.indexer.top_k", "index_topk", Form::positive},
    {"expert_count", "num_experts", Form::count},
    {"expert_used_count", "num_experts_per_tok", Form::positive},
    {"expert_shared_count", "n_shared_experts", Form::own},
    {"expert_feed_forward_length", "moe_intermediate_size", Form::positive},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size", Form::own},
    {"leading_dense_block_count", "first_k_dense_replace", Form::count},
    {"interleave_moe_layer_step", "interleave_moe_layer_step", Form::positive},
    {"moe_every_n_layers", "moe_every_n_layers", Form::positive},
    {"moe_latent_size", "moe_latent_size", Form::positive},
    {"ssm.conv_kernel", "mamba_d_conv", Form::own},
    {"ssm.inner_size", "mamba_intermediate_size", Form::own},
    {"ssm.state_size", "mamba_d_state", Form::own},
    {"ssm.time_step_rank", "mamba_num_heads", Form::own},
    {"ssm.group_count", "mamba_n_groups", Form::own},
    {"kda.head_dim", "linear_attn_config.head_dim", Form::own},
    {"shortconv.l_cache", "conv_L_cache", Form::positive},
    {"wkv.head_size", "head_size", Form::positive},
    {"embedding_length_per_layer_input", "hidden_size_per_layer_input", Form::count},
    {"altup.num_inputs", "altup_num_inputs", Form::positive},
    {"use_parallel_residual", "use_parallel_residual", Form::flag},
    {"attention.layer_norm_epsilon", "", Form::unused},
    {"attention.layer_norm_rms_epsilon", "", Form::unused},
    {"attention.group_norm_epsilon", "", Form::unused},
    {"attention.group_norm_groups", "", Form::unused},
    {"attention.max_alibi_bias", "", Form::unused},
    {"attention.clamp_kqv", "", Form::unused},
    {"attention.causal", "", Form::unused},
    {"attention.scale", "", Form::unused},
    {"attention.output_scale", "", Form::unused},
    {"attention.temperature_length", "", Form::unused},
    {"attention.temperature_scale", "", Form::unused},
    {"attn_logit_softcapping", "", Form::unused},
    {"router_logit_softcapping", "", Form::unused},
    {"final_logit_softcapping", "", Form::unused},
    {"ssm.dt_b_c_rms", "", Form::unused},
    {"tensor_data_layout", "", Form::unused},
    {"pooling_type", "", Form::unused},
    {"logit_scale", "", Form::unused},
    {"residual_scale", "", Form::unused},
    {"embedding_scale", "", Form::unused},
    {"token_shift_count", "", Form::unused},
    {"expert_group_count", "", Form::unused},
    {"expert_group_used_count", "", Form::unused},
    {"expert_weights_scale", "", Form::unused},
    {"expert_weights_norm", "", Form::unused},
    {"expert_gating_func", "topk_method", Form::own},
    {"expert_group_scale", "", Form::unused},
    {"experts_per_group", "", Form::unused},
    {"n_deepstack_layers", "", Form::unused},
    {"decoder_start_token_id", "", Form::unused},
    {"activation_sparsity_scale", "", Form::unused},
    {"altup.active_idx", "", Form::unused},
    {"swiglu_clamp_exp", "", Form::unused},
    {"swiglu_clamp_shexp", "", Form::unused},
});
constexpr auto kWindows = std::to_array<GgufWindowRow>({
    {"gemma2", 2, false, 0},
    {"gpt-oss", 2, false, 0},
    {"cohere2", 4, false, 0},
    {"olmo2", 4, false, 0},
    {"exaone4", 4, false, 0},
    {"exaone-moe", 4, false, 0},
    {"afmoe", 4, false, 0},
    {"gemma3n", 5, false, 0},
    {"gemma3", 6, false, 0},
    {"gemma-embedding", 6, false, 0},
    {"smallthinker", 4, true, 0},
    {"llama4", 4, false, 8192},
});
constexpr auto kWithoutWindow = std::to_array<std::string_view>({"phi3", "llama"});

}  // namespace

std::span<const GgufKeyRow> gguf_keys() {
  return kKeys;
}

bool is_gguf_key(std::string_view gguf) {
  return gguf.starts_with("rope.") ||
         std::any_of(kKeys.begin(), kKeys.end(), [&](const GgufKeyRow& row) { return row.gguf == gguf; });
}

std::string gguf_key(std::string_view config_key, std::string_view architecture) {
  const std::string_view field = config_key.substr(0, config_key.find('['));
  for (const GgufKeyRow& row : kKeys) {
    if (!row.config.empty() && row.config == field) return std::string(architecture) + "." + std::string(row.gguf);
  }
  return {};
}

const GgufWindowRow* find_gguf_window(std::string_view architecture) {
  const auto* const found = std::find_if(kWindows.begin(), kWindows.end(),
                                         [&](const GgufWindowRow& row) { return row.architecture == architecture; });
  return found == kWindows.end() ? nullptr : found;
}

bool ignores_gguf_window(std::string_view architecture) {
  return std::find(kWithoutWindow.begin(), kWithoutWindow.end(), architecture) != kWithoutWindow.end();
}

}  // namespace mha
