// Parameters of networks that are served of late and differ from those of the other tests: files
// and counts are written down as they are remembered, not copied from what is published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "model/base/errors.hpp"
#include "workloads/import/hf/config/network_facts.hpp"
#include "workloads/import/hf/testing/flops_of_phases.hpp"
#include "workloads/import/hf/vision/image_prompt.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

struct RecentNetwork {
  double billions;  // of parameters, as its page on huggingface.co says (of its .safetensors)
  const char* config;
};

ModelConfig recent_network(const std::string& text) {
  return parse_model_config(text, "net", "config.json");
}

// Grok-2: a dense network beside the experts, which are half as wide.
const RecentNetwork kGrok2{269.5, R"({"architectures": ["Grok1ForCausalLM"], "model_type": "git",
  "hidden_size": 8192, "intermediate_size": 32768, "moe_intermediate_size": 16384,
  "num_hidden_layers": 64, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
  "num_local_experts": 8, "num_experts_per_tok": 2, "residual_moe": true, "vocab_size": 131072,
  "max_position_embeddings": 131072, "hidden_act": "gelu", "tie_word_embeddings": false})"};

// Llama Guard 4: Llama 4 without experts.
const RecentNetwork kLlamaGuard{12.0, R"({"model_type": "llama4", "text_config": {"model_type":
  "llama4_text", "attention_chunk_size": 8192, "hidden_size": 5120, "intermediate_size": 8192,
  "intermediate_size_mlp": 8192, "interleave_moe_layer_step": 0, "moe_layers": [],
  "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
  "num_local_experts": 0, "num_experts_per_tok": 0, "vocab_size": 202048,
  "max_position_embeddings": 131072, "use_qk_norm": true, "no_rope_layers": [], "hidden_act":
  "silu"}, "vision_config": {"model_type": "llama4_vision_model", "hidden_size": 1408,
  "image_size": 336, "intermediate_size": 5632, "num_attention_heads": 16, "num_hidden_layers": 34,
  "patch_size": 14, "pixel_shuffle_ratio": 0.5, "projector_input_dim": 4096,
  "projector_output_dim": 4096, "vision_output_dim": 4096}})"};

// Hunyuan-Large (arXiv 2411.02265: 389B, 52B active): two layers share keys and values.
const RecentNetwork kHunyuanLarge{389, R"({"model_type": "hunyuan", "hidden_size": 6400,
  "intermediate_size": 18304, "max_position_embeddings": 131072, "moe_topk": 1,
  "num_attention_heads": 80, "num_experts": 16, "num_hidden_layers": 64, "num_key_value_heads": 8,
  "num_shared_expert": 1, "use_cla": true, "cla_share_factor": 2, "use_mixed_mlp_moe": true,
  "use_qk_norm": true, "vocab_size": 129024})"};

// Its text_config leaves the sizes of Qwen2 out.
const RecentNetwork kQwen2Audio{8.40, R"({"model_type": "qwen2_audio", "audio_config":
  {"model_type": "qwen2_audio_encoder", "d_model": 1280, "encoder_attention_heads": 20,
  "encoder_ffn_dim": 5120, "encoder_layers": 32, "num_mel_bins": 128, "max_source_positions": 1500},
  "text_config": {"model_type": "qwen2", "intermediate_size": 11008, "max_position_embeddings":
  8192, "vocab_size": 156032}})"};

const RecentNetwork kVoxtral{4.68, R"({"model_type": "voxtral", "audio_config": {"model_type":
  "voxtral_encoder", "hidden_size": 1280, "intermediate_size": 5120, "num_attention_heads": 20,
  "num_hidden_layers": 32, "num_mel_bins": 128, "max_source_positions": 1500}, "text_config":
  {"model_type": "llama", "head_dim": 128, "hidden_act": "silu", "hidden_size": 3072,
  "intermediate_size": 8192, "max_position_embeddings": 131072, "num_attention_heads": 32,
  "num_hidden_layers": 30, "num_key_value_heads": 8, "vocab_size": 131072}})"};

const RecentNetwork kDotsOcr{3.04, R"({"model_type": "dots_ocr", "hidden_act": "silu",
  "hidden_size": 1536, "intermediate_size": 8960, "max_position_embeddings": 131072,
  "num_attention_heads": 12, "num_hidden_layers": 28, "num_key_value_heads": 2,
  "tie_word_embeddings": false, "vocab_size": 151936, "vision_config": {"embed_dim": 1536,
  "hidden_size": 1536, "intermediate_size": 4224, "num_hidden_layers": 42, "num_attention_heads":
  12, "num_channels": 3, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 1,
  "use_bias": false}})"};

