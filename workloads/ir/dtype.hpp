// Data types of tensors and of arithmetic.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/base/units.hpp"

namespace foretell {

enum class DType {
  kInt4,
  kMxfp4,
  kNvfp4,
  kInt8,
  kFp8,
  kFp8Block,
  kFp16,
  kBf16,
  kTf32,
  kFp32,
  kInt32,
  kInt64,
  kBool
};

// Storage size of one element (TF32 is stored as FP32; INT4 is half a byte; of NVFP4, which is four
// bits, sixteen share a scale of one byte; of MXFP4 thirty-two; of FP8 in blocks 128 x 128 share
// one of four bytes).
Bytes size_of(DType type);
std::string_view to_string(DType type);    // "bf16"
DType parse_dtype(std::string_view name);  // UserError names the nearest type

}  // namespace foretell
