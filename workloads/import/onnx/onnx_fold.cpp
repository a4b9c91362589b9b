// Folding of the small computations with which graphs work out shapes, indices and scales.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "workloads/import/onnx/onnx_graph.hpp"
#include "workloads/ir/operators.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxFolded = 1 << 16;

using Number = long double;
using Inputs = std::vector<const OnnxTensor*>;
using Result = std::optional<OnnxConstant>;

const OnnxConstant& value(const Inputs& inputs, std::size_t index) {
  return *inputs[index]->constant;
}

bool is_given(const Inputs& inputs, std::size_t index) {
  return index < inputs.size() && inputs[index] != nullptr;
}

std::vector<std::int64_t> integers_of(const OnnxConstant& constant) {
  std::vector<std::int64_t> result;
  for (const Number number : constant.values) {
    const auto limit = static_cast<Number>(std::numeric_limits<std::int64_t>::max());
    result.push_back(static_cast<std::int64_t>(std::clamp(number, -limit, limit)));
  }
  return result;
}

bool is_small(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || size > kMaxFolded) return false;
    count *= std::max<std::int64_t>(size, 1);
    if (count > kMaxFolded) return false;
  }
  return true;
}

std::int64_t count_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

// Position in a tensor of `shape` of the element at `position` of one that it broadcasts to.
std::size_t source_of(const Shape& shape, const Shape& result, std::int64_t position) {
  std::int64_t source = 0;
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t size = result[result.size() - 1 - i];
    const std::int64_t index = position % size;
    position /= size;
    if (i >= shape.size()) continue;
    const std::int64_t own = shape[shape.size() - 1 - i];
    if (own > 1) source += index * stride;
    stride *= own;
  }
  return static_cast<std::size_t>(source);
}

Result broadcast_all(const Inputs& inputs, bool is_integer,
                     const std::function<Number(const std::vector<Number>&)>& function) {
  Shape shape = value(inputs, 0).shape;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const Shape before = shape;
    if (!broadcast(before, value(inputs, i).shape, &shape)) return std::nullopt;
  }
  if (!is_small(shape)) return std::nullopt;
  OnnxConstant result{shape, {}, is_integer};
  std::vector<Number> arguments(inputs.size());
  for (std::int64_t p = 0; p < count_of(shape); ++p) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const OnnxConstant& input = value(inputs, i);
      arguments[i] = input.values[source_of(input.shape, shape, p)];
    }
    result.values.push_back(function(arguments));
  }
  return result;
}

Number divide(Number a, Number b, bool integers) {
  if (b == 0) return std::numeric_limits<Number>::quiet_NaN();
  return integers ? std::trunc(a / b) : a / b;
}

Number modulo(Number a, Number b, bool truncated) {
  if (b == 0) return std::numeric_limits<Number>::quiet_NaN();
  return truncated ? std::fmod(a, b) : a - b * std::floor(a / b);
}

