// Reductions along one axis: one flop per input element.
#include "workloads/ir/operators/families.hpp"

namespace foretell::operators {

std::vector<Shape> reduce_shapes(const OpView& op) {
  const std::int64_t axis = op.axis("axis", op.rank(0));
  Shape result = op.input(0);
  if (op.has("keep_dims") && op.integer("keep_dims") != 0) {
    result[static_cast<std::size_t>(axis)] = 1;
  } else {
    result.erase(result.begin() + axis);
  }
  return {result};
}

double reduce_flops(const OpView& op) { return static_cast<double>(element_count(op.input(0))); }

}  // namespace foretell::operators
