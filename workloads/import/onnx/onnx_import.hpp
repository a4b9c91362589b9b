// From an ONNX file to the operator graph of the simulator.
#pragma once

#include <string>
#include <vector>

#include "workloads/import/onnx/onnx_graph.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

struct ImportedOnnx {
  Graph graph;
  std::int64_t opset = 0;
  std::vector<std::string> notes;
};

// Reads the file and translates every operator. UserErrors as of load_onnx(), and for operators
// that have no counterpart, by name.
ImportedOnnx import_onnx(const std::string& path, const DimensionSizes& sizes);

// The operators of ONNX that are translated, in alphabetical order.
std::vector<std::string> supported_onnx_operators();

}  // namespace foretell
