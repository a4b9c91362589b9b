// Position information that enters the attention of a decoder.
#include "workloads/ir/operators/families.hpp"

namespace foretell::operators {

// x [B, heads, S, dim] and positions [B, S]; the first `dim` columns of every head are rotated.
std::vector<Shape> rope_shapes(const OpView& op) {
  const Shape& x = op.input(0);
  const std::int64_t dim = op.integer("dim");
  if (x.size() != 4 || op.input(1) != Shape{x[0], x[2]}) {
    op.fail("needs x [batch, heads, tokens, columns] and positions [batch, tokens], got " +
            to_string(x) + " and " + to_string(op.input(1)));
  }
  if (dim < 2 || dim % 2 != 0 || dim > x[3]) {
    op.fail("cannot rotate " + std::to_string(dim) + " of " + std::to_string(x[3]) + " columns");
  }
  return {x};
}

// Per rotated element: times cosine, its partner times sine, and their sum.
double rope_flops(const OpView& op) {
  const Shape& x = op.input(0);
  return 3.0 * static_cast<double>(element_count({x[0], x[1], x[2], op.integer("dim")}));
}

// Per score: the slope of its head times the distance, and the addition.
double alibi_flops(const OpView& op) {
  return 2.0 * static_cast<double>(element_count(op.input(0)));
}

}  // namespace foretell::operators
