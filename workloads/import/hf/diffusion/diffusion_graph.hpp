// Networks that image generators are made of, as the diffusers library builds them.
//
// UNet with cross attention and decoder of latent images: Rombach et al. 2022; SDXL: Podell et al.
// 2023; transformers: denoiser_config.hpp. One call is one step of the denoising of `batch` latent
// images.
#pragma once

#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// UserError where the size of the images does not fit the network.
Graph build_denoising_unet(const ModelConfig& config, const Binding& binding);
Graph build_image_decoder(const ModelConfig& config, const Binding& binding);
// One tile of a video.
Graph build_video_decoder(const ModelConfig& config, const Binding& binding);
// Full tiles that have as many latent positions as all those of a video of these sizes.
double tiles_of_video(const ModelConfig& config, const VisionConfig& sizes);
// Transformers whose tokens attend to one another and then to the text: PixArt, HunyuanDiT, SANA,
// Wan.
Graph build_cross_denoiser(const ModelConfig& config, const Binding& binding);
// Transformers whose image and text tokens attend to one another together: Stable Diffusion 3,
// Flux, Qwen-Image, CogVideoX, HunyuanVideo.
Graph build_joint_denoiser(const ModelConfig& config, const Binding& binding);

// Pixels of the latent image.
struct LatentSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
};
// Both are multiples of `multiple`; UserError where pixels of the image are left over.
LatentSize latent_size(const ModelConfig& config, const Binding& binding, std::int64_t multiple);

}  // namespace foretell
