// Networks that look at images, as operator graphs over [batch, channels, height, width].
//
// ResNet: He et al. 2016, with the stride in the 3x3 convolution of a bottleneck (v1.5). VGG:
// Simonyan and Zisserman 2015. U-Net: Ronneberger et al. 2015, padded, with batch norm. YOLO v4:
// Bochkovskiy et al. 2020. OpenPose: Cao et al. 2017, the network of bodies. MobileNetV2: Sandler
// et al. 2018. Inception v3: Szegedy et al. 2016, without its auxiliary head. DenseNet: Huang et
// al. 2017.
#pragma once

#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/import/hf/vision/image_builder.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// UserError where the image is too small for the network, or of a size that it does not take.
Graph build_vision(const ModelConfig& config, const Binding& binding);

// In yolo_graph.cpp and yolov5_graph.cpp.
void build_yolo(const ModelConfig& config, ImageBuilder* builder, TensorId image);
void build_yolov5(const ModelConfig& config, ImageBuilder* builder, TensorId image);

// In mobilenetv3_graph.cpp.
void build_mobilenetv3(const ModelConfig& config, ImageBuilder* b, TensorId image);

// In classifier_graph.cpp.
void build_mobilenet(const ModelConfig& config, ImageBuilder* b, TensorId image);
void build_densenet(const ModelConfig& config, ImageBuilder* b, TensorId image);
void build_inception(const ModelConfig& config, ImageBuilder* b, TensorId image);

}  // namespace foretell
