#include "model/mapping/neuron/image.hpp"

#include <algorithm>

#include "model/mapping/neuron/neuron_fusion.hpp"
#include "workloads/ir/attributes.hpp"

namespace foretell {
namespace {

constexpr std::size_t kMinAxes = 3;
constexpr std::size_t kMaxAxes = 5;

// Gradients of what works on images.
bool is_image_kind(const Op& op) {
  if (neuron_fusion().is("images", op.kind)) return true;
  if (op.kind != "Gradient") return false;
  return neuron_fusion().is("gradients_of_images", text_of(op, "of"));
}

bool is_read_as_image(const Graph& graph, TensorId id) {
  const std::vector<OpId>& readers = graph.tensor(id).consumers;
  return std::any_of(readers.begin(), readers.end(), [&](OpId reader) {
    const Op& op = graph.op(reader);
    return op.inputs.front() == id && (is_image_kind(op) || op.kind == "ConvWeightGradient");
  });
}

}  // namespace

bool is_image(const Graph& graph, TensorId id) {
  while (true) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.shape.size() < kMinAxes || tensor.shape.size() > kMaxAxes) return false;
    if (is_read_as_image(graph, id)) return true;
    if (tensor.producer == kNoId) return false;
    const Op& op = graph.op(tensor.producer);
    if (is_image_kind(op)) return true;
    const Shape& from = graph.tensor(op.inputs.front()).shape;
    const bool keeps =
        neuron_fusion().is("keep_images", op.kind) && from.size() == tensor.shape.size();
    const bool flattens = op.kind == "Reshape" && from.size() > 1 && from[0] == tensor.shape[0] &&
                          from[1] == tensor.shape[1];
    if (!keeps && !flattens) return false;
    id = op.inputs.front();
  }
}

bool touches_image(const Graph& graph, const Op& op) {
  return is_image(graph, op.outputs.front()) || is_image(graph, op.inputs.front());
}

ImageShape::ImageShape(const Shape& shape) {
  if (!shape.empty()) images = shape[0];
  if (shape.size() > 1) channels = shape[1];
  if (shape.size() == kMinAxes) width = shape[2];
  if (shape.size() > kMinAxes) height = shape[2];
  for (std::size_t axis = kMinAxes; axis < shape.size(); ++axis) width *= shape[axis];
}

std::vector<PixelGroup> pixel_groups(const ImageShape& input, const ImageShape& output,
                                     const ImageWindow& window, std::int64_t most) {
  std::vector<PixelGroup> groups;
  const std::int64_t at_once = most / output.pixels();
  if (at_once >= 1) {
    for (std::int64_t image = 0; image < output.images; image += at_once) {
      const std::int64_t count = std::min(at_once, output.images - image);
      groups.push_back({image * output.pixels(), count * output.pixels(), image * input.pixels(),
                        (image + count) * input.pixels() - 1, count * output.height});
    }
    return groups;
  }
  const std::int64_t rows = std::max<std::int64_t>(1, most / output.width);
  for (std::int64_t image = 0; image < output.images; ++image) {
    for (std::int64_t row = 0; row < output.height; row += rows) {
      const std::int64_t count = std::min(rows, output.height - row);
      const auto input_row = [&](std::int64_t at) {
        return std::clamp<std::int64_t>(at, 0, input.height - 1);
      };
      const std::int64_t above = input_row(row * window.stride - window.pad);
      const std::int64_t below =
          input_row((row + count - 1) * window.stride - window.pad + window.kernel - 1);
      const std::int64_t base = image * input.pixels();
      // Rows of more pixels than a group has are cut.
      for (std::int64_t column = 0; column < output.width; column += most) {
        const std::int64_t columns = std::min(most, output.width - column);
        groups.push_back({image * output.pixels() + row * output.width + column, count * columns,
                          base + above * input.width, base + (below + 1) * input.width - 1, count});
      }
    }
  }
  return groups;
}

}  // namespace foretell
