#include "model/mapping/gpu/pass_operation.hpp"

#include <algorithm>

#include "model/base/text.hpp"
#include "workloads/ir/attributes.hpp"

namespace foretell {
namespace {

bool has_no_parameters(const Op& op) { return text_of(op, "function", "") == "MeanVariance"; }

}  // namespace

bool is_norm(const Op& op) { return ends_with(op.kind, "Norm") || has_no_parameters(op); }

std::string pass_operation(const Op& op, const Tensor& operand) {
  if (!has_no_parameters(op)) return op.kind;
  const Shape& axes = integers_of(op, "axes");
  const auto last = static_cast<std::int64_t>(operand.shape.size()) - 1;
  return axes == Shape{last} || axes == Shape{-1} ? "LayerNorm" : op.kind;
}

std::int64_t pass_row(const Op& op, const Shape& shape) {
  if (shape.empty() || op.kind == "BatchNorm") return 1;
  if (op.kind != "GroupNorm" || !has_attribute(op, "groups")) return shape.back();
  const std::int64_t rows = shape[0] * integer_of(op, "groups");
  return std::max<std::int64_t>(1, element_count(shape) / std::max<std::int64_t>(1, rows));
}

}  // namespace foretell
