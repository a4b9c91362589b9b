// config.json of networks that look at images. ResNet's is that of the transformers library; VGG,
// U-Net and YOLO v4 have none, so theirs has the fields that ResNet's has.
#include "workloads/import/hf/config_readers.hpp"

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
          {"mobilenet_v2", "MobileNetV2", heads, read_mobilenet, false},
          {"densenet", "DenseNet", heads, read_densenet, false},
          {"inception_v3", "InceptionV3", heads, read_image, false},
          {"openpose", "OpenPose", {{"Model", Head::kNone}}, read_openpose, false}};
}

}  // namespace foretell