Result elementwise(const OnnxNode& node, const Inputs& inputs) {
  const std::string& type = node.type;
  const bool integers = value(inputs, 0).is_integer;
  using Arguments = std::vector<Number>;
  const auto all = [&](bool is_integer, const std::function<Number(const Arguments&)>& function) {
    return broadcast_all(inputs, is_integer, function);
  };
  if (inputs.size() == 1) {
    if (type == "Neg") return all(integers, [](const Arguments& a) { return -a[0]; });
    if (type == "Abs") return all(integers, [](const Arguments& a) { return std::abs(a[0]); });
    if (type == "Floor") return all(false, [](const Arguments& a) { return std::floor(a[0]); });
    if (type == "Ceil") return all(false, [](const Arguments& a) { return std::ceil(a[0]); });
    if (type == "Sqrt") return all(false, [](const Arguments& a) { return std::sqrt(a[0]); });
    if (type == "Reciprocal")
      return all(false, [](const Arguments& a) { return divide(1, a[0], false); });
    if (type == "Not") return all(true, [](const Arguments& a) { return Number(a[0] == 0); });
    if (type == "Cast") {
      const std::int64_t to = node.integer("to", 1);
      const bool real = to == 1 || to == 10 || to == 11 || to == 16;
      return all(!real, [real](const Arguments& a) { return real ? a[0] : std::trunc(a[0]); });
    }
  }
  if (inputs.size() == 2) {
    if (type == "Add") return all(integers, [](const Arguments& a) { return a[0] + a[1]; });
    if (type == "Sub") return all(integers, [](const Arguments& a) { return a[0] - a[1]; });
    if (type == "Mul") return all(integers, [](const Arguments& a) { return a[0] * a[1]; });
    if (type == "Div")
      return all(integers, [integers](const Arguments& a) { return divide(a[0], a[1], integers); });
    if (type == "Mod") {
      const bool truncated = node.integer("fmod", 0) != 0;
      return all(integers,
                 [truncated](const Arguments& a) { return modulo(a[0], a[1], truncated); });
    }
    if (type == "Pow")
      return all(integers, [](const Arguments& a) { return std::pow(a[0], a[1]); });
    if (type == "Equal") return all(true, [](const Arguments& a) { return Number(a[0] == a[1]); });
    if (type == "Less") return all(true, [](const Arguments& a) { return Number(a[0] < a[1]); });
    if (type == "Greater") return all(true, [](const Arguments& a) { return Number(a[0] > a[1]); });
    if (type == "And")
      return all(true, [](const Arguments& a) { return Number(a[0] != 0 && a[1] != 0); });
    if (type == "Or")
      return all(true, [](const Arguments& a) { return Number(a[0] != 0 || a[1] != 0); });
  }
  if (type == "Max")
    return all(integers, [](const Arguments& a) { return *std::max_element(a.begin(), a.end()); });
  if (type == "Min")
    return all(integers, [](const Arguments& a) { return *std::min_element(a.begin(), a.end()); });
  if (type == "Where" && inputs.size() == 3) {
    const bool is_integer = value(inputs, 1).is_integer;
    return all(is_integer, [](const Arguments& a) { return a[0] != 0 ? a[1] : a[2]; });
  }
  return std::nullopt;
}

// The same values in another shape.
Result reshaped(const OnnxNode& node, const Inputs& inputs) {
  OnnxConstant result = value(inputs, 0);
  std::vector<std::int64_t> axes = node.integers("axes", {});
  if (node.type == "Identity") return result;
  if (node.type == "Reshape") {
    if (!is_given(inputs, 1)) return std::nullopt;
    Shape shape = integers_of(value(inputs, 1));
    std::int64_t known = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 0 && i < result.shape.size()) shape[i] = result.shape[i];
      if (shape[i] > 0) known *= shape[i];
    }
    for (std::int64_t& size : shape) {
      if (size == -1) size = count_of(result.shape) / std::max<std::int64_t>(1, known);
    }
    if (count_of(shape) != count_of(result.shape)) return std::nullopt;
    result.shape = shape;
    return result;
  }
  if (is_given(inputs, 1)) axes = integers_of(value(inputs, 1));
  const auto rank = static_cast<std::int64_t>(result.shape.size());
  if (node.type == "Unsqueeze") {
    const auto wider = rank + static_cast<std::int64_t>(axes.size());
    for (std::int64_t& axis : axes) axis += axis < 0 ? wider : 0;
    std::sort(axes.begin(), axes.end());
    for (const std::int64_t axis : axes) {
      if (axis < 0 || axis > static_cast<std::int64_t>(result.shape.size())) return std::nullopt;
      result.shape.insert(result.shape.begin() + axis, 1);
    }
    return result;
  }
  if (node.type != "Squeeze") return std::nullopt;
  for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  Shape shape;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const std::int64_t size = result.shape[static_cast<std::size_t>(axis)];
    const bool named = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (axes.empty() ? size != 1 : !named) shape.push_back(size);
  }
  result.shape = shape;
  return count_of(shape) == count_of(value(inputs, 0).shape) ? Result(result) : std::nullopt;
}

// Vectors and scalars only: what shapes are made of.
Result gather(const OnnxNode& node, const Inputs& inputs) {
  const OnnxConstant& data = value(inputs, 0);
  if (data.shape.size() != 1 || node.integer("axis", 0) > 0 || inputs.size() != 2)
    return std::nullopt;
  OnnxConstant result{value(inputs, 1).shape, {}, data.is_integer};
  const auto size = static_cast<std::int64_t>(data.values.size());
  for (std::int64_t index : integers_of(value(inputs, 1))) {
    if (index < 0) index += size;
    if (index < 0 || index >= size) return std::nullopt;
    result.values.push_back(data.values[static_cast<std::size_t>(index)]);
  }
  return result;
}

