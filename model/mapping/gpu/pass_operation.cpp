#include "model/mapping/gpu/pass_operation.hpp"

#include <algorithm>
#include <variant>

#include "model/base/text.hpp"

namespace foretell {
namespace {

bool has_no_parameters(const Op& op) {
  const auto function = op.attributes.find("function");
  return function != op.attributes.end() &&
         function->second == Attribute(std::string("MeanVariance"));
}

}  // namespace

bool is_norm(const Op& op) { return ends_with(op.kind, "Norm") || has_no_parameters(op); }

std::string pass_operation(const Op& op, const Tensor& operand) {
  if (!has_no_parameters(op)) return op.kind;
  const Shape& axes = std::get<Shape>(op.attributes.at("axes"));
  const auto last = static_cast<std::int64_t>(operand.shape.size()) - 1;
  return axes == Shape{last} || axes == Shape{-1} ? "LayerNorm" : op.kind;
}

std::int64_t pass_row(const Op& op, const Shape& shape) {
  if (shape.empty() || op.kind == "BatchNorm") return 1;
  const auto groups = op.attributes.find("groups");
  if (op.kind != "GroupNorm" || groups == op.attributes.end()) return shape.back();
  const std::int64_t rows = shape[0] * std::get<std::int64_t>(groups->second);
  return std::max<std::int64_t>(1, element_count(shape) / std::max<std::int64_t>(1, rows));
}

}  // namespace foretell
