// The architectures that can be imported: how each one spells its config.json.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/import/hf/config/json_fields.hpp"
#include "workloads/import/hf/config/model_config.hpp"

namespace foretell {

// What comes after the class prefix in `architectures`: "ForMaskedLM" in "BertForMaskedLM".
struct HeadName {
  std::string_view suffix;
  Head head;
};

struct ModelType {
  std::string model_type;       // "bert"
  std::string class_prefix;     // "Bert"; "": no class is known
  std::vector<HeadName> heads;  // the first is the plain model; none: generates, whatever it says
  std::function<void(JsonFields& fields, ModelConfig* config)> read;
  bool tied_embeddings;  // when tie_word_embeddings is not stated
};

// Largest sizes that are accepted: far above every published network, far below what overflows.
inline constexpr std::int64_t kMaxLayers = 4096;
inline constexpr std::int64_t kMaxHeads = 4096;
inline constexpr std::int64_t kMaxWidth = 1 << 20;
inline constexpr std::int64_t kMaxVocab = 1 << 24;
inline constexpr std::int64_t kMaxPositions = 1 << 24;
inline constexpr std::int64_t kMaxSequence = 1 << 17;  // where a network itself sets no limit
inline constexpr std::int64_t kMaxPixels = 1 << 16;    // along a side
inline constexpr std::int64_t kMaxFrames = 1 << 14;

// encoder_config.cpp: BERT, RoBERTa, CamemBERT, XLM-RoBERTa, DistilBERT, ALBERT, ELECTRA,
// ModernBERT.
std::vector<ModelType> encoder_model_types();
// decoder_config.cpp: GPT-2, GPT-J, GPT-NeoX, OPT, BLOOM, Llama, Mistral, Qwen2, Qwen3.
std::vector<ModelType> decoder_model_types();
// Decoders of layers that differ (decoder_parts.hpp) and that no file describes (architecture.hpp),
// by what their layers have: networks_plain.cpp, networks_dense.cpp, networks_experts.cpp,
// networks_grouped.cpp, networks_latent.cpp, networks_linear.cpp, networks_scans.cpp.
std::vector<ModelType> plain_network_types();
std::vector<ModelType> grouped_network_types();
std::vector<ModelType> scan_network_types();
std::vector<ModelType> dense_network_types();
std::vector<ModelType> expert_network_types();
std::vector<ModelType> latent_network_types();
std::vector<ModelType> linear_network_types();
// encoder_decoder_config.cpp: T5 and Flan-T5, Whisper and Distil-Whisper, T5Gemma.
std::vector<ModelType> encoder_decoder_types();

// vision_config.cpp: ResNet, VGG, U-Net, YOLO v4, OpenPose.
std::vector<ModelType> vision_model_types();
// vision_transformer_config.cpp: ViT, DINOv2, Swin, SigLIP, CLIP, Perceiver.
std::vector<ModelType> vision_transformer_model_types();
// diffusion_config.cpp: the networks of Stable Diffusion, and pipelines of networks.
std::vector<ModelType> diffusion_model_types();
// denoiser_config.cpp: transformers that make images and videos.
std::vector<ModelType> denoiser_model_types();

// Notes a problem unless `key` names a known activation function.
Activation read_activation(JsonFields& fields, std::string_view key);

// The number of classes: as stated, else as many as the file names, else two.
void read_labels(JsonFields& fields, ModelConfig* config);

}  // namespace foretell
