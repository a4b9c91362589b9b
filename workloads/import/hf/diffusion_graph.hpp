// Networks that image generators are made of, as the diffusers library builds them.
//
// UNet with cross attention and decoder of latent images: Rombach et al. 2022; SDXL: Podell et al.
// 2023. PixArt: Chen et al. 2023. One call is one step of the denoising of `batch` latent images.
#pragma once

#include "workloads/import/hf/model_config.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// UserError where the size of the images does not fit the network.
Graph build_denoising_unet(const ModelConfig& config, const Binding& binding);
Graph build_image_decoder(const ModelConfig& config, const Binding& binding);
Graph build_pixart(const ModelConfig& config, const Binding& binding);

// Height and width of the latent image; UserError where pixels are left over.
std::int64_t latent_side(const ModelConfig& config, const Binding& binding, std::int64_t multiple);

}  // namespace foretell