const RecentNetwork kPaddleOcr{0.9586, R"({"model_type": "paddleocr_vl", "head_dim": 128,
  "hidden_act": "silu", "hidden_size": 1024, "intermediate_size": 3072, "max_position_embeddings":
  131072, "num_attention_heads": 16, "num_hidden_layers": 18, "num_key_value_heads": 2,
  "tie_word_embeddings": false, "use_bias": false, "vocab_size": 103424, "vision_config":
  {"model_type": "paddleocr_vl", "hidden_size": 1152, "image_size": 384, "intermediate_size": 4304,
  "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14, "spatial_merge_size": 2}})"};

const RecentNetwork kLfmVision{1.584, R"({"model_type": "lfm2-vl", "downsample_factor": 2,
  "projector_bias": true, "projector_hidden_size": 2560, "text_config": {"model_type": "lfm2",
  "block_ff_dim": 12288, "conv_L_cache": 3, "full_attn_idxs": [2, 5, 8, 10, 12, 14], "hidden_size":
  2048, "num_attention_heads": 32, "num_hidden_layers": 16, "num_key_value_heads": 8, "vocab_size":
  65536}, "vision_config": {"model_type": "siglip2_vision_model", "hidden_size": 1152,
  "intermediate_size": 4304, "num_attention_heads": 16, "num_hidden_layers": 26, "num_patches": 256,
  "patch_size": 16}})"};

const RecentNetwork kColPali{2.92, R"({"model_type": "colpali", "embedding_dim": 128, "vlm_config":
  {"model_type": "paligemma", "projection_dim": 2048, "text_config": {"model_type": "gemma",
  "hidden_size": 2048, "intermediate_size": 16384, "num_attention_heads": 8, "num_hidden_layers":
  18, "num_key_value_heads": 1, "vocab_size": 257216, "head_dim": 256, "max_position_embeddings":
  8192}, "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152,
  "intermediate_size": 4304, "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14,
  "image_size": 448}}})"};

// The next four were read right before they stood here.
const RecentNetwork kGraniteSmall{32.2, R"({"model_type": "granitemoehybrid", "layer_types":
  ["mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba", "mamba",
  "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba", "mamba",
  "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba", "mamba",
  "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba", "mamba"],
  "mamba_d_conv": 4, "mamba_d_head": 64, "mamba_d_state": 128, "mamba_expand": 2, "mamba_n_groups":
  1, "mamba_n_heads": 128, "max_position_embeddings": 131072, "num_hidden_layers": 40,
  "position_embedding_type": "nope", "tie_word_embeddings": true, "vocab_size": 100352,
  "hidden_size": 4096, "intermediate_size": 768, "num_attention_heads": 32, "num_key_value_heads":
  8, "num_experts_per_tok": 10, "num_local_experts": 72, "shared_intermediate_size": 1536})"};

const RecentNetwork kGlmVision{107.7, R"({"model_type": "glm4v_moe", "text_config": {"model_type":
  "glm4v_moe_text", "attention_bias": true, "first_k_dense_replace": 1, "head_dim": 128,
  "hidden_size": 4096, "intermediate_size": 10944, "max_position_embeddings": 65536,
  "moe_intermediate_size": 1408, "n_routed_experts": 128, "n_shared_experts": 1,
  "num_attention_heads": 96, "num_experts_per_tok": 8, "num_hidden_layers": 46,
  "num_key_value_heads": 8, "partial_rotary_factor": 0.5, "vocab_size": 151552}, "vision_config":
  {"model_type": "glm4v_moe", "depth": 24, "hidden_size": 1536, "num_heads": 12, "image_size": 336,
  "patch_size": 14, "intermediate_size": 10944, "out_hidden_size": 4096, "spatial_merge_size": 2,
  "temporal_patch_size": 2}, "tie_word_embeddings": false})"};

