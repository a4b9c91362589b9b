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
// With `part`, of that part of a file with branches and loops.
ImportedOnnx import_onnx(const std::string& path, const DimensionSizes& sizes,
                         const std::string& part = "");

// What is outside of branches and loops, and how their bodies are called: "NAME/then", "NAME/else",
// "NAME/body", inside of others after the name of the part around them.
inline constexpr const char* kMainPart = "main";
std::string onnx_part(const std::string& around, const OnnxControl& control, std::size_t body);

}  // namespace foretell
