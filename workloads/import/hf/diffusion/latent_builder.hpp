// Pieces that the networks of image generators have in common.
#pragma once

#include <string>

#include "workloads/import/hf/block_builder.hpp"

namespace foretell {

class LatentBuilder : public BlockBuilder {
 public:
  LatentBuilder(std::string name, std::int64_t groups)
      : BlockBuilder(std::move(name)), groups_(groups) {}

  // A square convolution with bias, padded so that the stride alone makes the image smaller.
  TensorId conv(const std::string& name, TensorId x, std::int64_t channels, std::int64_t kernel,
                std::int64_t stride = 1);
  TensorId group_norm(const std::string& name, TensorId x);
  // Norm, Silu, convolution, twice, and the image itself added; `time` [batch, width] joins in
  // between unless it is kNoId.
  TensorId resnet(const std::string& name, TensorId x, TensorId time, std::int64_t channels);
  // The image twice as large, and a convolution.
  TensorId upsample(const std::string& name, TensorId x);
  // Two linear layers with Silu in between.
  TensorId condition(const std::string& name, TensorId x, std::int64_t width);

 private:
  std::int64_t groups_;
};

}  // namespace foretell
