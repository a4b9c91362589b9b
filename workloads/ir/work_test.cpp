#include "workloads/ir/work.hpp"

#include <gtest/gtest.h>

#include "workloads/ir/testing/total_macs.hpp"

namespace foretell {
namespace {

TEST(Work, OfAConvolutionWithABias) {
  Graph graph("net");
  const TensorId x = graph.add_input("x", {2, 3, 8, 8}, DType::kFp32);
  const TensorId w = graph.add_weight("w", {4, 3, 3, 3}, DType::kBf16);
  const TensorId b = graph.add_weight("b", {4}, DType::kFp32);
  const TensorId y = graph.add_op("conv", "Conv", {x, w, b});
  graph.mark_output(graph.add_op("relu", "Relu", {y}));
  EXPECT_EQ(macs_of(graph, 0), 2 * 4 * 6 * 6 * 27);
  EXPECT_EQ(macs_of(graph, 1), 0);
  EXPECT_EQ(total_macs(graph), macs_of(graph, 0));
  EXPECT_EQ(parameters_of(graph, 0), 4 * 27 + 4);
  EXPECT_EQ(parameters_of(graph, 1), 0);
  EXPECT_EQ(bytes_moved(graph, 0).value(), 4 * 384 + 2 * 108 + 4 * 4 + 4 * 288);
  EXPECT_EQ(bytes_moved(graph, 1).value(), 2 * 4 * 288);
  const auto weights = bytes_by_dtype(graph, TensorKind::kWeight);
  EXPECT_EQ(weights.at(DType::kBf16).value(), 2 * 108);
  EXPECT_EQ(weights.at(DType::kFp32).value(), 4 * 4);
}

TEST(Work, OnlyTheRowsThatAreGatheredMove) {
  Graph graph("net");
  const TensorId table = graph.add_weight("table", {1000, 16}, DType::kFp32);
  const TensorId ids = graph.add_input("ids", {5}, DType::kInt64);
  graph.mark_output(graph.add_op("gather", "Gather", {table, ids}));
  EXPECT_EQ(bytes_moved(graph, 0).value(), 2 * 5 * 16 * 4 + 5 * 8);
}

}  // namespace
}  // namespace foretell
