// Embedding lookup: table [V, H] and ids [..] yield [.., H].
#include "workloads/ir/operators/families.hpp"

namespace foretell::operators {

std::vector<Shape> gather_shapes(const OpView& op) {
  if (op.rank(0) != 2) op.fail("the table must be [rows, columns], got " + to_string(op.input(0)));
  Shape result = op.input(1);
  result.push_back(op.input(0)[1]);
  return {result};
}

}  // namespace foretell::operators
