#include <gmock/gmock.h>

#include "workloads/ir/operators/operator_test_case.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::run_operator;
using Integers = std::vector<std::int64_t>;

TEST(Conv, FirstLayerOfResNet) {
  const auto outcome = run_operator("Conv", {{8, 3, 224, 224}, {64, 3, 7, 7}, {64}},
                                    {{"strides", Integers{2, 2}}, {"pads", Integers{3, 3, 3, 3}}});
  EXPECT_THAT(outcome.shapes, ElementsAre(Shape{8, 64, 112, 112}));
  const double outputs = 8.0 * 64 * 112 * 112;
  EXPECT_EQ(outcome.flops, outputs * (2 * 3 * 49 + 1));
}

TEST(Conv, OneToThreeAxes) {
  EXPECT_THAT(run_operator("Conv", {{2, 4, 100}, {6, 4, 5}}).shapes, ElementsAre(Shape{2, 6, 96}));
  EXPECT_THAT(
      run_operator("Conv", {{2, 4, 16, 20, 24}, {6, 4, 1, 3, 5}}, {{"strides", Integers{1, 2, 2}}})
          .shapes,
      ElementsAre(Shape{2, 6, 16, 9, 10}));
  EXPECT_THAT(run_operator("Conv", {{2, 4}, {6, 4, 5}}).error, HasSubstr("1 to 3 spatial axes"));
}

TEST(Conv, GroupsShareTheChannels) {
  const std::map<std::string, Attribute> depthwise{{"group", std::int64_t{32}},
                                                   {"pads", Integers{1, 1, 1, 1}}};
  const auto outcome = run_operator("Conv", {{1, 32, 10, 10}, {32, 1, 3, 3}}, depthwise);
  EXPECT_THAT(outcome.shapes, ElementsAre(Shape{1, 32, 10, 10}));
  EXPECT_EQ(outcome.flops, 2.0 * 32 * 100 * 9);
  EXPECT_THAT(run_operator("Conv", {{1, 32, 10, 10}, {32, 2, 3, 3}}, depthwise).error,
              HasSubstr("in 32 groups does not fit"));
}

TEST(Conv, DilationWidensTheKernelWithoutMoreWork) {
  const auto dense = run_operator("Conv", {{1, 1, 9, 9}, {1, 1, 5, 5}});
  const auto dilated =
      run_operator("Conv", {{1, 1, 9, 9}, {1, 1, 3, 3}}, {{"dilations", Integers{2, 2}}});
  EXPECT_EQ(dense.shapes, dilated.shapes);
  EXPECT_EQ(dilated.flops * 25, dense.flops * 9);
}

TEST(Conv, WhatDoesNotFitIsRefused) {
  EXPECT_THAT(run_operator("Conv", {{1, 1, 4, 4}, {1, 1, 5, 5}}).error, HasSubstr("larger than"));
  EXPECT_THAT(
      run_operator("Conv", {{1, 1, 4, 4}, {1, 1, 3, 3}}, {{"strides", Integers{0, 1}}}).error,
      HasSubstr("'strides' is [0, 1]"));
  EXPECT_THAT(run_operator("Conv", {{1, 1, 4, 4}, {1, 1, 3, 3}}, {{"pads", Integers{1, 1}}}).error,
              HasSubstr("needs 4"));
  EXPECT_THAT(run_operator("Conv", {{1, 1, 4, 4}, {2, 1, 3, 3}, {3}}).error,
              HasSubstr("bias has shape [3]"));
}

