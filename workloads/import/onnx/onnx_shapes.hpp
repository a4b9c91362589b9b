// Shapes of results that the rules of the ONNX library leave out: its release is older than the
// operator, or it gives a rank alone.
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>

#include "workloads/import/onnx/onnx_graph.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// The shape of the first result of the node, whose inputs the graph has; nothing where no rule of
// ours is meant. UserError, without the node's name, for inputs that do not fit.
std::optional<Shape> own_shape(const OnnxNode& node, const OnnxGraph& graph);

// The shape of a result by what was inferred from the inputs and what the file declares, where it
// does. UserError, without the node's name, where they contradict each other or leave an axis open.
Shape merged_shape(const std::string& name, const onnx::TypeProto& inferred,
                   const onnx::TypeProto* declared);

}  // namespace foretell
