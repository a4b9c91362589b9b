// Element-wise operators of two tensors, or of one tensor and a number.
#include "workloads/ir/operators/families.hpp"

namespace foretell::operators {

std::vector<Shape> elementwise_shapes(const OpView& op) {
  if (op.input_count() == 1) {
    op.number("scalar");  // the other operand: must be there, and a number
    return {op.input(0)};
  }
  if (op.has("scalar")) op.fail("has two inputs and a 'scalar': leave one of them out");
  Shape result;
  if (!broadcast(op.input(0), op.input(1), &result)) {
    op.fail("shapes " + to_string(op.input(0)) + " and " + to_string(op.input(1)) +
            " do not broadcast");
  }
  return {result};
}

double elementwise_flops(const OpView& op) {
  return static_cast<double>(element_count(elementwise_shapes(op).front()));
}

std::vector<Shape> causal_mask_shapes(const OpView& op) {
  const Shape& scores = op.input(0);
  if (scores.size() < 2) op.fail("needs scores [.., queries, keys], got " + to_string(scores));
  const std::int64_t queries = scores[scores.size() - 2];
  const std::int64_t keys = scores.back();
  const std::int64_t offset = op.integer("offset");
  if (offset < 0 || queries + offset > keys) {
    op.fail("offset " + std::to_string(offset) + " places " + std::to_string(queries) +
            " queries outside the " + std::to_string(keys) + " keys");
  }
  if (op.has("window") && op.integer("window") < 1) {
    op.fail("window is " + std::to_string(op.integer("window")) + ", needs to hold a key");
  }
  return {scores};
}

}  // namespace foretell::operators