const RecentNetwork kNemotronNano{8.89, R"({"model_type": "nemotron_h", "chunk_size": 128,
  "conv_kernel": 4, "expand": 2, "head_dim": 128, "hidden_size": 4480, "hybrid_override_pattern":
  "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-", "intermediate_size": 15680,
  "mamba_head_dim": 80, "mamba_num_heads": 128, "max_position_embeddings": 131072,
  "mlp_hidden_act": "relu2", "n_groups": 8, "num_attention_heads": 40, "num_hidden_layers": 56,
  "num_key_value_heads": 8, "ssm_state_size": 128, "tie_word_embeddings": false, "vocab_size":
  131072})"};

const RecentNetwork kQwen3Next{79.67, R"({"model_type": "qwen3_next", "decoder_sparse_step": 1,
  "full_attention_interval": 4, "head_dim": 256, "hidden_size": 2048, "intermediate_size": 5120,
  "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
  "linear_num_value_heads": 32, "linear_value_head_dim": 128, "max_position_embeddings": 262144,
  "moe_intermediate_size": 512, "num_attention_heads": 16, "num_experts": 512,
  "num_experts_per_tok": 10, "num_hidden_layers": 48, "num_key_value_heads": 2,
  "partial_rotary_factor": 0.25, "shared_expert_intermediate_size": 512, "tie_word_embeddings":
  false, "vocab_size": 151936})"};

// Experts beside a tower whose patches learned queries read.
const RecentNetwork kAria{25.31, R"({"model_type": "aria", "projector_patch_to_query_dict": {"1225":
  128, "4900": 256}, "text_config": {"model_type": "aria_text", "hidden_size": 2560,
  "intermediate_size": 1664, "max_position_embeddings": 65536, "moe_num_experts": 64,
  "moe_num_shared_experts": 2, "moe_topk": 6, "num_attention_heads": 20, "num_hidden_layers": 28,
  "num_key_value_heads": 20, "vocab_size": 100352}, "vision_config": {"model_type":
  "idefics3_vision", "hidden_size": 1152, "intermediate_size": 4304, "num_attention_heads": 16,
  "num_hidden_layers": 27, "patch_size": 14, "image_size": 980}})"};

// Without the convolutions that make tokens of images.
const RecentNetwork kChameleon{7.04, R"({"model_type": "chameleon", "hidden_act": "silu",
  "hidden_size": 4096, "intermediate_size": 11008, "max_position_embeddings": 4096,
  "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32, "swin_norm": false,
  "tie_word_embeddings": false, "vocab_size": 65536})"};

const RecentNetwork kFuyu{9.408, R"({"model_type": "fuyu", "hidden_act": "relu2", "hidden_size":
  4096, "image_size": 300, "intermediate_size": 16384, "max_position_embeddings": 16384,
  "num_attention_heads": 64, "num_channels": 3, "num_hidden_layers": 36, "partial_rotary_factor":
  0.5, "patch_size": 30, "qk_layernorm": true, "tie_word_embeddings": false, "vocab_size":
  262144})"};

const RecentNetwork kMiniCpmV26{8.099, R"({"architectures": ["MiniCPMV"], "model_type": "minicpmv",
  "version": 2.6, "hidden_size": 3584, "intermediate_size": 18944, "num_attention_heads": 28,
  "num_hidden_layers": 28, "num_key_value_heads": 4, "vocab_size": 151666,
  "max_position_embeddings": 32768, "query_num": 64, "image_size": 448, "drop_vision_last_layer":
  false, "hidden_act": "silu", "vision_config": {"model_type": "siglip", "hidden_size": 1152,
  "image_size": 980, "intermediate_size": 4304, "num_attention_heads": 16, "num_hidden_layers": 27,
  "patch_size": 14}})"};

const RecentNetwork kMiniCpmV45{8.695, R"({"architectures": ["MiniCPMV"], "model_type": "minicpmv",
  "version": 4.5, "hidden_size": 4096, "head_dim": 128, "intermediate_size": 12288,
  "num_attention_heads": 32, "num_hidden_layers": 36, "num_key_value_heads": 8, "vocab_size":
  151748, "max_position_embeddings": 40960, "query_num": 64, "image_size": 448, "hidden_act":
  "silu", "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152, "image_size":
  980, "intermediate_size": 4304, "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size":
  14}})"};

