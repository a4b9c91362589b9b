#include "workloads/ir/graph.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/base/errors.hpp"
#include "workloads/ir/operators.hpp"

namespace foretell {
namespace {

TensorId as_id(std::size_t index) { return static_cast<TensorId>(index); }

void check_shape(const std::string& name, const Shape& shape) {
  for (const std::int64_t dimension : shape) {
    if (dimension < 1) {
      throw UserError("tensor '" + name + "' has shape " + to_string(shape) +
                      ": every dimension must be at least 1");
    }
  }
  element_count(shape);  // refuses what cannot be counted
}

void check_arity(const OperatorInfo& info, const OpView& view) {
  const auto given = static_cast<int>(view.input_count());
  if (given >= info.min_inputs && given <= info.max_inputs) return;
  const std::string wanted =
      info.min_inputs == info.max_inputs
          ? std::to_string(info.min_inputs)
          : std::to_string(info.min_inputs) + " to " + std::to_string(info.max_inputs);
  view.fail("takes " + wanted + " inputs, got " + std::to_string(given));
}

void check_attributes(const OperatorInfo& info, const Op& op, const OpView& view) {
  for (const auto& [name, value] : op.attributes) {
    if (std::find(info.attributes.begin(), info.attributes.end(), name) != info.attributes.end())
      continue;
    const std::vector<std::string> allowed(info.attributes.begin(), info.attributes.end());
    view.fail(unknown_name("attribute", name, allowed).what());
  }
}

}  // namespace

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t dimension : shape) {
    FORETELL_CHECK(dimension >= 0, "negative dimension in " + to_string(shape));
    if (dimension > 0 && count > std::numeric_limits<std::int64_t>::max() / dimension) {
      throw UserError("a tensor of shape " + to_string(shape) +
                      " has more than 2^63 elements: check the sizes");
    }
    count *= dimension;
  }
  return count;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Bytes Tensor::bytes() const { return static_cast<double>(element_count(shape)) * size_of(dtype); }

TensorId Graph::add_input(std::string name, Shape shape, DType dtype) {
  return add_tensor(std::move(name), std::move(shape), dtype, TensorKind::kInput);
}

TensorId Graph::add_weight(std::string name, Shape shape, DType dtype) {
  return add_tensor(std::move(name), std::move(shape), dtype, TensorKind::kWeight);
}

TensorId Graph::add_state(std::string name, Shape shape, DType dtype) {
  return add_tensor(std::move(name), std::move(shape), dtype, TensorKind::kState);
}

TensorId Graph::add_tensor(std::string name, Shape shape, DType dtype, TensorKind kind) {
  check_shape(name, shape);
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.shape = std::move(shape);
  tensor.dtype = dtype;
  tensor.kind = kind;
  tensors_.push_back(std::move(tensor));
  return as_id(tensors_.size() - 1);
}

TensorId Graph::add_op(std::string name, std::string_view kind, std::vector<TensorId> inputs,
                       std::map<std::string, Attribute> attributes, std::int32_t layer) {
  const OperatorInfo& info = find_operator(kind);
  Op op;
  op.name = std::move(name);
  op.kind = std::string(kind);
  op.inputs = std::move(inputs);
  op.attributes = std::move(attributes);
  op.layer = layer;
  const OpView view = view_of(op);
  check_arity(info, view);
  check_attributes(info, op, view);
  const std::vector<Shape> shapes = info.infer_shapes(view);
  info.flops(view);  // refuses attribute values that the shape rule does not look at
  const auto op_id = static_cast<OpId>(ops_.size());
  const DType dtype = tensor(op.inputs.front()).dtype;
  for (const TensorId input : op.inputs) {
    std::vector<OpId>& consumers = tensors_[static_cast<std::size_t>(input)].consumers;
    if (consumers.empty() || consumers.back() != op_id) consumers.push_back(op_id);
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::string suffix = shapes.size() == 1 ? "" : ":" + std::to_string(i);
    const DType type = static_cast<int>(i) == info.index_output ? DType::kInt32 : dtype;
    const TensorId output = add_tensor(op.name + suffix, shapes[i], type, TensorKind::kActivation);
    tensors_.back().producer = op_id;
    op.outputs.push_back(output);
  }
  ops_.push_back(std::move(op));
  return ops_.back().outputs.front();
}

OpView Graph::view_of(const Op& op) const {
  std::vector<const Shape*> shapes;
  shapes.reserve(op.inputs.size());
  for (const TensorId input : op.inputs) {
    FORETELL_CHECK(input >= 0 && static_cast<std::size_t>(input) < tensors_.size(),
                   "operator '" + op.name + "' reads a tensor that does not exist");
    shapes.push_back(&tensor(input).shape);
  }
  return OpView(op, std::move(shapes));
}

void Graph::mark(TensorId id, TensorKind kind) {
  Tensor& tensor = tensors_.at(static_cast<std::size_t>(id));
  FORETELL_CHECK(tensor.producer != kNoId, "'" + tensor.name + "' is produced by no operator");
  tensor.kind = kind;
}

void Graph::mark_output(TensorId id) { mark(id, TensorKind::kOutput); }

void Graph::mark_state(TensorId id) { mark(id, TensorKind::kState); }

void Graph::set_dtype(TensorId id, DType dtype) {
  tensors_.at(static_cast<std::size_t>(id)).dtype = dtype;
}

void Graph::set_shape(TensorId id, Shape shape) {
  tensors_.at(static_cast<std::size_t>(id)).shape = std::move(shape);
}

void Graph::keep(TensorId id) { tensors_.at(static_cast<std::size_t>(id)).is_kept = true; }

Flops Graph::flops(OpId id) const {
  const Op& operation = op(id);
  return Flops(find_operator(operation.kind).flops(view_of(operation)));
}

Flops Graph::total_flops() const {
  Flops total;
  for (std::size_t i = 0; i < ops_.size(); ++i) total += flops(static_cast<OpId>(i));
  return total;
}

std::int64_t Graph::parameter_count() const {
  std::int64_t count = 0;
  for (const Tensor& tensor : tensors_) {
    if (tensor.kind == TensorKind::kWeight) count += element_count(tensor.shape);
  }
  return count;
}

Bytes Graph::weight_bytes() const {
  Bytes bytes;
  for (const Tensor& tensor : tensors_) {
    if (tensor.kind == TensorKind::kWeight) bytes += tensor.bytes();
  }
  return bytes;
}

std::vector<TensorId> Graph::of_kind(TensorKind kind) const {
  std::vector<TensorId> ids;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].kind == kind) ids.push_back(as_id(i));
  }
  return ids;
}

std::vector<TensorId> Graph::inputs() const { return of_kind(TensorKind::kInput); }

std::vector<TensorId> Graph::outputs() const { return of_kind(TensorKind::kOutput); }

}  // namespace foretell
