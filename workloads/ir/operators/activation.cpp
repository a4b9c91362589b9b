// Activation functions of one tensor. Flops per element follow the written formula, every
// transcendental function counting as one.
#include "workloads/ir/operators/families.hpp"

namespace foretell::operators {

std::vector<Shape> unary_shapes(const OpView& op) { return {op.input(0)}; }

double one_flop(const OpView& op) { return static_cast<double>(element_count(op.input(0))); }

double gelu_flops(const OpView& op) {
  const std::string& approximate = op.text("approximate");
  if (approximate != "none" && approximate != "tanh") {
    op.fail("attribute 'approximate' is '" + approximate + "'; allowed are 'none' and 'tanh'");
  }
  // none: 0.5 * x * (1 + erf(x / sqrt 2)); tanh: 0.5 * x * (1 + tanh(c * (x + d * x * x * x))).
  const double per_element = approximate == "none" ? 5.0 : 9.0;
  return per_element * one_flop(op);
}

double silu_flops(const OpView& op) { return 2.0 * one_flop(op); }

}  // namespace foretell::operators