const RecentNetwork kDeepseekOcr{3.336, R"({"architectures": ["DeepseekOCRForCausalLM"],
  "model_type": "deepseek_vl_v2", "language_config": {"model_type": "deepseek_v2",
  "first_k_dense_replace": 1, "hidden_size": 1280, "intermediate_size": 6848, "kv_lora_rank": null,
  "max_position_embeddings": 8192, "moe_intermediate_size": 896, "n_routed_experts": 64,
  "n_shared_experts": 2, "num_attention_heads": 10, "num_experts_per_tok": 6, "num_hidden_layers":
  12, "num_key_value_heads": 10, "qk_nope_head_dim": 0, "topk_method": "greedy", "use_mla": false,
  "v_head_dim": 0, "vocab_size": 129280}, "projector_config": {"input_dim": 2048, "n_embed": 1280,
  "projector_type": "linear"}, "vision_config": {"image_size": 1024, "model_name": "deeplip_b_l",
  "model_type": "vision", "width": {"clip-l-14-224": {"heads": 16, "image_size": 224, "layers": 24,
  "patch_size": 14, "width": 1024}, "sam_vit_b": {"downsample_channels": [512, 1024],
  "global_attn_indexes": [2, 5, 8, 11], "heads": 12, "layers": 12, "width": 768}}}})"};

// Skywork-Reward: Llama 3.1 8B with a score in place of the logits.
const RecentNetwork kReward{7.505, R"({"architectures": ["LlamaForSequenceClassification"],
  "model_type": "llama", "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336,
  "max_position_embeddings": 131072, "num_attention_heads": 32, "num_hidden_layers": 32,
  "num_key_value_heads": 8, "vocab_size": 128256, "num_labels": 1})"};

// Shares of the words of a table in place of what a tower made; as transformers' tests of its
// converter (looked up) and the network's page (remembered) have it.
const RecentNetwork kOvis{2.57, R"({"architectures": ["Ovis2_5"], "model_type": "ovis2_5",
  "hidden_size": 2048, "visual_vocab_size": 65536, "llm_config": {"model_type": "qwen3",
  "architectures": ["Qwen3ForCausalLM"], "head_dim": 128, "hidden_act": "silu", "hidden_size": 2048,
  "intermediate_size": 6144, "max_position_embeddings": 40960, "num_attention_heads": 16,
  "num_hidden_layers": 28, "num_key_value_heads": 8, "tie_word_embeddings": true, "vocab_size":
  151936}, "vit_config": {"model_type": "siglip2_navit", "hidden_size": 1152, "intermediate_size":
  4304, "num_hidden_layers": 27, "num_attention_heads": 16, "num_channels": 3, "num_patches": -1,
  "image_size": 512, "patch_size": 16, "hidden_act": "gelu_pytorch_tanh", "hidden_stride": 2,
  "window_size": 112, "fullatt_block_indexes": null, "temporal_patch_size": 1,
  "preserve_original_pe": true, "use_rope": true}})"};

// Granite 4.0 1B Speech, whose weights in BF16 are 4.63 GB: a file and its size looked up.
const RecentNetwork kGraniteSpeech{2.315, R"({"model_type": "granite_speech", "downsample_rate": 5,
  "has_lora_adapter": false, "window_size": 15, "tie_word_embeddings": false, "encoder_config":
  {"context_size": 200, "conv_expansion_factor": 2, "conv_kernel_size": 15, "dim_head": 128,
  "feedforward_mult": 4, "hidden_dim": 1024, "input_dim": 160, "max_pos_emb": 512, "model_type":
  "granite_speech_encoder", "num_heads": 8, "num_layers": 16, "output_dim": 348},
  "projector_config": {"cross_attention_frequency": 1, "encoder_hidden_size": 1024, "hidden_size":
  1024, "intermediate_size": 4096, "model_type": "blip_2_qformer", "num_attention_heads": 16,
  "num_hidden_layers": 2}, "text_config": {"model_type": "granite", "hidden_act": "silu",
  "hidden_size": 2048, "intermediate_size": 4096, "max_position_embeddings": 4096,
  "num_attention_heads": 16, "num_hidden_layers": 40, "num_key_value_heads": 4, "vocab_size":
  100353}})"};

