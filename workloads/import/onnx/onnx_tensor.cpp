#include "workloads/import/onnx/onnx_tensor.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace foretell {
namespace {

constexpr std::int64_t kMaxElements = 1 << 16;

template <typename T>
void append(const std::string& raw, std::vector<long double>* values) {
  for (std::size_t at = 0; at + sizeof(T) <= raw.size(); at += sizeof(T)) {
    T number{};
    std::copy_n(raw.data() + at, sizeof(T), reinterpret_cast<char*>(&number));
    values->push_back(static_cast<long double>(number));
  }
}

}  // namespace

int element_of(DType type) {
  switch (type) {
    case DType::kFp16:
      return onnx::TensorProto::FLOAT16;
    case DType::kBf16:
      return onnx::TensorProto::BFLOAT16;
    case DType::kInt8:
      return onnx::TensorProto::INT8;
    case DType::kInt32:
      return onnx::TensorProto::INT32;
    case DType::kInt64:
      return onnx::TensorProto::INT64;
    case DType::kBool:
      return onnx::TensorProto::BOOL;
    default:
      return onnx::TensorProto::FLOAT;
  }
}

onnx::TypeProto type_of(const Shape& shape, int element_type) {
  onnx::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(element_type);
  onnx::TensorShapeProto* dims = type.mutable_tensor_type()->mutable_shape();
  for (const std::int64_t size : shape) dims->add_dim()->set_dim_value(size);
  return type;
}

bool is_real(int element_type) {
  return element_type == onnx::TensorProto::FLOAT || element_type == onnx::TensorProto::DOUBLE ||
         element_type == onnx::TensorProto::FLOAT16 || element_type == onnx::TensorProto::BFLOAT16;
}

std::optional<DType> dtype_of(int element_type) {
  switch (element_type) {
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::DOUBLE:
      return DType::kFp32;
    case onnx::TensorProto::FLOAT16:
      return DType::kFp16;
    case onnx::TensorProto::BFLOAT16:
      return DType::kBf16;
    case onnx::TensorProto::INT8:
    case onnx::TensorProto::UINT8:
      return DType::kInt8;
    case onnx::TensorProto::INT16:
    case onnx::TensorProto::UINT16:
    case onnx::TensorProto::INT32:
    case onnx::TensorProto::UINT32:
      return DType::kInt32;
    case onnx::TensorProto::INT64:
    case onnx::TensorProto::UINT64:
      return DType::kInt64;
    case onnx::TensorProto::BOOL:
      return DType::kBool;
    default:
      return std::nullopt;
  }
}

std::optional<OnnxConstant> constant_of(const onnx::TensorProto& tensor) {
  OnnxConstant result;
  result.shape.assign(tensor.dims().begin(), tensor.dims().end());
  result.is_integer = !is_real(tensor.data_type());
  std::int64_t count = 1;
  for (const std::int64_t size : result.shape) {
    if (size < 0 || size > kMaxElements) return std::nullopt;
    count *= size;
    if (count > kMaxElements) return std::nullopt;
  }
  std::vector<long double>& values = result.values;
  const std::string& raw = tensor.raw_data();
  switch (tensor.data_type()) {
    case onnx::TensorProto::FLOAT:
      append<float>(raw, &values);
      values.insert(values.end(), tensor.float_data().begin(), tensor.float_data().end());
      break;
    case onnx::TensorProto::DOUBLE:
      append<double>(raw, &values);
      values.insert(values.end(), tensor.double_data().begin(), tensor.double_data().end());
      break;
    case onnx::TensorProto::INT64:
      append<std::int64_t>(raw, &values);
      values.insert(values.end(), tensor.int64_data().begin(), tensor.int64_data().end());
      break;
    case onnx::TensorProto::INT32:
      append<std::int32_t>(raw, &values);
      values.insert(values.end(), tensor.int32_data().begin(), tensor.int32_data().end());
      break;
    case onnx::TensorProto::BOOL:
    case onnx::TensorProto::UINT8:
      append<std::uint8_t>(raw, &values);
      values.insert(values.end(), tensor.int32_data().begin(), tensor.int32_data().end());
      break;
    case onnx::TensorProto::INT8:
      append<std::int8_t>(raw, &values);
      values.insert(values.end(), tensor.int32_data().begin(), tensor.int32_data().end());
      break;
    default:
      return std::nullopt;
  }
  if (static_cast<std::int64_t>(values.size()) != count) return std::nullopt;
  return result;
}

onnx::TensorProto proto_of(const OnnxConstant& constant) {
  onnx::TensorProto tensor;
  for (const std::int64_t size : constant.shape) tensor.add_dims(size);
  tensor.set_data_type(constant.is_integer ? onnx::TensorProto::INT64 : onnx::TensorProto::FLOAT);
  for (const long double number : constant.values) {
    if (constant.is_integer) {
      tensor.add_int64_data(static_cast<std::int64_t>(number));
    } else {
      tensor.add_float_data(static_cast<float>(number));
    }
  }
  return tensor;
}

}  // namespace foretell
