// Functions that an ONNX file defines for itself (opset 15 and later; exporters that trace whole
// modules write everything as such).
#pragma once

#include <string>

namespace onnx {
class ModelProto;
}

namespace foretell {

// Replaces every call of a function of the file by the nodes of its body, calls in bodies of
// branches, loops and functions too; tensors of a body get the name of the call in front. UserError
// for a function that calls itself, and for more nodes or data than a file may have.
void inline_functions(const std::string& path, onnx::ModelProto* model);

}  // namespace foretell
