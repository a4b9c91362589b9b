// Images in the prompt of a decoder: what its tower makes of them.
//
// An image is patches of pixels, which a transformer reads image by image; merged or averaged
// neighbours become tokens, whose places in the prompt are kept for them. A video is one image for
// every frame, or for every two where a patch holds two frames.
#pragma once

#include <cstdint>

#include "workloads/import/hf/block_builder.hpp"
#include "workloads/import/hf/decoder/decoder_parts.hpp"

namespace foretell {

struct ModelConfig;

// One image, in patches along its sides; sides are rounded up to whole tokens.
struct PatchedImage {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t tokens = 0;  // of the decoder

  std::int64_t patches() const { return rows * columns; }
};
PatchedImage patched_image(const TowerPart& tower, std::int64_t height, std::int64_t width);

// `images` of them: [images, patches, numbers of a patch] -> [images, tokens, hidden]. Cores of a
// tensor-parallel copy share the width of its blocks where that divides evenly, which `ranks` says;
// else each computes all. The numbers of its layers go on from `first_layer`.
TensorId image_tokens(BlockBuilder* block, const TowerPart& tower, std::int64_t images,
                      const PatchedImage& image, std::int64_t ranks, std::int64_t first_layer);

// The tower alone, for `images` images; `tensor_parallel` as in Binding. UserError for a network
// without one.
Graph build_image_tower(const ModelConfig& config, std::int64_t images, const PatchedImage& image,
                        int tensor_parallel);

}  // namespace foretell
