// Pieces that convolutional networks are made of.
#pragma once

#include <string>
#include <vector>

#include "workloads/ir/graph.hpp"

namespace foretell {

class ImageBuilder {
 public:
  explicit ImageBuilder(std::string name) : graph_(std::move(name)) {}

  Graph& graph() { return graph_; }
  Graph take() { return std::move(graph_); }

  struct Window {
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    bool padded = true;  // so that the stride alone makes the image smaller
  };
  // A square convolution.
  TensorId conv(const std::string& name, TensorId x, std::int64_t channels, Window window,
                bool bias);
  // Factor and offset per channel; mean and variance are part of them.
  TensorId batch_norm(const std::string& name, TensorId x);
  // Convolution without bias, batch norm and, unless empty, an activation.
  TensorId conv_norm(const std::string& name, TensorId x, std::int64_t channels, Window window,
                     const std::string& activation);
  // Relu, Silu …, or a function of the general element-wise operator.
  TensorId activate(const std::string& name, TensorId x, const std::string& function);
  TensorId max_pool(const std::string& name, TensorId x, std::int64_t kernel, std::int64_t stride,
                    std::int64_t pad);
  TensorId concat(const std::string& name, std::vector<TensorId> parts);
  // The image twice as large.
  TensorId upsample(const std::string& name, TensorId x);
  // [batch, ..] -> [batch, features].
  TensorId flatten(const std::string& name, TensorId x);
  TensorId linear(const std::string& name, TensorId x, std::int64_t out);
  TensorId op(const std::string& name, std::string_view kind, std::vector<TensorId> inputs,
              std::map<std::string, Attribute> attributes = {});
  const Shape& shape(TensorId x) const { return graph_.tensor(x).shape; }

 private:
  Graph graph_;
};

}  // namespace foretell
