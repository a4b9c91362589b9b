// Transformers that remove noise from latent images and videos step by step, as the diffusers
// library describes them.
//
// PixArt: Chen et al. 2023. HunyuanDiT: Li et al. 2024. MMDiT (Stable Diffusion 3): Esser et al.
// 2024. Flux: Black Forest Labs 2024. CogVideoX: Yang et al. 2024. HunyuanVideo: Kong et al. 2024.
// SANA: Xie et al. 2024. Wan: Wan Team 2025. Qwen-Image: Wu et al. 2025.
#pragma once

#include <cstdint>
#include <vector>

namespace foretell {

// How queries and keys are normalised before they meet.
enum class QueryNorm {
  kNone,
  kRmsPerHead,
  kLayerPerHead,
  kRmsAcrossHeads,  // all heads of a token together
};

struct DenoiserConfig {
  // Blocks in which image and text tokens attend to one another with weights of their own, then
  // blocks in which one set of weights takes both, attention and feed-forward side by side.
  std::int64_t joint_blocks = 0;
  std::int64_t single_blocks = 0;
  // Blocks whose image tokens, besides, attend to one another alone (Stable Diffusion 3.5).
  std::vector<std::int64_t> twice;
  bool one_weight_set = false;       // joint blocks have one set of weights for both (CogVideoX)
  bool last_drops_text = false;      // what the last joint block makes of the text is not needed
  std::int64_t refiner_blocks = 0;   // that the text passes through alone first (HunyuanVideo)
  std::int64_t condition_width = 0;  // of the vector of the time; that of the tokens when 0
  std::int64_t pooled_width = 0;     // of a vector of the whole text; 0: none
  bool text_norm = false;            // before the text becomes as wide as the network
  bool guided_inside = false;        // the strength of guidance is a condition; no second call

  // Blocks in which image tokens attend to one another, then to the text.
  std::int64_t cross_heads = 0;   // of the latter; 0: as the former
  bool linear_attention = false;  // of the former: keys times values first (SANA)
  bool convolving = false;        // the feed-forward part is a gated convolution (SANA)
  bool shifts_per_block = false;  // a block makes them from the condition itself (HunyuanDiT)
  bool skips = false;             // blocks of the second half see those of the first
  bool cross_norm = false;        // a norm before the text is looked at
  bool qkv_bias = true;
  // Ranks that share the tokens of a sample divide those of the text, too, and exchange in this
  // attention as in that before it; else each looks at the whole text by itself.
  bool divides_text = false;
  // For a second text encoder, whose tokens follow those of the first.
  std::int64_t second_text_width = 0;
  std::int64_t second_text_length = 0;

  // In FP32 whatever the rest runs in, as the library's classes of these networks have it: norms
  // (FP32LayerNorm), and besides what shifts, scales and gates them. Linear attention always is.
  bool wide_norms = false;
  bool wide_shifts = false;

  QueryNorm query_norm = QueryNorm::kNone;
  bool rotary_cross = false;  // queries are rotated before they meet the text, too
  bool rotary = false;        // queries and keys of image tokens are rotated; else:
  bool sines = false;         // positions that are computed once are added to the tokens
  bool packed = false;        // the pipeline hands over patches, and takes them back
};

}  // namespace foretell
