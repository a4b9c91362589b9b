#include "model/mapping/gpu/packed_tokens.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {

void pack_tokens(double padding, Graph* graph) {
  constexpr std::size_t kAxes = 3;
  for (std::size_t i = 0; i < graph->tensors().size(); ++i) {
    const auto id = static_cast<TensorId>(i);
    const Tensor& tensor = graph->tensor(id);
    const bool flows = tensor.kind == TensorKind::kActivation || tensor.kind == TensorKind::kOutput;
    if (!flows || tensor.shape.size() != kAxes) continue;
    Shape packed = tensor.shape;
    const double left = static_cast<double>(packed[1]) * (1 - padding);
    packed[1] = std::max<std::int64_t>(1, std::llround(left));
    graph->set_shape(id, std::move(packed));
  }
}

}  // namespace foretell
