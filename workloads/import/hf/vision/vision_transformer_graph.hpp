// Transformers that look at images.
//
// ViT: Dosovitskiy et al. 2021. CLIP: Radford et al. 2021, images and texts in one call. Perceiver
// IO: Jaegle et al. 2022, as the transformers library builds it. DINOv2: Oquab et al. 2023; DINOv3:
// Simeoni et al. 2025. SigLIP: Zhai et al. 2023, both towers or that of images alone. Swin: Liu et
// al. 2021 and, with norms after each part and cosine attention, 2022; what the shift adds to
// scores is an input.
#pragma once

#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// UserError where the size of the images does not fit the network.
Graph build_mixer(const ModelConfig& config, const Binding& binding);
Graph build_vit(const ModelConfig& config, const Binding& binding);
Graph build_clip(const ModelConfig& config, const Binding& binding);
Graph build_clip_text(const ModelConfig& config, const Binding& binding);
Graph build_dinov2(const ModelConfig& config, const Binding& binding);
Graph build_dinov3(const ModelConfig& config, const Binding& binding);
Graph build_siglip(const ModelConfig& config, const Binding& binding);
Graph build_siglip_tower(const ModelConfig& config, const Binding& binding);
Graph build_swin(const ModelConfig& config, const Binding& binding);
Graph build_perceiver(const ModelConfig& config, const Binding& binding);

}  // namespace foretell
