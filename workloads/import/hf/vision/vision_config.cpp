// config.json of networks that look at images. ResNet's is that of the transformers library; VGG,
// U-Net, YOLO v4 and v5 and MobileNetV3 have none, so theirs has the fields that ResNet's has.
#include <utility>

#include "workloads/import/hf/config/config_readers.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxBlocks = 1024;

void read_image(JsonFields& fields, ModelConfig* config) {
  config->family = Family::kVision;
  config->layers = config->heads = config->hidden = 1;  // no blocks that are cut or shared
  config->vision.image_size = fields.size_or("image_size", kMaxPixels, 224);
  config->vision.channels = fields.size_or("num_channels", kMaxWidth, 3);
  config->labels = fields.size_or("num_labels", kMaxWidth, 1000);
}

void read_stages(JsonFields& fields, ModelConfig* config) {
  config->vision.depths = fields.sizes("depths", kMaxBlocks);
  config->vision.widths = fields.sizes("hidden_sizes", kMaxWidth);
  if (config->vision.depths.size() != config->vision.widths.size())
    fields.problem("hidden_sizes", "has another number of stages than depths");
}

void read_resnet(JsonFields& fields, ModelConfig* config) {
  read_image(fields, config);
  read_stages(fields, config);
  config->embedding = fields.size_or("embedding_size", kMaxWidth, 64);
  const std::string block = fields.text("layer_type");
  if (block != "basic" && block != "bottleneck")
    fields.problem("layer_type", "is '" + block + "'; it must be basic or bottleneck");
  config->vision.bottleneck = block == "bottleneck";
  config->vision.expansion = fields.size_or("width_factor", kMaxBlocks, 1);
}

void read_vgg(JsonFields& fields, ModelConfig* config) {
  read_image(fields, config);
  read_stages(fields, config);
  config->intermediate = fields.size_or("intermediate_size", kMaxWidth, 4096);
}

void read_unet(JsonFields& fields, ModelConfig* config) {
  read_image(fields, config);
  config->vision.widths = fields.sizes("hidden_sizes", kMaxWidth);
}

void read_yolo(JsonFields& fields, ModelConfig* config) {
  read_image(fields, config);
  read_stages(fields, config);
  if (config->vision.depths.size() != 5)
    fields.problem("depths", "must have five stages, of which three are looked at");
}

void read_mobilenet(JsonFields& fields, ModelConfig* config) {
  read_image(fields, config);
  read_stages(fields, config);
  config->vision.strides = fields.sizes("strides", kMaxPixels);
  if (config->vision.strides.size() != config->vision.depths.size())
    fields.problem("strides", "has another number of stages than depths");
  config->vision.expansion = fields.size_or("expand_ratio", kMaxBlocks, 6);
}

// A stage of each width; its first block counts for the paths that join them, too.
void read_yolov5(JsonFields& fields, ModelConfig* config) {
  read_image(fields, config);
  read_stages(fields, config);
  if (config->vision.depths.size() < 2)
    fields.problem("depths", "must have two stages or more: those after the first are looked at");
}

void read_yolov5_seg(JsonFields& fields, ModelConfig* config) {
  read_yolov5(fields, config);
  config->vision.second_labels = fields.size("num_prototypes", kMaxWidth);
}

// Lists have an entry for each block; blocks are numbered from 1.
void read_mobilenet_v3(JsonFields& fields, ModelConfig* config) {
  read_image(fields, config);
  VisionConfig& vision = config->vision;
  vision.widths = fields.sizes("hidden_sizes", kMaxWidth);
  vision.strides = fields.sizes("strides", kMaxPixels);
  vision.blocks.inner = fields.sizes("expanded_sizes", kMaxWidth);
  vision.blocks.kernels = fields.sizes("kernel_sizes", kMaxPixels);
  for (const auto& [key, list] :
       {std::pair{"strides", &vision.strides}, std::pair{"expanded_sizes", &vision.blocks.inner},
        std::pair{"kernel_sizes", &vision.blocks.kernels}}) {
    if (list->size() != vision.widths.size())
      fields.problem(key, "has another number of blocks than hidden_sizes");
  }
  vision.blocks.weighted = fields.sizes("weighted_blocks", kMaxBlocks);
  vision.blocks.swish_from = fields.size("hard_swish_from", kMaxBlocks);
  config->embedding = fields.size("embedding_size", kMaxWidth);
  config->intermediate = fields.size("last_size", kMaxWidth);
}

void read_densenet(JsonFields& fields, ModelConfig* config) {
  read_image(fields, config);
  config->vision.depths = fields.sizes("depths", kMaxBlocks);
  config->vision.growth = fields.size("growth_rate", kMaxWidth);
}

void read_openpose(JsonFields& fields, ModelConfig* config) {
  read_image(fields, config);
  read_stages(fields, config);
  config->vision.stages = fields.size("num_stages", kMaxBlocks);
  config->vision.second_labels = fields.size("num_second_labels", kMaxWidth);
}

}  // namespace

std::vector<ModelType> vision_model_types() {
  const std::vector<HeadName> heads = {{"ForImageClassification", Head::kNone}};
  return {{"resnet", "ResNet", heads, read_resnet, false},
          {"vgg", "VGG", heads, read_vgg, false},
          {"timm_vgg", "TimmVGG", heads, read_vgg, false},
          {"unet", "UNet", {{"Model", Head::kNone}}, read_unet, false},
          {"yolov4", "YoloV4", {{"Model", Head::kNone}}, read_yolo, false},
          {"yolov5", "YoloV5", {{"Model", Head::kNone}}, read_yolov5, false},
          {"yolov5_seg", "YoloV5Seg", {{"Model", Head::kNone}}, read_yolov5_seg, false},
          {"yolov5_cls", "YoloV5Cls", heads, read_yolov5, false},
          {"mobilenet_v2", "MobileNetV2", heads, read_mobilenet, false},
          {"mobilenet_v3", "MobileNetV3", heads, read_mobilenet_v3, false},
          {"densenet", "DenseNet", heads, read_densenet, false},
          {"inception_v3", "InceptionV3", heads, read_image, false},
          {"openpose", "OpenPose", {{"Model", Head::kNone}}, read_openpose, false}};
}

}  // namespace foretell
