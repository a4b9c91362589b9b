// The dimensions of the inputs of an ONNX file: which it leaves open, under which names, and which
// of them count samples or tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace onnx {
class TensorShapeProto_Dimension;
}

namespace foretell {

struct OnnxDimension {
  std::string name;  // of an open one; "pixel_values.0" where the file gives it none
  std::string input;
  int axis = 0;
  std::optional<std::int64_t> size;  // of one that is not open
  bool is_batch = false;             // of open ones, by their names
  bool is_sequence = false;
};

OnnxDimension onnx_dimension(const std::string& input, int axis,
                             const onnx::TensorShapeProto_Dimension& dimension);

// The dimensions of every input of the network, in order. UserErrors as of read_onnx_file().
std::vector<OnnxDimension> onnx_inputs(const std::string& path);

// The precision policy that runs the products of the file as it has them: "int8" where their
// operands are quantised, "int8-weights" where their weights alone are, "" where none are.
// UserError: as onnx_inputs.
std::string onnx_stored_dtype(const std::string& path);

// What to say about the opset of the file; empty: nothing. UserError: as onnx_inputs.
std::string onnx_opset_note(const std::string& path);

}  // namespace foretell