const RecentNetwork kPhi4Multimodal{5.574, R"({"architectures": ["Phi4MMForCausalLM"],
  "model_type": "phi4mm", "hidden_act": "silu", "hidden_size": 3072, "intermediate_size": 8192,
  "max_position_embeddings": 131072, "num_attention_heads": 24, "num_hidden_layers": 32,
  "num_key_value_heads": 8, "partial_rotary_factor": 0.75, "sliding_window": 262144,
  "tie_word_embeddings": true, "vocab_size": 200064, "vision_lora": {"layer": "layers.*", "dp": 0.0,
  "lora_alpha": 512, "r": 256}, "speech_lora": {"layer": "layers.*", "dp": 0.01, "lora_alpha": 640,
  "r": 320}, "audio_processor": {"name": "cascades", "config": {"attention_dim": 1024,
  "attention_heads": 16, "depthwise_multiplier": 1, "input_size": 80, "kernel_size": 3,
  "linear_units": 1536, "num_blocks": 24, "time_reduction": 8}}, "embd_layer": {"image_embd_layer":
  {"crop_size": 448, "use_hd_transform": true}}})"};

const RecentNetwork kMolmo{8.02, R"({"architectures": ["MolmoForCausalLM"], "model_type": "molmo",
  "attention_layer_norm": false, "clip_qkv": null, "embedding_size": 152064, "hidden_size": 3584,
  "intermediate_size": 37888, "layer_norm_type": "rms", "max_position_embeddings": 4096,
  "norm_after": false, "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
  "qkv_bias": true, "tie_word_embeddings": false, "vocab_size": 152064, "weight_tying": false})"};

// Of the same kind: norms after its parts and over all of queries and keys.
const RecentNetwork kMolmoO{7.665, R"({"architectures": ["MolmoForCausalLM"], "model_type": "molmo",
  "attention_layer_norm": true, "embedding_size": 100352, "hidden_size": 4096, "intermediate_size":
  22016, "layer_norm_type": "rms", "max_position_embeddings": 4096, "norm_after": true,
  "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": null, "qkv_bias":
  false, "tie_word_embeddings": false, "vocab_size": 100278, "weight_tying": false})"};

const std::vector<RecentNetwork>& recent_networks() {
  static const std::vector<RecentNetwork> kAll = {
      kGrok2,     kLlamaGuard,    kHunyuanLarge,   kQwen2Audio, kVoxtral,
      kDotsOcr,   kPaddleOcr,     kLfmVision,      kColPali,    kGraniteSmall,
      kGlmVision, kNemotronNano,  kQwen3Next,      kAria,       kChameleon,
      kFuyu,      kMiniCpmV26,    kMiniCpmV45,     kReward,     kDeepseekOcr,
      kOvis,      kGraniteSpeech, kPhi4Multimodal, kMolmo,      kMolmoO};
  return kAll;
}

TEST(RecentNetworks, HaveTheirParametersAndRunInEveryPhase) {
  for (const RecentNetwork& row : recent_networks()) {
    const ModelConfig config = recent_network(row.config);
    const double billions = facts_of(config, find_precision("bf16")).parameters / 1e9;
    EXPECT_NEAR(billions, row.billions, 0.005 * row.billions) << row.config;
    const FlopsOfPhases flops = flops_of_phases(config);
    EXPECT_LT(flops.token * 50, flops.prompt) << row.config;
  }
}

double parameters_of(const Graph& graph) {
  double sum = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kWeight) sum += static_cast<double>(element_count(tensor.shape));
  }
  return sum;
}

// nomic-embed-text-v2-moe: 475M parameters (arXiv 2502.07972, section 3).
TEST(RecentNetworks, EncodersHaveExperts) {
  const ModelConfig config = recent_network(R"({"architectures": ["NomicBertModel"],
    "model_type": "nomic_bert", "activation_function": "gelu", "n_embd": 768, "n_head": 12,
    "n_inner": 3072, "n_layer": 12, "n_positions": 2048, "vocab_size": 250048, "num_experts": 8,
    "moe_top_k": 2, "moe_every_n_layers": 2, "mlp_fc1_bias": true, "mlp_fc2_bias": true,
    "qkv_proj_bias": true, "type_vocab_size": 1})");
  Binding binding;
  binding.seq_len = 512;
  const Graph graph = build_graph(config, binding);
  EXPECT_NEAR(parameters_of(graph) / 1e6, 475.3, 0.005 * 475.3);
  std::int64_t with_experts = 0;
  for (const Op& op : graph.ops()) with_experts += op.kind == "Experts" ? 1 : 0;
  EXPECT_EQ(with_experts, 6);
}

