#include "workloads/ir/work.hpp"

namespace foretell {

double macs_of(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  const bool convolves = op.kind == "Conv" || op.kind == "ConvTranspose";
  if (!convolves && op.kind != "MatMul" && op.kind != "ExpertMatMul") return 0;
  const bool has_bias = convolves && op.inputs.size() > 2;
  const double bias =
      has_bias ? static_cast<double>(element_count(graph.tensor(op.outputs[0]).shape)) : 0;
  return (graph.flops(id).value() - bias) / 2;
}

Bytes bytes_moved(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  Bytes sum;
  for (const TensorId output : op.outputs) sum += graph.tensor(output).bytes();
  const bool gathers = op.kind == "Gather";
  if (gathers) sum += graph.tensor(op.outputs.front()).bytes();
  for (std::size_t i = gathers ? 1 : 0; i < op.inputs.size(); ++i)
    sum += graph.tensor(op.inputs[i]).bytes();
  return sum;
}

std::int64_t parameters_of(const Graph& graph, OpId id) {
  std::int64_t sum = 0;
  for (const TensorId input : graph.op(id).inputs) {
    const Tensor& tensor = graph.tensor(input);
    if (tensor.kind == TensorKind::kWeight) sum += element_count(tensor.shape);
  }
  return sum;
}

std::map<DType, Bytes> bytes_by_dtype(const Graph& graph, TensorKind kind) {
  std::map<DType, Bytes> bytes;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == kind) bytes[tensor.dtype] += tensor.bytes();
  }
  return bytes;
}

}  // namespace foretell
