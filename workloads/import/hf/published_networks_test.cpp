// Parameters of networks whose counts are known, rounded: files and counts are written down as they
// are remembered, not copied from what is published.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "workloads/import/hf/config/network_facts.hpp"
#include "workloads/import/hf/testing/flops_of_phases.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

ModelConfig remembered_network(const std::string& text) {
  return parse_model_config(text, "net", "config.json");
}

double billions_in(const std::string& text) {
  return facts_of(remembered_network(text), find_precision("bf16")).parameters / 1e9;
}

struct KnownCount {
  double billions;  // of parameters; millions where a table says so
  const char* name;
  const char* config;
};

const std::vector<KnownCount>& remembered_counts() {
  static const std::vector<KnownCount> kRows = {
      {7.17, "starcoder2-7b",
       R"({"model_type": "starcoder2", "hidden_size": 4608, "intermediate_size": 18432,
         "num_hidden_layers": 32, "num_attention_heads": 36, "num_key_value_heads": 4,
         "vocab_size": 49152, "max_position_embeddings": 16384, "sliding_window": 4096,
         "hidden_act": "gelu_pytorch_tanh", "mlp_type": "default", "use_bias": true})"},
      {3.08, "SmolLM3-3B",
       R"({"model_type": "smollm3", "hidden_size": 2048, "intermediate_size": 11008,
         "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads": 4,
         "vocab_size": 128256, "max_position_embeddings": 65536, "no_rope_layer_interval": 4,
         "hidden_act": "silu", "tie_word_embeddings": true})"},
      {36.15, "Seed-OSS-36B",
       R"({"model_type": "seed_oss", "hidden_size": 5120, "intermediate_size": 27648,
         "num_hidden_layers": 64, "num_attention_heads": 80, "num_key_value_heads": 8,
         "head_dim": 128, "vocab_size": 155136, "max_position_embeddings": 524288,
         "hidden_act": "silu", "attention_bias": true, "attention_out_bias": false})"},
      {32.0, "EXAONE-4.0-32B",
       R"({"model_type": "exaone4", "hidden_size": 5120, "intermediate_size": 27392,
         "num_hidden_layers": 64, "num_attention_heads": 40, "num_key_value_heads": 8,
         "head_dim": 128, "vocab_size": 102400, "max_position_embeddings": 131072,
         "sliding_window": 4096, "sliding_window_pattern": "LLLG", "hidden_act": "silu"})"},
      {80.39, "Hunyuan-A13B",
       R"({"model_type": "hunyuan_v1_moe", "hidden_size": 4096, "intermediate_size": 3072,
         "moe_intermediate_size": 3072, "num_hidden_layers": 32, "num_attention_heads": 32,
         "num_key_value_heads": 8, "head_dim": 128, "num_experts": 64, "moe_topk": 8,
         "num_shared_expert": 1, "vocab_size": 128167, "max_position_embeddings": 32768,
         "hidden_act": "silu", "use_mixed_mlp_moe": true, "use_qk_norm": true})"},
      {131.6, "dbrx-base",
       R"({"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40,
         "max_seq_len": 32768, "vocab_size": 100352, "attn_config": {"kv_n_heads": 8,
         "clip_qkv": 8, "rope_theta": 500000}, "ffn_config": {"ffn_hidden_size": 10752,
         "moe_num_experts": 16, "moe_top_k": 4, "moe_loss_weight": 0.05, "ffn_act_fn":
         {"name": "silu"}}})"},
      {456, "MiniMax-M1",
       R"({"model_type": "minimax_m1", "hidden_size": 6144, "intermediate_size": 9216,
         "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8,
         "head_dim": 128, "num_local_experts": 32, "num_experts_per_tok": 2,
         "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
         0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
         0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
         0, 1], "vocab_size": 200064, "max_position_embeddings": 10240000, "rotary_dim": 64,
         "hidden_act": "silu", "postnorm": true, "shared_intermediate_size": 0})"},
      {7.59, "Falcon-H1-7B",
       R"({"model_type": "falcon_h1", "hidden_size": 3072, "intermediate_size": 12288,
         "num_hidden_layers": 44, "num_attention_heads": 12, "num_key_value_heads": 2,
         "head_dim": 128, "mamba_d_ssm": 3072, "mamba_n_heads": 24, "mamba_d_head": 128,
         "mamba_d_state": 256, "mamba_n_groups": 1, "mamba_d_conv": 4, "mamba_expand": 2,
         "vocab_size": 130048, "max_position_embeddings": 262144, "hidden_act": "silu"})"},
      {51.57, "Jamba-v0.1",
       R"({"model_type": "jamba", "hidden_size": 4096, "intermediate_size": 14336,
         "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
         "attn_layer_offset": 4, "attn_layer_period": 8, "expert_layer_offset": 1,
         "expert_layer_period": 2, "num_experts": 16, "num_experts_per_tok": 2,
         "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_dt_rank": 256,
         "vocab_size": 65536, "hidden_act": "silu", "tie_word_embeddings": false,
         "max_position_embeddings": 262144})"},
      {300, "ERNIE-4.5-300B-A47B",
       R"({"model_type": "ernie4_5_moe", "hidden_size": 8192, "intermediate_size": 28672,
         "moe_intermediate_size": 3584, "num_hidden_layers": 54, "num_attention_heads": 64,
         "num_key_value_heads": 8, "moe_num_experts": 64, "moe_k": 8,
         "moe_layer_start_index": 3, "moe_layer_interval": 1, "moe_num_shared_experts": 0,
         "vocab_size": 103424, "max_position_embeddings": 131072, "hidden_act": "silu"})"},
      {24.01, "Mistral-Small-3.1-24B",
       R"({"model_type": "mistral3", "multimodal_projector_bias": false,
         "projector_hidden_act": "gelu", "spatial_merge_size": 2, "text_config":
         {"model_type": "mistral", "head_dim": 128, "hidden_size": 5120, "intermediate_size":
         32768, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8,
         "vocab_size": 131072, "max_position_embeddings": 131072, "hidden_act": "silu",
         "rope_theta": 1000000000.0, "sliding_window": null}, "vision_config": {"model_type":
         "pixtral", "head_dim": 64, "hidden_size": 1024, "intermediate_size": 4096,
         "num_hidden_layers": 24, "num_attention_heads": 16, "image_size": 1540,
         "patch_size": 14, "hidden_act": "silu"}})"},
      {8.29, "Qwen2-VL-7B",
       R"({"model_type": "qwen2_vl", "hidden_size": 3584, "intermediate_size": 18944,
         "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
         "vocab_size": 152064, "max_position_embeddings": 32768, "hidden_act": "silu",
         "use_sliding_window": false, "sliding_window": 32768, "vision_config": {"depth": 32,
         "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16, "in_chans": 3, "hidden_size":
         3584, "patch_size": 14, "spatial_merge_size": 2, "spatial_patch_size": 14,
         "temporal_patch_size": 2}, "rope_scaling": {"type": "mrope", "mrope_section": [16,
         24, 24]}})"},
      {8.29, "Qwen2.5-VL-7B",
       R"({"model_type": "qwen2_5_vl", "hidden_size": 3584, "intermediate_size": 18944,
         "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
         "vocab_size": 152064, "max_position_embeddings": 128000, "hidden_act": "silu",
         "vision_config": {"depth": 32, "hidden_act": "silu", "hidden_size": 1280,
         "intermediate_size": 3420, "num_heads": 16, "in_chans": 3, "out_hidden_size": 3584,
         "patch_size": 14, "spatial_merge_size": 2, "spatial_patch_size": 14, "window_size":
         112, "fullatt_block_indexes": [7, 15, 23, 31], "temporal_patch_size": 2},
         "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}})"},
      {27.43, "gemma-3-27b-it",
       R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size":
         5376, "intermediate_size": 21504, "num_hidden_layers": 62, "num_attention_heads":
         32, "num_key_value_heads": 16, "head_dim": 128, "query_pre_attn_scalar": 168,
         "sliding_window": 1024, "sliding_window_pattern": 6, "rope_scaling": {"factor": 8.0,
         "rope_type": "linear"}}, "vision_config": {"model_type": "siglip_vision_model",
         "hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27,
         "num_attention_heads": 16, "patch_size": 14, "image_size": 896, "vision_use_head":
         false}, "mm_tokens_per_image": 256})"},
      {108.6, "Llama-4-Scout",
       R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
         "attention_chunk_size": 8192, "hidden_size": 5120, "intermediate_size": 8192,
         "intermediate_size_mlp": 16384, "interleave_moe_layer_step": 1, "num_hidden_layers":
         48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
         "num_local_experts": 16, "num_experts_per_tok": 1, "vocab_size": 202048,
         "max_position_embeddings": 10485760, "use_qk_norm": true, "no_rope_layers": [],
         "rope_theta": 500000.0, "hidden_act": "silu"}, "vision_config": {"model_type":
         "llama4_vision_model", "hidden_size": 1408, "image_size": 336, "intermediate_size":
         5632, "num_attention_heads": 16, "num_hidden_layers": 34, "patch_size": 14,
         "pixel_shuffle_ratio": 0.5, "projector_input_dim": 4096, "projector_output_dim":
         4096, "vision_output_dim": 4096}})"},
      {2.78, "phi-2",
       R"({"model_type": "phi", "hidden_size": 2560, "num_hidden_layers": 32,
         "num_attention_heads": 32, "intermediate_size": 10240, "vocab_size": 51200,
         "partial_rotary_factor": 0.4, "max_position_embeddings": 2048})"},
      {9.4, "glm-4-9b-chat",
       R"({"model_type": "chatglm", "hidden_size": 4096, "num_layers": 40,
         "num_attention_heads": 32, "multi_query_attention": true, "multi_query_group_num":
         2, "padded_vocab_size": 151552, "ffn_hidden_size": 13696, "add_qkv_bias": true,
         "kv_channels": 128, "seq_length": 131072})"},
      {16.26, "Ling-mini-2.0",
       R"({"model_type": "bailing_moe_v2", "hidden_size": 2048, "num_hidden_layers": 20,
         "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 128, "num_experts":
         256, "num_experts_per_tok": 8, "num_shared_experts": 1, "moe_intermediate_size":
         512, "intermediate_size": 5120, "first_k_dense_replace": 1, "vocab_size": 157184,
         "n_group": 8, "topk_group": 4})"},
      {41.87, "Phi-3.5-MoE",
       R"({"model_type": "phimoe", "hidden_size": 4096, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 6400,
         "num_local_experts": 16, "num_experts_per_tok": 2, "vocab_size": 32064,
         "attention_bias": true, "lm_head_bias": true, "max_position_embeddings": 131072})"},
      {142.8, "dots.llm1",
       R"({"model_type": "dots1", "hidden_size": 4096, "num_hidden_layers": 62,
         "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 10944,
         "moe_intermediate_size": 1408, "n_routed_experts": 128, "n_shared_experts": 2,
         "num_experts_per_tok": 6, "first_k_dense_replace": 1, "vocab_size": 152064,
         "max_position_embeddings": 32768})"},
      {1.17, "LFM2-1.2B",
       R"({"model_type": "lfm2", "hidden_size": 2048, "num_hidden_layers": 16,
         "num_attention_heads": 32, "num_key_value_heads": 8, "block_ff_dim": 12288,
         "vocab_size": 65536, "full_attn_idxs": [2, 5, 8, 10, 12, 14], "conv_L_cache": 3})"},
      {2.77, "mamba-2.8b-hf",
       R"({"model_type": "mamba", "hidden_size": 2560, "num_hidden_layers": 64,
         "intermediate_size": 5120, "state_size": 16, "vocab_size": 50280, "time_step_rank":
         160})"},
      {7.06, "llava-1.5-7b-hf",
       R"({"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064,
         "max_position_embeddings": 4096}, "vision_config": {"model_type":
         "clip_vision_model", "hidden_size": 1024, "image_size": 336, "intermediate_size":
         4096, "num_attention_heads": 16, "num_hidden_layers": 24, "patch_size": 14}})"},
      {8.08, "InternVL2.5-8B",
       R"({"model_type": "internvl_chat", "downsample_ratio": 0.5, "llm_config":
         {"model_type": "internlm2", "hidden_size": 4096, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
         "vocab_size": 92553, "bias": false}, "vision_config": {"model_type":
         "intern_vit_6b", "hidden_size": 1024, "num_hidden_layers": 24,
         "num_attention_heads": 16, "intermediate_size": 4096, "patch_size": 14,
         "image_size": 448}})"},
      {340.9, "Nemotron-4-340B",
       R"({"model_type": "nemotron", "hidden_size": 18432, "num_hidden_layers": 96,
         "num_attention_heads": 96, "num_key_value_heads": 8, "intermediate_size": 73728,
         "vocab_size": 256000})"},
      {15.52, "starcoderbase",
       R"({"model_type": "gpt_bigcode", "n_embd": 6144, "n_layer": 40, "n_head": 48, "n_inner":
         24576, "n_positions": 8192, "multi_query": true, "vocab_size": 49152,
         "activation_function": "gelu"})"},
      {6.65, "mpt-7b",
       R"({"model_type": "mpt", "d_model": 4096, "n_layers": 32, "n_heads": 32,
         "expansion_ratio": 4, "max_seq_len": 2048, "vocab_size": 50432, "no_bias": true,
         "attn_config": {"alibi": true, "attn_type": "multihead_attention"}})"},
      {1.316, "gpt-neo-1.3B",
       R"({"model_type": "gpt_neo", "hidden_size": 2048, "num_layers": 24, "num_heads": 16,
         "max_position_embeddings": 2048, "vocab_size": 50257, "window_size": 256,
         "activation_function": "gelu_new"})"},
      {1.733, "xglm-1.7B",
       R"({"model_type": "xglm", "d_model": 2048, "ffn_dim": 8192, "num_layers": 24,
         "attention_heads": 16, "max_position_embeddings": 2048, "vocab_size": 256008})"},
      {2.78, "codegen-2B-mono",
       R"({"model_type": "codegen", "n_embd": 2560, "n_layer": 32, "n_head": 32, "rotary_dim":
         64, "n_positions": 2048, "vocab_size": 51200, "tie_word_embeddings": false})"},
      {9.40, "persimmon-8b",
       R"({"model_type": "persimmon", "hidden_size": 4096, "num_hidden_layers": 36,
         "num_attention_heads": 64, "intermediate_size": 16384, "vocab_size": 262144,
         "qk_layernorm": true, "partial_rotary_factor": 0.5, "hidden_act": "relu2"})"},
      {4.07, "MiniCPM3-4B",
       R"({"model_type": "minicpm3", "hidden_size": 2560, "num_hidden_layers": 62,
         "num_attention_heads": 40, "intermediate_size": 6400, "vocab_size": 73448,
         "q_lora_rank": 768, "kv_lora_rank": 256, "qk_nope_head_dim": 64, "qk_rope_head_dim":
         32, "v_head_dim": 64})"},
      {6.92, "falcon-7b",
       R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32,
         "num_attention_heads": 71, "multi_query": true, "parallel_attn": true, "bias":
         false, "vocab_size": 65024})"},
      {41.3, "falcon-40b",
       R"({"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60,
         "num_attention_heads": 128, "num_kv_heads": 8, "new_decoder_architecture": true,
         "parallel_attn": true, "bias": false, "vocab_size": 65024})"},
      {16.38, "deepseek-moe-16b",
       R"({"model_type": "deepseek", "hidden_size": 2048, "num_hidden_layers": 28,
         "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 10944,
         "moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2,
         "num_experts_per_tok": 6, "first_k_dense_replace": 1, "vocab_size": 102400})"},
      {9.78, "Bamba-9B",
       R"({"model_type": "bamba", "hidden_size": 4096, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
         "attn_layer_indices": [9, 18, 27], "mamba_d_head": 64, "mamba_d_state": 128,
         "mamba_n_groups": 1, "mamba_n_heads": 128, "vocab_size": 128256})"},
      {12.68, "pixtral-12b, sizes of whose tower its file leaves out",
       R"({"model_type": "llava", "text_config": {"model_type": "mistral", "head_dim": 128,
         "hidden_size": 5120, "num_hidden_layers": 40, "intermediate_size": 14336,
         "vocab_size": 131072}, "vision_config": {"model_type": "pixtral", "head_dim": 64,
         "image_size": 1024, "patch_size": 16}})"},
      {7.944, "InternVL3-8B, with a size of patches for each side",
       R"({"model_type": "internvl", "downsample_ratio": 0.5, "text_config": {"model_type":
         "qwen2", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28,
         "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 151674},
         "vision_config": {"model_type": "internvl_vision", "hidden_size": 1024,
         "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096,
         "patch_size": [14, 14], "image_size": [448, 448]}})"},
      // Counts of the papers and cards: arXiv 2507.19427 (Step-3: 316B, 321B with its tower),
      // snowflake.com/blog of Arctic (480B), arXiv 2404.07839 (RecurrentGemma: 2.7B and 8.6B),
      // K-EXAONE-236B-A23B, Laguna XS.2 (33.4B) and Mistral Small 4 (119B) on huggingface.co.
      {321, "Step-3",
       R"({"model_type": "step3_vl", "text_config": {"model_type": "step3_text", "hidden_size":
         7168, "intermediate_size": 18432, "num_attention_heads": 64, "num_attention_groups": 1,
         "num_hidden_layers": 61, "vocab_size": 128815, "moe_intermediate_size": 5120,
         "moe_num_experts": 48, "moe_top_k": 3, "share_expert_dim": 5120, "share_q_dim": 2048,
         "head_dim": 256}, "vision_config": {"model_type": "step3_vision_encoder", "hidden_size":
         1792, "output_hidden_size": 4096, "image_size": 728, "intermediate_size": 15360,
         "num_attention_heads": 16, "num_hidden_layers": 63, "patch_size": 14}})"},
      {480, "snowflake-arctic",
       R"({"model_type": "arctic", "hidden_size": 7168, "intermediate_size": 4864,
         "num_hidden_layers": 35, "num_attention_heads": 56, "num_key_value_heads": 8,
         "num_local_experts": 128, "num_experts_per_tok": 2, "moe_layer_frequency": 1,
         "parallel_attn_mlp_res": true, "use_residual": true, "vocab_size": 32000,
         "max_position_embeddings": 4096})"},
      {2.68, "recurrentgemma-2b",
       R"({"model_type": "recurrent_gemma", "hidden_size": 2560, "intermediate_size": 15360,
         "num_hidden_layers": 26, "num_attention_heads": 10, "num_key_value_heads": 1,
         "head_dim": 256, "lru_width": 2560, "attention_window_size": 2048, "vocab_size": 256000,
         "block_types": ["recurrent", "recurrent", "attention"]})"},
      {8.58, "recurrentgemma-9b",
       R"({"model_type": "recurrent_gemma", "hidden_size": 4096, "intermediate_size": 24576,
         "num_hidden_layers": 38, "num_attention_heads": 16, "num_key_value_heads": 1,
         "head_dim": 256, "lru_width": 4096, "attention_window_size": 2048, "vocab_size": 256000})"},
      {236.5, "K-EXAONE-236B-A23B",
       R"({"model_type": "exaone_moe", "hidden_size": 6144, "intermediate_size": 18432,
         "moe_intermediate_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 64,
         "num_key_value_heads": 8, "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8,
         "num_shared_experts": 1, "first_k_dense_replace": 1, "sliding_window": 128,
         "sliding_window_pattern": "LLLG", "vocab_size": 153600})"},
      {33.44, "Laguna-XS.2",
       R"({"model_type": "laguna", "hidden_size": 2048, "intermediate_size": 8192,
         "num_hidden_layers": 40, "num_attention_heads": 48, "num_key_value_heads": 8, "head_dim":
         128, "num_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 512,
         "shared_expert_intermediate_size": 512, "gating": true, "num_attention_heads_per_layer":
         [48, 64, 64, 64, 48, 64, 64, 64, 48, 64, 64, 64, 48, 64, 64, 64, 48, 64, 64, 64, 48, 64,
         64, 64, 48, 64, 64, 64, 48, 64, 64, 64, 48, 64, 64, 64, 48, 64, 64, 64], "vocab_size":
         100352})"},
      {119, "Mistral-Small-4-119B, without its tower",
       R"({"model_type": "mistral4", "hidden_size": 4096, "moe_intermediate_size": 2048,
         "intermediate_size": 12288, "num_hidden_layers": 36, "num_attention_heads": 32,
         "num_key_value_heads": 32, "q_lora_rank": 1024, "kv_lora_rank": 256, "qk_nope_head_dim":
         64, "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 128,
         "n_shared_experts": 1, "num_experts_per_tok": 4, "first_k_dense_replace": 0,
         "vocab_size": 131072})"},
      {8.05, "Apertus-8B",
       R"({"model_type": "apertus", "hidden_size": 4096, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 21504,
         "vocab_size": 131072, "hidden_act": "xielu"})"},
  };
  return kRows;
}

