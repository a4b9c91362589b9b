// Reading an ONNX file (protobuf) without the data of its large tensors.
#pragma once

#include <memory>
#include <string>

namespace onnx {
class ModelProto;
}

namespace foretell {

// The model in the file. Data of tensors beyond 64 KiB is skipped, not read; external data is never
// opened: a network's shapes need neither. UserError where the file cannot be read, is no ONNX
// model, ends early, is damaged, or has more nodes than kMaxOnnxNodes.
std::shared_ptr<onnx::ModelProto> read_onnx_file(const std::string& path);

inline constexpr int kMaxOnnxNodes = 200'000;

}  // namespace foretell
