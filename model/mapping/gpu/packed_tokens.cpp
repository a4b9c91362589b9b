#include "model/mapping/gpu/packed_tokens.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {

void pack_tokens(double padding, Graph* graph) {
  const std::vector<Tensor>& tensors = graph->tensors();
  const auto ids = std::find_if(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return tensor.kind == TensorKind::kInput && tensor.shape.size() == 2;
  });
  if (ids == tensors.end()) return;
  const Shape sequences = ids->shape;
  const double left = static_cast<double>(sequences[1]) * (1 - padding);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    const bool flows = tensor.kind == TensorKind::kActivation || tensor.kind == TensorKind::kOutput;
    if (!flows || tensor.shape.size() != 3) continue;
    if (!std::equal(sequences.begin(), sequences.end(), tensor.shape.begin())) continue;
    Shape packed = tensor.shape;
    packed[1] = std::max<std::int64_t>(1, std::llround(left));
    graph->set_shape(static_cast<TensorId>(i), std::move(packed));
  }
}

}  // namespace foretell