// A patch is a token of Fuyu; MiniCPM-V and Aria make as many of an image as they have queries.
TEST(RecentNetworks, ImagesBecomeTokens) {
  const auto tower = [](const RecentNetwork& row) {
    return recent_network(row.config).parts_of_decoder.tower;
  };
  EXPECT_EQ(patched_image(tower(kFuyu), 300, 600).tokens, 10 * 20);
  EXPECT_EQ(patched_image(tower(kMiniCpmV26), 448, 448).tokens, 64);
  EXPECT_EQ(patched_image(tower(kAria), 980, 980).tokens, 256);
  EXPECT_EQ(patched_image(tower(kAria), 980, 980).patches(), 4900);
  EXPECT_EQ(patched_image(tower(kOvis), 448, 960).tokens, 14 * 30);
  for (const RecentNetwork* row : {&kFuyu, &kMiniCpmV26, &kMiniCpmV45, &kAria, &kOvis}) {
    const ModelConfig config = recent_network(row->config);
    const TowerPart& part = config.parts_of_decoder.tower;
    const std::int64_t side = part.side > 0 ? part.side : 300;
    const PatchedImage image = patched_image(part, side, side);
    const Graph graph = build_image_tower(config, 3, image, 1);
    EXPECT_EQ(graph.tensor(graph.outputs().back()).shape, (Shape{3, image.tokens, config.hidden}));
    // Tables of places are there for the largest image; those of slices are smaller.
    const double unread = static_cast<double>(
        part.hidden * std::max<std::int64_t>(0, part.positions - image.patches()));
    const auto whole = static_cast<double>(parameters_of(part));
    EXPECT_NEAR(parameters_of(graph) + unread, whole, 0.001 * whole) << row->config;
  }
}

TEST(RecentNetworks, RerankersScoreTheLastToken) {
  const ModelConfig whole = recent_network(R"({"architectures": ["Qwen3ForSequenceClassification"],
    "model_type": "qwen3_moe", "hidden_act": "silu", "hidden_size": 64, "intermediate_size": 128,
    "moe_intermediate_size": 32, "num_experts": 8, "num_experts_per_tok": 2,
    "max_position_embeddings": 4096, "num_attention_heads": 4, "head_dim": 16, "num_hidden_layers":
    2, "num_key_value_heads": 2, "vocab_size": 1000, "num_labels": 3})");
  for (const ModelConfig& config : {whole, recent_network(kReward.config)}) {
    Binding binding;
    binding.batch = 2;
    binding.seq_len = 16;
    const Graph graph = build_graph(config, binding);
    const Shape scores = graph.tensor(graph.outputs().back()).shape;
    EXPECT_EQ(element_count(scores), 2 * config.labels);
    EXPECT_TRUE(scores_texts(config));
  }
}

// modeling_nemotron.py, modeling_arcee.py, modeling_apertus.py and modeling_hunyuan_v1_dense.py of
// transformers: attention_bias is that of all four projections; the networks of the last two never
// have a bias.
TEST(RecentNetworks, AttentionBiasIsThatOfTheOutputToo) {
  const auto parameters = [](const std::string& type, const std::string& key) {
    return facts_of(recent_network(R"({"model_type": ")" + type + R"(", "hidden_size": 64,
      "intermediate_size": 256, "num_attention_heads": 4, "head_dim": 32, "num_hidden_layers": 2,
      "num_key_value_heads": 2, "vocab_size": 1000, "max_position_embeddings": 512, ")" +
                                   key + R"(": true})"),
                    find_precision("bf16"))
        .parameters;
  };
  for (const char* type :
       {"nemotron", "arcee", "apertus", "hunyuan_v1_dense", "smollm3", "gemma"}) {
    const double without = parameters(type, "use_cache");
    EXPECT_DOUBLE_EQ(parameters(type, "attention_bias") - without, 2 * (4 * 32 + 2 * 2 * 32 + 64))
        << type;
    const double of_network = parameters(type, "mlp_bias") - without;
    const std::string name = type;
    if (name == "nemotron" || name == "arcee") {
      EXPECT_DOUBLE_EQ(of_network, 2 * (256 + 64)) << type;
    } else if (name == "apertus" || name == "hunyuan_v1_dense") {
      EXPECT_DOUBLE_EQ(of_network, 0) << type;
    }
  }
}

