#include "calib/measure/cuda/reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "calib/measure/cuda/element.hpp"
#include "calib/measure/cuda/test_values.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

TEST(Reference, ProductsOfMatrices) {
  // [1 2; 3 4] * [5 6; 7 8] with the weights lying column by column.
  EXPECT_THAT(reference_gemm({1, 2, 3, 4}, {5, 7, 6, 8}, 1, 2, 2, 2), ElementsAre(19, 22, 43, 50));
  EXPECT_THAT(reference_gemm({1, 2, 3, 4}, {1, 1, 10, 10}, 2, 1, 1, 2), ElementsAre(3, 70));
}

TEST(Reference, AConvolutionOfOneByOneIsAProduct) {
  const Values x = reference_input(2 * 3 * 3 * 4, 1, false);
  const Values w = reference_input(5 * 4, 2, false);
  const ConvShape shape{2, 4, 3, 3, 5, 1, 1, 0, 1};
  EXPECT_EQ(reference_conv(x, w, shape), reference_gemm(x, w, 1, 18, 5, 4));
}

TEST(Reference, ConvolutionPadsStridesAndGroups) {
  // The sum of the 3x3 neighbourhood of an image of ones.
  const ConvShape padded{1, 1, 3, 3, 1, 3, 1, 1, 1};
  EXPECT_THAT(reference_conv(Values(9, 1), Values(9, 1), padded),
              ElementsAre(4, 6, 4, 6, 9, 6, 4, 6, 4));
  const ConvShape strided{1, 1, 3, 3, 1, 3, 2, 1, 1};
  EXPECT_THAT(reference_conv(Values(9, 1), Values(9, 1), strided), ElementsAre(4, 4, 4, 4));
  const ConvShape depthwise{1, 2, 1, 1, 2, 1, 1, 0, 2};
  EXPECT_THAT(reference_conv({2, 3}, {10, 100}, depthwise), ElementsAre(20, 300));
}

TEST(Reference, SoftmaxSumsToOneAndShiftsDoNotMatter) {
  const Values y = reference_softmax({0, 1, 2, 1000, 1001, 1002}, 2, 3);
  EXPECT_DOUBLE_EQ(y[0] + y[1] + y[2], 1);
  EXPECT_DOUBLE_EQ(y[0], y[3]);
  EXPECT_DOUBLE_EQ(y[2] / y[1], std::exp(1));
}

TEST(Reference, LayerNormHasMeanShiftAndDeviationScale) {
  const Values y = reference_layer_norm({1, 3, 5, 7}, Values(4, 2), Values(4, 10), 1, 4);
  EXPECT_NEAR((y[0] + y[1] + y[2] + y[3]) / 4, 10, 1e-12);
  EXPECT_NEAR(y[3] - y[0], 2 * 6 / std::sqrt(5.0), 1e-4);
}

TEST(Reference, ReduceTransposeGatherGelu) {
  EXPECT_THAT(reference_reduce({1, 2, 3, 4, 5, 6}, 2, 3), ElementsAre(6, 15));
  EXPECT_THAT(reference_transpose({1, 2, 3, 4, 5, 6}, 2, 3), ElementsAre(1, 4, 2, 5, 3, 6));
  const Values table = {1, 2, 10, 20, 100, 200};
  const Values y = reference_gather(table, 4, 2, 3, 9);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(y[2 * i], table[static_cast<std::size_t>(2 * test_row(i, 9, 3))]);
    EXPECT_EQ(y[2 * i + 1], 2 * y[2 * i]);
  }
  EXPECT_EQ(reference_gelu(0), 0);
  EXPECT_NEAR(reference_gelu(1), 0.8413447, 1e-7);
  EXPECT_NEAR(reference_gelu(-1), -0.1586553, 1e-7);
}

TEST(Reference, ComparingFindsTheWorstElement) {
  const CheckOutcome good = compare_values({1, 2.001}, {1, 2}, 1e-3, 2, 1);
  EXPECT_LE(good.error, 1);
  const CheckOutcome bad = compare_values({1, 2.1, 3}, {1, 2, 3}, 1e-3, 2, 1);
  EXPECT_NEAR(bad.error, 25, 1e-9);
  EXPECT_THAT(bad.detail, testing::HasSubstr("element 1 is 2.1"));
  EXPECT_GT(compare_values({std::nan("")}, {1}, 1e-3, 2, 1).error, 1);
  EXPECT_GT(compare_values({}, {1}, 1e-3, 2, 1).error, 1);
  EXPECT_GT(compare_values({2}, {1}, 0, 1, 1).error, 1);  // integers are exact
  EXPECT_EQ(compare_values({1}, {1}, 0, 1, 1).error, 0);
}

TEST(Element, TestValuesAreExactInEveryType) {
  for (const Element element :
       {Element::kFloat32, Element::kFloat16, Element::kBfloat16, Element::kFloat8}) {
    for (int eighths = -4; eighths <= 4; ++eighths) {
      const std::uint32_t bits = to_bits(eighths / 8.0, element);
      std::vector<std::uint8_t> bytes;
      for (std::size_t i = 0; i < element_bytes(element); ++i) {
        bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
      }
      EXPECT_THAT(to_values(bytes, element), ElementsAre(eighths / 8.0));
    }
  }
}

TEST(Element, BitsAsTheFormatsSay) {
  EXPECT_EQ(to_bits(1, Element::kFloat32), 0x3F800000U);
  EXPECT_EQ(to_bits(-0.5, Element::kFloat16), 0xB800U);
  EXPECT_EQ(to_bits(0.375, Element::kBfloat16), 0x3EC0U);
  EXPECT_EQ(to_bits(0.375, Element::kFloat8), 0x2CU);
  EXPECT_EQ(to_bits(-3, Element::kInt8), 0xFDU);
  EXPECT_THROW(to_bits(0.3, Element::kFloat8), InternalError);
  EXPECT_THAT(to_values({0x00, 0x7C, 0x01, 0x00}, Element::kFloat16),
              ElementsAre(HUGE_VAL, std::ldexp(1.0, -24)));
}

TEST(Element, NamesOfTypes) {
  EXPECT_EQ(input_element("tf32"), Element::kFloat32);
  EXPECT_EQ(element_bytes(input_element("fp8")), 1U);
  EXPECT_THROW(input_element("fp7"), UserError);
  EXPECT_EQ(rounding_of(Element::kBfloat16), std::ldexp(1.0, -8));
  EXPECT_EQ(rounding_of(Element::kInt32), 0);
}

TEST(TestValues, AllNineTurnUpAboutEquallyOften) {
  int counts[9] = {};
  for (std::uint64_t i = 0; i < 9000; ++i) ++counts[test_eighths(i, 3) + 4];
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace foretell
