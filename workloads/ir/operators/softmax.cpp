// Softmax: maximum, subtraction, exponential, sum and division, five flops per element.
#include "workloads/ir/operators/families.hpp"

namespace foretell::operators {

std::vector<Shape> softmax_shapes(const OpView& op) {
  op.axis("axis", op.rank(0));  // must be an axis of the input
  return {op.input(0)};
}

double softmax_flops(const OpView& op) {
  return 5.0 * static_cast<double>(element_count(op.input(0)));
}

}  // namespace foretell::operators
