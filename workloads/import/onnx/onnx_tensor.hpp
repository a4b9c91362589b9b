// Tensors of ONNX files: their types, and the elements of small ones, to and from the library's
// form.
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>

#include "workloads/import/onnx/onnx_graph.hpp"
#include "workloads/ir/dtype.hpp"

namespace foretell {

// The type of our graphs for a TensorProto::DataType; nothing for strings and complex numbers.
std::optional<DType> dtype_of(int element_type);

// The TensorProto::DataType of a type of ours.
int element_of(DType type);

onnx::TypeProto type_of(const Shape& shape, int element_type);

// Floating point of 16 to 64 bits.
bool is_real(int element_type);

// The elements of a small tensor; nothing where they were skipped or have another type.
std::optional<OnnxConstant> constant_of(const onnx::TensorProto& tensor);

// For the library's shape inference, which reads axes and shapes from their values.
onnx::TensorProto proto_of(const OnnxConstant& constant);

}  // namespace foretell
