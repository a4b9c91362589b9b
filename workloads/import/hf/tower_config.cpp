// vision_config: the transformer over patches of images beside a decoder.
#include <algorithm>

#include "workloads/import/hf/parts_reader.hpp"

namespace foretell {
namespace {

std::int64_t first_of(JsonFields& fields, const std::vector<std::string_view>& keys,
                      std::int64_t most, std::int64_t otherwise) {
  for (const std::string_view key : keys) {
    if (fields.has(key)) return fields.size(key, most);
  }
  return otherwise;
}

std::int64_t merged_patches(JsonFields& fields) {
  if (fields.is_list("merge_kernel_size"))
    return std::max<std::int64_t>(1, fields.sizes("merge_kernel_size", 64).front());
  return first_of(fields, {"spatial_merge_size", "pooling_kernel_size"}, 64, 1);
}

}  // namespace

void read_vision_tower(JsonFields& fields, ModelConfig* config) {
  if (!fields.is_object("vision_config")) return;
  JsonFields vision = fields.inside("vision_config");
  TowerPart tower;
  tower.name = "vision tower";
  tower.layers =
      first_of(vision, {"vt_num_hidden_layers", "depth", "num_hidden_layers"}, kMaxLayers, 27);
  tower.hidden = first_of(vision, {"vt_hidden_size", "embed_dim", "hidden_size"}, kMaxWidth, 1152);
  tower.heads = first_of(vision, {"vt_num_attention_heads", "num_heads", "num_attention_heads"},
                         kMaxHeads, 16);
  tower.attention_width = first_of(vision, {"qkv_hidden_size"}, kMaxWidth, tower.hidden);
  const double ratio = vision.number_or("mlp_ratio", 4);
  tower.intermediate =
      first_of(vision, {"vt_intermediate_size", "intermediate_size"}, kMaxWidth,
               std::max<std::int64_t>(
                   1, static_cast<std::int64_t>(ratio * static_cast<double>(tower.hidden))));
  const std::string type = vision.text_or("model_type", "");
  tower.gated = type == "pixtral" || type == "gemma4_vision" || type == "qwen2_5_vl";
  tower.bias = type != "pixtral" && type != "gemma4_vision";
  tower.patch = first_of(vision, {"patch_size", "spatial_patch_size"}, kMaxWidth, 14);
  const std::int64_t channels =
      first_of(vision, {"in_channels", "in_chans", "num_channels"}, 64, 3);
  tower.patch_elements =
      tower.patch * tower.patch * channels * first_of(vision, {"temporal_patch_size"}, 64, 1);
  tower.positions =
      first_of(vision, {"num_position_embeddings", "position_embedding_size"}, kMaxPositions, 0);
  if (tower.positions == 0 && vision.has("init_pos_emb_height")) {
    tower.positions = vision.size("init_pos_emb_height", 1 << 14) *
                      vision.size_or("init_pos_emb_width", 1 << 14, 64);
  }
  if (type == "gemma4_vision") tower.positions *= 2;  // rows and columns of the image
  if (tower.positions == 0 && type == "siglip_vision_model" && vision.has("image_size")) {
    const std::int64_t side = vision.size("image_size", kMaxPixels) / tower.patch;
    tower.positions = side * side;
  }
  tower.merge = merged_patches(vision);
  tower.output = config->hidden;
  const bool averages = type == "gemma4_vision" || type == "siglip_vision_model";
  tower.merger_width = averages ? 0 : tower.hidden * tower.merge * tower.merge;
  if (averages) tower.merge = 1;  // neighbours are averaged before the projection
  tower.merger_copies =
      1 + static_cast<std::int64_t>(vision.is_list("deepstack_visual_indexes")
                                        ? vision.integers("deepstack_visual_indexes").size()
                                        : 0);
  config->parts_of_decoder.tower = tower;
  fields.take_problems(vision);
}

std::int64_t parameters_of(const TowerPart& tower) {
  if (tower.name.empty()) return 0;
  const std::int64_t matrices = tower.gated ? 3 : 2;
  const std::int64_t biases =
      tower.bias ? 3 * tower.attention_width + 2 * tower.hidden + tower.intermediate : 0;
  const std::int64_t layer = 4 * tower.hidden * tower.attention_width +
                             matrices * tower.hidden * tower.intermediate + biases +
                             (tower.bias ? 4 : 2) * tower.hidden;
  const std::int64_t in = tower.hidden * tower.merge * tower.merge;
  const std::int64_t merger = tower.merger_width == 0
                                  ? in * tower.output
                                  : tower.merger_width * (in + tower.output + 1) + tower.output;
  return tower.layers * layer + tower.hidden * (tower.patch_elements + 1 + tower.positions) +
         tower.merger_copies * merger;
}

}  // namespace foretell