TEST(PublishedNetworks, HaveTheirParameters) {
  for (const KnownCount& row : remembered_counts())
    EXPECT_NEAR(billions_in(row.config), row.billions, 0.005 * row.billions) << row.name;
}

TEST(PublishedNetworks, RunInEveryPhase) {
  for (const KnownCount& row : remembered_counts()) {
    const ModelConfig config = remembered_network(row.config);
    const FlopsOfPhases flops = flops_of_phases(config);
    EXPECT_LT(flops.token * 50, flops.prompt) << row.name;
  }
}

// Millions of parameters, of the cards on huggingface.co: EuroBERT (210M, 610M), gte-v1.5 (137M)
// and its multilingual kin (305M), DeBERTa (arXiv 2006.03654: 139M), SigLIP 2 of any shape (375M),
// DINOv2 with registers (86.6M), Jina v2 (137M, for code 161M) and v3 (arXiv 2409.10173: 572M).
const std::vector<KnownCount>& forward_counts() {
  static const std::vector<KnownCount> kRows = {
      {211.8, "EuroBERT-210m",
       R"({"model_type": "eurobert", "architectures": ["EuroBertModel"], "hidden_act": "silu",
         "hidden_size": 768, "intermediate_size": 3072, "max_position_embeddings": 8192,
         "num_attention_heads": 12, "num_hidden_layers": 12, "vocab_size": 128256})"},
      {608, "EuroBERT-610m",
       R"({"model_type": "eurobert", "hidden_act": "silu", "hidden_size": 1152,
         "intermediate_size": 4096, "max_position_embeddings": 8192, "num_attention_heads": 18,
         "num_hidden_layers": 26, "num_key_value_heads": 6, "vocab_size": 128256})"},
      {137, "gte-base-en-v1.5",
       R"({"model_type": "new", "hidden_act": "gelu", "hidden_size": 768, "intermediate_size":
         3072, "max_position_embeddings": 8192, "num_attention_heads": 12, "num_hidden_layers":
         12, "type_vocab_size": 0, "vocab_size": 30528})"},
      {305, "gte-multilingual-base",
       R"({"model_type": "new", "architectures": ["NewModel", "NewForTokenClassification"],
         "hidden_act": "gelu", "hidden_size": 768, "intermediate_size": 3072,
         "max_position_embeddings": 8192, "num_attention_heads": 12, "num_hidden_layers": 12,
         "type_vocab_size": 1, "vocab_size": 250048})"},
      {138.6, "deberta-base",
       R"({"model_type": "deberta", "hidden_act": "gelu", "hidden_size": 768,
         "intermediate_size": 3072, "max_position_embeddings": 512, "num_attention_heads": 12,
         "num_hidden_layers": 12, "pos_att_type": "c2p|p2c", "position_biased_input": false,
         "relative_attention": true, "type_vocab_size": 0, "vocab_size": 50265})"},
      {375, "siglip2-base-patch16-naflex",
       R"({"model_type": "siglip2", "text_config": {"vocab_size": 256000}, "vision_config":
         {"num_patches": 256, "patch_size": 16}})"},
      {137, "jina-embeddings-v2-base-en",
       R"({"model_type": "bert", "architectures": ["JinaBertForMaskedLM"], "feed_forward_type":
         "geglu", "hidden_act": "gelu", "hidden_size": 768, "intermediate_size": 3072,
         "max_position_embeddings": 8192, "num_attention_heads": 12, "num_hidden_layers": 12,
         "position_embedding_type": "alibi", "type_vocab_size": 2, "vocab_size": 30528})"},
      {161, "jina-embeddings-v2-base-code",
       R"({"model_type": "bert", "architectures": ["JinaBertForMaskedLM"], "auto_map":
         {"AutoModel": "jinaai/jina-bert-v2-qk-post-norm--modeling_bert.JinaBertModel"},
         "feed_forward_type": "geglu", "hidden_act": "gelu", "hidden_size": 768,
         "intermediate_size": 3072, "max_position_embeddings": 8192, "num_attention_heads": 12,
         "num_hidden_layers": 12, "position_embedding_type": "alibi", "type_vocab_size": 2,
         "vocab_size": 61056})"},
      {572, "jina-embeddings-v3",
       R"({"model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"], "hidden_act": "gelu",
         "hidden_size": 1024, "intermediate_size": 4096, "lora_adaptations": ["retrieval.query",
         "retrieval.passage", "separation", "classification", "text-matching"], "lora_rank": 4,
         "max_position_embeddings": 8194, "num_attention_heads": 16, "num_hidden_layers": 24,
         "pad_token_id": 1, "position_embedding_type": "rotary", "type_vocab_size": 1,
         "vocab_size": 250002})"},
      {86.6, "dinov2-with-registers-base",
       R"({"model_type": "dinov2_with_registers", "hidden_act": "gelu", "hidden_size": 768,
         "image_size": 518, "mlp_ratio": 4, "num_attention_heads": 12, "num_hidden_layers": 12,
         "num_register_tokens": 4, "patch_size": 14})"},
  };
  return kRows;
}

TEST(PublishedNetworks, OnePassHasItsParameters) {
  for (const KnownCount& row : forward_counts()) {
    Binding binding;
    binding.seq_len = 64;
    const Graph graph = build_graph(remembered_network(row.config), binding);
    EXPECT_NEAR(static_cast<double>(graph.parameter_count()) / 1e6, row.billions,
                0.005 * row.billions)
        << row.name;
  }
}

TEST(PublishedNetworks, HeadsOfAStatedWidthAreTaken) {
  // Mistral-Nemo: 32 heads of 128 columns in a hidden size of 5120: 12.2B.
  const char* nemo = R"({"model_type": "mistral", "hidden_size": 5120, "num_hidden_layers": 40,
    "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 131072,
    "intermediate_size": 14336, "max_position_embeddings": 131072, "hidden_act": "silu"})";
  EXPECT_NEAR(billions_in(nemo), 12.25, 0.005 * 12.25);
}

}  // namespace
}  // namespace foretell