Result concat(const Inputs& inputs) {
  OnnxConstant result{{0}, {}, value(inputs, 0).is_integer};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const OnnxConstant& part = value(inputs, i);
    if (part.shape.size() != 1) return std::nullopt;
    result.values.insert(result.values.end(), part.values.begin(), part.values.end());
  }
  result.shape = {static_cast<std::int64_t>(result.values.size())};
  return is_small(result.shape) ? Result(result) : std::nullopt;
}

// The elements at the given positions of every axis.
OnnxConstant picked(const OnnxConstant& data,
                    const std::vector<std::vector<std::int64_t>>& places) {
  OnnxConstant result{{}, {}, data.is_integer};
  for (const std::vector<std::int64_t>& axis : places)
    result.shape.push_back(static_cast<std::int64_t>(axis.size()));
  for (std::int64_t p = 0; p < count_of(result.shape); ++p) {
    std::int64_t rest = p;
    std::int64_t source = 0;
    std::int64_t stride = 1;
    for (std::size_t axis = places.size(); axis-- > 0;) {
      source += places[axis][static_cast<std::size_t>(rest % result.shape[axis])] * stride;
      rest /= result.shape[axis];
      stride *= data.shape[axis];
    }
    result.values.push_back(data.values[static_cast<std::size_t>(source)]);
  }
  return result;
}

Result slice(const OnnxNode& node, const Inputs& inputs) {
  const OnnxConstant& data = value(inputs, 0);
  const auto rank = static_cast<std::int64_t>(data.shape.size());
  std::vector<std::int64_t> starts = node.integers("starts", {});
  std::vector<std::int64_t> ends = node.integers("ends", {});
  if (is_given(inputs, 1)) starts = integers_of(value(inputs, 1));
  if (is_given(inputs, 2)) ends = integers_of(value(inputs, 2));
  std::vector<std::int64_t> axes(starts.size());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  axes = node.integers("axes", axes);
  std::vector<std::int64_t> steps(starts.size(), 1);
  if (is_given(inputs, 3)) axes = integers_of(value(inputs, 3));
  if (is_given(inputs, 4)) steps = integers_of(value(inputs, 4));
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return std::nullopt;
  std::vector<std::vector<std::int64_t>> places;
  for (const std::int64_t size : data.shape) {
    places.emplace_back(static_cast<std::size_t>(size));
    std::iota(places.back().begin(), places.back().end(), std::int64_t{0});
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes[i] + (axes[i] < 0 ? rank : 0);
    const std::int64_t step = steps[i];
    if (axis < 0 || axis >= rank || step == 0) return std::nullopt;
    const std::int64_t size = data.shape[static_cast<std::size_t>(axis)];
    // Backwards, the end may lie before the first element.
    const std::int64_t lowest = step > 0 ? 0 : -1;
    const auto place = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + size : at, lowest, size + lowest);
    };
    const std::int64_t end = place(ends[i]);
    std::vector<std::int64_t> chosen;
    for (std::int64_t at = place(starts[i]); step > 0 ? at < end : at > end;) {
      chosen.push_back(at);
      if (step > size || step < -size) break;
      at += step;
    }
    places[static_cast<std::size_t>(axis)] = std::move(chosen);
  }
  return picked(data, places);
}