TEST(RecentNetworks, SharedKeysAreKeptOnce) {
  const NetworkFacts facts = facts_of(recent_network(kHunyuanLarge.config), find_precision("bf16"));
  EXPECT_NEAR(facts.active / 1e9, 52, 1);
  EXPECT_DOUBLE_EQ(facts.kv_bytes_per_token, 32 * 2 * 8 * 80 * 2);
}

TEST(RecentNetworks, WhatIsLeftOutIsSaid) {
  EXPECT_THAT(recent_network(kColPali.config).notes, Contains(HasSubstr("128 columns")));
  EXPECT_THAT(recent_network(kVoxtral.config).notes, Contains(HasSubstr("calls read text alone")));
  EXPECT_THAT(recent_network(kVoxtral.config).parts_of_decoder.tower.unreadable,
              HasSubstr("reads sounds"));
  EXPECT_THAT(recent_network(kDeepseekOcr.config).parts_of_decoder.tower.unreadable,
              HasSubstr("one after the other"));
  EXPECT_THAT(recent_network(kGraniteSpeech.config).notes,
              Contains(HasSubstr("encoder_config: the tower for sounds takes memory")));
  EXPECT_THAT(recent_network(kPhi4Multimodal.config).parts_of_decoder.tower.unreadable,
              HasSubstr("switch adapters"));
  EXPECT_THAT(recent_network(kMolmo.config).parts_of_decoder.tower.unreadable,
              HasSubstr("pools the patches"));
  // jina-embeddings-v4: Qwen2.5-VL and adapters of three tasks, in a file of their own.
  EXPECT_THAT(recent_network(R"({"architectures": ["JinaEmbeddingsV4Model"], "model_type":
      "qwen2_5_vl", "multi_vector_projector_dim": 128, "task_names": ["retrieval", "code"],
      "text_config": {"model_type": "qwen2_5_vl_text", "hidden_size": 64, "intermediate_size": 128,
      "num_attention_heads": 4, "num_hidden_layers": 2, "num_key_value_heads": 2, "vocab_size":
      100, "max_position_embeddings": 512}})")
                  .notes,
              AllOf(Contains(HasSubstr("task_names: adapters")),
                    Contains(HasSubstr("projection to 128 columns"))));
}

// Text is read as Phi-4-mini reads it: 3.836 billion parameters, none of the adapters.
TEST(RecentNetworks, AdaptersAndTowersTakeMemoryAndNoWork) {
  const NetworkFacts facts =
      facts_of(recent_network(kPhi4Multimodal.config), find_precision("bf16"));
  EXPECT_NEAR((facts.parameters - facts.tower) / 1e9, 3.836, 0.005);
  EXPECT_NEAR(facts.active / 1e9, 3.836, 0.005);
  std::string without = kPhi4Multimodal.config;
  for (const char* key : {"vision_lora", "speech_lora"}) without[without.find(key)] = 'x';
  EXPECT_DOUBLE_EQ(
      facts.parameters - facts_of(recent_network(without), find_precision("bf16")).parameters,
      (256 + 320) * 32.0 * (8192 + 6144 + 19456 + 11264));
}

TEST(RecentNetworks, ProblemsNameTheirWholePath) {
  std::string config = kAria.config;
  const std::string stated = R"(128, "4900")";
  config.replace(config.find(stated), stated.size(), R"("many", "4900")");
  try {
    recent_network(config);
    FAIL() << "a number of queries that is none was read";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("projector_patch_to_query_dict.1225: is \"many\""));
  }
}

// Nothing in the file of Qwen3-Embedding 8B but its class says that it has no head; a class that
// says so may be written there.
TEST(RecentNetworks, ANetworkWithoutAHeadSaysSoByItsClass) {
  const auto billions = [](const std::string& name) {
    Binding binding;
    binding.seq_len = 16;
    return parameters_of(build_graph(
               recent_network(R"({"architectures": [")" + name + R"("], "model_type": "qwen3",
        "head_dim": 128, "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 12288,
        "max_position_embeddings": 40960, "num_attention_heads": 32, "num_hidden_layers": 36,
        "num_key_value_heads": 8, "tie_word_embeddings": false, "vocab_size": 151665})"),
               binding)) /
           1e9;
  };
  EXPECT_NEAR(billions("Qwen3Model"), 7.567, 0.005 * 7.567);
  EXPECT_NEAR(billions("Qwen3ForCausalLM") - billions("Qwen3Model"), 151665.0 * 4096 / 1e9, 1e-6);
}

}  // namespace
}  // namespace foretell
