#include <gmock/gmock.h>

#include "workloads/ir/operators/operator_test_case.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::run_operator;

std::map<std::string, Attribute> one(const char* name, std::int64_t value) {
  return {{name, value}};
}

TEST(Rope, RotatesPairsOfColumns) {
  const auto all = run_operator("Rope", {{2, 8, 5, 64}, {2, 5}}, one("dim", 64));
  const auto half = run_operator("Rope", {{2, 8, 5, 64}, {2, 5}}, one("dim", 32));
  EXPECT_THAT(all.shapes, ElementsAre(Shape{2, 8, 5, 64}));
  EXPECT_EQ(all.flops, 2 * half.flops);
  EXPECT_THAT(run_operator("Rope", {{2, 8, 5, 64}, {2, 5}}, one("dim", 66)).error,
              HasSubstr("cannot rotate 66 of 64 columns"));
  EXPECT_THAT(run_operator("Rope", {{2, 8, 5, 64}, {2, 5}}, one("dim", 33)).error,
              HasSubstr("cannot rotate 33"));
  EXPECT_THAT(run_operator("Rope", {{2, 8, 5, 64}, {2, 8}}, one("dim", 64)).error,
              HasSubstr("positions [batch, tokens]"));
}

TEST(UpdateCache, NewRowsFitTheCache) {
  const Shape cache{2, 8, 128, 64};
  const auto outcome = run_operator("UpdateCache", {cache, {2, 8, 1, 64}});
  EXPECT_THAT(outcome.shapes, ElementsAre(cache));
  EXPECT_EQ(outcome.flops, 0);
  EXPECT_TRUE(run_operator("UpdateCache", {cache, cache}).error.empty());
  EXPECT_THAT(run_operator("UpdateCache", {cache, {2, 8, 129, 64}}).error, HasSubstr("do not fit"));
  EXPECT_THAT(run_operator("UpdateCache", {cache, {2, 4, 1, 64}}).error, HasSubstr("do not fit"));
}

TEST(TopK, YieldsValuesAndIndices) {
  Graph graph("g");
  const TensorId x = graph.add_input("x", {4, 8}, DType::kFp32);
  const TensorId values = graph.add_op("top", "TopK", {x}, one("k", 2));
  EXPECT_EQ(graph.tensor(values).shape, (Shape{4, 2}));
  EXPECT_EQ(graph.tensor(values).dtype, DType::kFp32);
  EXPECT_EQ(graph.tensor(values + 1).shape, (Shape{4, 2}));
  EXPECT_EQ(graph.tensor(values + 1).dtype, DType::kInt32);
  EXPECT_THAT(run_operator("TopK", {{4, 8}}, one("k", 9)).error, HasSubstr("cannot choose 9"));
  EXPECT_THAT(run_operator("TopK", {{4, 8}}, one("k", 0)).error, HasSubstr("cannot choose 0"));
}

TEST(ExpertMatMul, ComputesTheChosenExpertsOnly) {
  const auto up = run_operator("ExpertMatMul", {{3, 1, 16}, {8, 16, 32}, {3, 2}});
  EXPECT_THAT(up.shapes, ElementsAre(Shape{3, 2, 32}));
  EXPECT_EQ(up.flops, 2.0 * 3 * 2 * 16 * 32) << "2 of 8 experts for each of 3 rows";
  const auto down = run_operator("ExpertMatMul", {{3, 2, 32}, {8, 32, 16}, {3, 2}});
  EXPECT_EQ(down.flops, up.flops);
  EXPECT_THAT(run_operator("ExpertMatMul", {{3, 1, 16}, {8, 15, 32}, {3, 2}}).error,
              HasSubstr("do not fit"));
  EXPECT_THAT(run_operator("ExpertMatMul", {{3, 1, 16}, {1, 16, 32}, {3, 2}}).error,
              HasSubstr("do not fit"));
  EXPECT_THAT(run_operator("ExpertMatMul", {{3, 4, 16}, {8, 16, 32}, {3, 2}}).error,
              HasSubstr("do not fit"));
}

std::map<std::string, Attribute> spread(std::int64_t ranks) {
  return {{"axis", std::int64_t{1}}, {"ranks", ranks}};
}

TEST(ReduceScatter, LeavesTheShareOfACoreRoundedUp) {
  EXPECT_THAT(run_operator("ReduceScatter", {{2, 128, 64}}, spread(8)).shapes,
              ElementsAre(Shape{2, 16, 64}));
  EXPECT_THAT(run_operator("ReduceScatter", {{2, 130, 64}}, spread(8)).shapes,
              ElementsAre(Shape{2, 17, 64}));
  EXPECT_THAT(run_operator("ReduceScatter", {{2, 128, 64}}, spread(0)).error,
              HasSubstr("'ranks' is 0"));
}

TEST(AllGather, PutsSharesTogetherWithoutThePadding) {
  auto attributes = spread(8);
  attributes["size"] = std::int64_t{130};
  EXPECT_THAT(run_operator("AllGather", {{2, 17, 64}}, attributes).shapes,
              ElementsAre(Shape{2, 130, 64}));
  EXPECT_THAT(run_operator("AllGather", {{2, 16, 64}}, attributes).error,
              HasSubstr("shares of 16 do not make 130 on 8 cores"));
}

}  // namespace
}  // namespace foretell