// Transposed convolution is the gradient of a convolution: its shapes are swapped, and it costs
// the same products.
TEST(ConvTranspose, MirrorsAConvolution) {
  const std::map<std::string, Attribute> window{{"strides", Integers{2, 2}},
                                                {"pads", Integers{1, 1, 1, 1}}};
  const auto down = run_operator("Conv", {{2, 8, 16, 16}, {4, 8, 4, 4}}, window);
  ASSERT_THAT(down.shapes, ElementsAre(Shape{2, 4, 8, 8}));
  const auto up = run_operator("ConvTranspose", {{2, 4, 8, 8}, {4, 8, 4, 4}}, window);
  EXPECT_THAT(up.shapes, ElementsAre(Shape{2, 8, 16, 16}));
  EXPECT_EQ(up.flops, down.flops);
}

TEST(Pool, RoundsDownUnlessStated) {
  const std::map<std::string, Attribute> window{{"kernel", Integers{3, 3}},
                                                {"strides", Integers{2, 2}}};
  const auto down = run_operator("MaxPool", {{1, 8, 8, 8}}, window);
  EXPECT_THAT(down.shapes, ElementsAre(Shape{1, 8, 3, 3}));
  EXPECT_EQ(down.flops, 8.0 * 9 * 9);
  std::map<std::string, Attribute> round_up = window;
  round_up["ceil_mode"] = std::int64_t{1};
  EXPECT_THAT(run_operator("AveragePool", {{1, 8, 8, 8}}, round_up).shapes,
              ElementsAre(Shape{1, 8, 4, 4}));
  EXPECT_THAT(run_operator("GlobalAveragePool", {{1, 8, 7, 7}}).shapes,
              ElementsAre(Shape{1, 8, 1, 1}));
}

TEST(Resize, ModesDiffer) {
  const auto nearest = run_operator("Resize", {{1, 8, 4, 4}},
                                    {{"sizes", Integers{8, 8}}, {"mode", std::string("nearest")}});
  EXPECT_THAT(nearest.shapes, ElementsAre(Shape{1, 8, 8, 8}));
  EXPECT_EQ(nearest.flops, 0);
  EXPECT_GT(run_operator("Resize", {{1, 8, 4, 4}},
                         {{"sizes", Integers{8, 8}}, {"mode", std::string("linear")}})
                .flops,
            0);
  EXPECT_THAT(run_operator("Resize", {{1, 8, 4, 4}},
                           {{"sizes", Integers{8, 8}}, {"mode", std::string("area")}})
                  .error,
              HasSubstr("'area'"));
}

TEST(ChannelNorm, OneParameterPerChannel) {
  EXPECT_THAT(run_operator("BatchNorm", {{2, 8, 4, 4}, {8}, {8}}).shapes,
              ElementsAre(Shape{2, 8, 4, 4}));
  EXPECT_THAT(run_operator("BatchNorm", {{2, 8, 4, 4}, {8}, {4}}).error,
              HasSubstr("parameter 2 has shape [4]"));
  EXPECT_THAT(
      run_operator("GroupNorm", {{2, 8, 4, 4}, {8}, {8}}, {{"groups", std::int64_t{3}}}).error,
      HasSubstr("3 groups of 8"));
}

TEST(Pad, GrowsEveryAxis) {
  EXPECT_THAT(run_operator("Pad", {{1, 2, 3}}, {{"pads", Integers{0, 0, 1, 0, 0, 2}}}).shapes,
              ElementsAre(Shape{1, 2, 6}));
}

TEST(ConvPrecision, TheWeightIsAMatMulOperandTheBiasIsNot) {
  Graph graph("conv");
  const TensorId x = graph.add_input("x", {1, 4, 8, 8}, DType::kFp32);
  const TensorId weight = graph.add_weight("w", {4, 4, 3, 3}, DType::kFp32);
  const TensorId bias = graph.add_weight("b", {4}, DType::kFp32);
  graph.mark_output(graph.add_op("conv", "Conv", {x, weight, bias}));
  apply_precision(find_precision("bf16-matmul"), &graph);
  EXPECT_EQ(graph.tensor(weight).dtype, DType::kBf16);
  EXPECT_EQ(graph.tensor(bias).dtype, DType::kFp32);
}

}  // namespace
}  // namespace foretell
