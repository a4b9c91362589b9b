#include "workloads/ir/dtype.hpp"

#include <algorithm>
#include <array>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

struct DTypeRow {
  DType type;
  std::string_view name;
  double bytes;  // storage of one element
};

constexpr std::array<DTypeRow, 13> kDTypes{{{DType::kInt4, "int4", 0.5},
                                            {DType::kMxfp4, "mxfp4", 0.53125},
                                            {DType::kNvfp4, "nvfp4", 0.5625},
                                            {DType::kInt8, "int8", 1},
                                            {DType::kFp8, "fp8", 1},
                                            {DType::kFp8Block, "fp8_block", 1 + 4.0 / (128 * 128)},
                                            {DType::kFp16, "fp16", 2},
                                            {DType::kBf16, "bf16", 2},
                                            {DType::kTf32, "tf32", 4},
                                            {DType::kFp32, "fp32", 4},
                                            {DType::kInt32, "int32", 4},
                                            {DType::kInt64, "int64", 8},
                                            {DType::kBool, "bool", 1}}};

const DTypeRow& row_of(DType type) {
  const auto row = std::find_if(kDTypes.begin(), kDTypes.end(), [type](const DTypeRow& candidate) {
    return candidate.type == type;
  });
  FORETELL_CHECK(row != kDTypes.end(), "data type without an entry in the table");
  return *row;
}

}  // namespace

Bytes size_of(DType type) { return Bytes(row_of(type).bytes); }

std::string_view to_string(DType type) { return row_of(type).name; }

DType parse_dtype(std::string_view name) {
  std::vector<std::string> names;
  for (const DTypeRow& row : kDTypes) {
    if (row.name == to_lower(name)) return row.type;
    names.emplace_back(row.name);
  }
  throw unknown_name("data type", name, names);
}

}  // namespace foretell
