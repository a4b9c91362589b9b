#include "workloads/import/onnx/onnx_inputs.hpp"

#include <onnx/onnx_pb.h>

#include <set>

#include "workloads/import/onnx/onnx_file.hpp"
#include "workloads/import/onnx/onnx_node.hpp"

namespace foretell {

OnnxDimension onnx_dimension(const std::string& input, int axis,
                             const onnx::TensorShapeProto_Dimension& dimension) {
  OnnxDimension result;
  result.input = input;
  result.axis = axis;
  if (dimension.has_dim_value() && dimension.dim_value() >= 0) {
    result.size = dimension.dim_value();
    return result;
  }
  const bool is_named = dimension.has_dim_param() && !dimension.dim_param().empty();
  result.name = is_named ? dimension.dim_param() : input + "." + std::to_string(axis);
  const std::string role = role_of_dimension(result.name, dimension.has_dim_param(), axis);
  result.is_batch = role == "batch";
  result.is_sequence = role == "seq";
  return result;
}

std::vector<OnnxDimension> onnx_inputs(const std::string& path) {
  const auto model = read_onnx_file(path);
  const onnx::GraphProto& graph = model->graph();
  std::set<std::string> weights;  // older files list them among the inputs
  for (const onnx::TensorProto& tensor : graph.initializer()) weights.insert(tensor.name());
  std::vector<OnnxDimension> dimensions;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (weights.count(input.name()) > 0) continue;
    const onnx::TensorShapeProto& shape = input.type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis)
      dimensions.push_back(onnx_dimension(input.name(), axis, shape.dim(axis)));
  }
  return dimensions;
}

std::string onnx_stored_dtype(const std::string& path) {
  const std::set<std::string> integer = {"MatMulInteger", "ConvInteger", "QLinearMatMul",
                                         "QLinearConv"};
  const std::set<std::string> products = {"MatMul", "Gemm", "Conv", "ConvTranspose"};
  const auto model = read_onnx_file(path);
  std::set<std::string> quantised;    // what a quantise gives
  std::set<std::string> dequantised;  // what a dequantise makes of that
  std::set<std::string> widened;      // … and of stored weights
  std::string dtype;
  for (const onnx::NodeProto& node : model->graph().node()) {
    if (integer.count(node.op_type()) > 0) return "int8";
    if (node.input_size() == 0 || node.output_size() == 0) continue;
    if (node.op_type() == "QuantizeLinear") quantised.insert(node.output(0));
    if (node.op_type() == "DequantizeLinear")
      (quantised.count(node.input(0)) > 0 ? dequantised : widened).insert(node.output(0));
    if (products.count(node.op_type()) == 0) continue;
    if (dequantised.count(node.input(0)) > 0) return "int8";
    if (node.input_size() > 1 && widened.count(node.input(1)) > 0) dtype = "int8-weights";
  }
  return dtype;
}

std::string onnx_opset_note(const std::string& path) {
  const auto model = read_onnx_file(path);
  for (const onnx::OperatorSetIdProto& opset : model->opset_import()) {
    if (opset.domain().empty() || opset.domain() == "ai.onnx")
      return note_of_opset(opset.version());
  }
  return "";
}

}  // namespace foretell
