// Images on a NeuronCore: [batch, channels, one to three spatial axes] with channels on the
// partitions and pixels along them, all images one after the other.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/ir/graph.hpp"

namespace foretell {

// Whether a tensor lies in SBUF as an image: a convolution, a pooling or a norm of channels reads
// or makes it, alone or through element-wise operators.
bool is_image(const Graph& graph, TensorId id);
// Whether the operator reads or makes one.
bool touches_image(const Graph& graph, const Op& op);

// Axes beyond the first spatial one count as columns.
struct ImageShape {
  std::int64_t images = 1, channels = 1, height = 1, width = 1;

  explicit ImageShape(const Shape& shape);
  std::int64_t pixels() const { return height * width; }
  std::int64_t all_pixels() const { return images * pixels(); }
};

// Pixels of a result that one accumulation group computes, and those of the input that it reads.
struct PixelGroup {
  std::int64_t first = 0, count = 0;
  std::int64_t first_input = 0, last_input = 0;
  std::int64_t rows = 0;  // of the result
};

struct ImageWindow {
  std::int64_t kernel = 1;  // extent along the first spatial axis, gaps included
  std::int64_t stride = 1;
  std::int64_t pad = 0;
};

// Groups of at most `most` pixels: whole rows of the result, whole images where these are small.
std::vector<PixelGroup> pixel_groups(const ImageShape& input, const ImageShape& output,
                                     const ImageWindow& window, std::int64_t most);

}  // namespace foretell
