// Nodes of ONNX files, from the library's form.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/import/onnx/onnx_graph.hpp"

namespace foretell {

// With the attributes that are numbers, lists or text; `index` names a node that has no name.
OnnxNode neutral(const onnx::NodeProto& proto, std::size_t index);

// What is wrong with attributes by which the library divides without looking; empty: nothing.
std::string wrong_divisor(const OnnxNode& node);

// What is wrong with axes of an image and of its weight, which the library does not compare.
std::string wrong_axes(const OnnxNode& node, const OnnxGraph& graph);

// What to say about an opset other than those that operators were looked at in; empty: nothing.
std::string note_of_opset(std::int64_t opset);

// Operators of later opsets in the form in which the library knows them. `axes`: the second input
// where it is constant, or nullptr.
onnx::NodeProto adapted_node(const onnx::NodeProto& node, std::int64_t opset,
                             const onnx::TensorProto* axes);

bool is_known_domain(const std::string& domain);

// Everything that the bodies of a node read, of their own tensors and of those around.
std::vector<std::string> captured_names(const onnx::NodeProto& node);

// " of node 'NAME' (TYPE)": the first that reads the tensor, by which people find it; or nothing.
std::string reader_of(const onnx::GraphProto& graph, const std::string& tensor);

// "batch" or "seq" where a dimension is called after one; the first axis is the batch where it has
// no name. Empty for every other.
std::string role_of_dimension(const std::string& name, bool is_named, int axis);

// UserError for a size whose name is none of the open dimensions of the file.
void check_sizes(const std::string& path, const DimensionSizes& sizes,
                 const std::vector<std::string>& open);

// The tensors that leave a graph.
std::vector<OnnxTensor> results_of(const OnnxGraph& graph);

// The one of each pair with more elements. The lists are equally long.
std::vector<OnnxTensor> larger_of(const std::vector<OnnxTensor>& a,
                                  const std::vector<OnnxTensor>& b);

// Whether the condition of a loop is passed through its body, or true.
bool never_stops(const OnnxGraph& body);

}  // namespace foretell
