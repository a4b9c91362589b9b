// Transformer blocks with the norm in front, as vision transformers and CLIP have them.
#pragma once

#include <string>

#include "workloads/import/hf/attention.hpp"
#include "workloads/import/hf/block_builder.hpp"
#include "workloads/import/hf/config/model_config.hpp"

namespace foretell {

// x [batch, length, hidden] through all blocks of the tower, whose operators are called after
// `scope` and whose numbers go on from `first_layer`. `scaled`: a weight for each column of what a
// block adds. `positions`: queries and keys are rotated by them.
TensorId pre_norm_tower(BlockBuilder* block, const std::string& scope, TensorId x,
                        const TowerConfig& tower, const ScoreRule& rule, std::int32_t first_layer,
                        bool scaled = false, TensorId positions = kNoId);

// One token of every sequence: [batch, length, hidden] -> [batch, hidden].
TensorId take_token(BlockBuilder* block, const std::string& name, TensorId x, std::int64_t token);

// An image [batch, channels, height, width] as tokens [batch, height * width, channels].
TensorId pixels_to_tokens(BlockBuilder* block, const std::string& name, TensorId x);

// A weight [1, ..] for every one of `batch` samples.
TensorId for_all(BlockBuilder* block, const std::string& name, TensorId weight, std::int64_t batch);

// Texts of the tower's vocabulary, [texts, length, hidden] after the last norm.
TensorId text_tower(BlockBuilder* block, const std::string& scope, const TextConfig& text,
                    std::int32_t first_layer);

}  // namespace foretell
