#include "workloads/ir/dtype.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

TEST(DType, SizesAreStorageSizes) {
  EXPECT_EQ(size_of(DType::kInt4).value(), 0.5);
  EXPECT_EQ(size_of(DType::kNvfp4).value(), 0.5 + 1.0 / 16);  // a scale of a byte for 16
  EXPECT_EQ(size_of(DType::kFp8).value(), 1);
  EXPECT_EQ(size_of(DType::kFp8Block).value() * 128 * 128, 128 * 128 + 4);  // and a scale
  EXPECT_EQ(size_of(DType::kBf16).value(), 2);
  EXPECT_EQ(size_of(DType::kTf32), size_of(DType::kFp32));
  EXPECT_EQ(size_of(DType::kInt64).value(), 8);
}

TEST(DType, NamesAndTypesCorrespond) {
  for (const DType type :
       {DType::kInt8, DType::kFp8, DType::kFp16, DType::kBf16, DType::kTf32, DType::kFp32}) {
    EXPECT_EQ(parse_dtype(to_string(type)), type);
  }
  EXPECT_EQ(parse_dtype("int4"), DType::kInt4);
}

TEST(DType, AnUnknownNameTeachesTheNearest) {
  try {
    parse_dtype("bfloat16");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown data type 'bfloat16'"));
    EXPECT_THAT(error.what(), HasSubstr("bf16"));
  }
}

}  // namespace
}  // namespace foretell