Result transpose(const OnnxNode& node, const Inputs& inputs) {
  const OnnxConstant& data = value(inputs, 0);
  std::vector<std::int64_t> perm(data.shape.size());
  std::iota(perm.rbegin(), perm.rend(), std::int64_t{0});
  perm = node.integers("perm", perm);
  std::vector<std::int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int64_t> axes(data.shape.size());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  if (sorted != axes) return std::nullopt;
  OnnxConstant result{{}, {}, data.is_integer};
  std::vector<std::int64_t> strides(data.shape.size(), 1);
  for (std::size_t axis = strides.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * data.shape[axis];
  for (const std::int64_t axis : perm)
    result.shape.push_back(data.shape.at(static_cast<std::size_t>(axis)));
  for (std::int64_t p = 0; p < count_of(result.shape); ++p) {
    std::int64_t rest = p;
    std::int64_t source = 0;
    for (std::size_t axis = perm.size(); axis-- > 0;) {
      source += rest % result.shape[axis] * strides[static_cast<std::size_t>(perm[axis])];
      rest /= result.shape[axis];
    }
    result.values.push_back(data.values[static_cast<std::size_t>(source)]);
  }
  return result;
}

Result filled(const Shape& shape, const OnnxConstant& with) {
  if (!is_small(shape)) return std::nullopt;
  OnnxConstant result{shape, {}, with.is_integer};
  for (std::int64_t p = 0; p < count_of(shape); ++p)
    result.values.push_back(with.values[source_of(with.shape, shape, p)]);
  return result;
}

Result range(const Inputs& inputs) {
  if (inputs.size() != 3) return std::nullopt;
  const Number start = value(inputs, 0).values.at(0);
  const Number end = value(inputs, 1).values.at(0);
  const Number step = value(inputs, 2).values.at(0);
  const Number count = step == 0 ? 0 : std::ceil((end - start) / step);
  if (!(count >= 0 && count <= static_cast<Number>(kMaxFolded))) return std::nullopt;
  OnnxConstant result{{static_cast<std::int64_t>(count)}, {}, value(inputs, 0).is_integer};
  for (std::int64_t i = 0; i < result.shape[0]; ++i)
    result.values.push_back(start + step * static_cast<Number>(i));
  return result;
}

Result product_of(const OnnxNode& node, const Inputs& inputs) {
  const OnnxConstant& data = value(inputs, 0);
  if (data.shape.size() != 1) return std::nullopt;
  OnnxConstant result{{}, {1}, data.is_integer};
  if (node.integer("keepdims", 1) != 0) result.shape = {1};
  for (const Number number : data.values) result.values[0] *= number;
  return result;
}

Result fold_one(const OnnxNode& node, const Inputs& inputs) {
  const std::string& type = node.type;
  // These need the shape of their input alone.
  if ((type == "Shape" || type == "Size") && is_given(inputs, 0)) {
    const Shape& shape = inputs[0]->shape;
    OnnxConstant result{{}, {}, true};
    if (type == "Size") {
      result.values = {static_cast<Number>(count_of(shape))};
      return result;
    }
    const auto rank = static_cast<std::int64_t>(shape.size());
    const auto clamp = [rank](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    for (std::int64_t i = clamp(node.integer("start", 0)); i < clamp(node.integer("end", rank));
         ++i)
      result.values.push_back(static_cast<Number>(shape[static_cast<std::size_t>(i)]));
    result.shape = {static_cast<std::int64_t>(result.values.size())};
    return result;
  }
  if (inputs.empty() || !is_given(inputs, 0)) return std::nullopt;
  for (const OnnxTensor* input : inputs) {
    if (input != nullptr && !input->constant) return std::nullopt;
  }
  if (type == "Concat") return concat(inputs);
  if (type == "Slice") return slice(node, inputs);
  if (type == "Transpose") return transpose(node, inputs);
  if (type == "ReduceProd") return product_of(node, inputs);
  if (type == "Reshape" || type == "Identity" || type == "Squeeze" || type == "Unsqueeze")
    return reshaped(node, inputs);
  if (std::count(inputs.begin(), inputs.end(), nullptr) > 0) return std::nullopt;
  if (type == "Gather") return gather(node, inputs);
  if (type == "Range") return range(inputs);
  if (type == "ConstantOfShape") {
    const auto found = node.attributes.find("value");
    OnnxConstant zero{{}, {0}, false};
    if (found != node.attributes.end()) {
      if (const auto* integer = std::get_if<std::int64_t>(&found->second)) {
        zero = {{}, {static_cast<Number>(*integer)}, true};
      } else if (const auto* number = std::get_if<double>(&found->second)) {
        zero.values = {static_cast<Number>(*number)};
      }
    }
    return filled(integers_of(value(inputs, 0)), zero);
  }
  if (type == "Expand" && inputs.size() == 2) {
    Shape shape;
    if (!broadcast(value(inputs, 0).shape, integers_of(value(inputs, 1)), &shape))
      return std::nullopt;
    return filled(shape, value(inputs, 0));
  }
  return elementwise(node, inputs);
}

}  // namespace

std::optional<std::vector<OnnxConstant>> fold_onnx(const OnnxNode& node,
                                                   const std::vector<const OnnxTensor*>& inputs) {
  if (node.outputs.size() != 1) return std::nullopt;
  Result result = fold_one(node, inputs);
  if (!result) return std::nullopt;
  return std::vector<OnnxConstant>{std::move(*result)};
}

}  // namespace foretell
