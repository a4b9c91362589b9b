#include <gmock/gmock.h>

#include "workloads/ir/operators/operator_test_case.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::run_operator;

const std::map<std::string, Attribute> kTransposed{{"transpose_b", std::int64_t{1}}};

TEST(MatMul, AWeightServesEveryBatch) {
  const auto outcome = run_operator("MatMul", {{8, 128, 64}, {64, 32}});
  EXPECT_THAT(outcome.shapes, ElementsAre(Shape{8, 128, 32}));
  EXPECT_EQ(outcome.flops, 2.0 * 8 * 128 * 64 * 32);
}

TEST(MatMul, TransposedSecondOperand) {
  const auto scores = run_operator("MatMul", {{2, 4, 10, 16}, {2, 4, 20, 16}}, kTransposed);
  EXPECT_THAT(scores.shapes, ElementsAre(Shape{2, 4, 10, 20}));
  EXPECT_EQ(scores.flops, 2.0 * 2 * 4 * 10 * 20 * 16);
  const auto plain = run_operator("MatMul", {{2, 4, 10, 16}, {2, 4, 16, 20}});
  EXPECT_EQ(scores.flops, plain.flops) << "how an operand is stored changes no arithmetic";
}

TEST(MatMul, BatchDimensionsBroadcast) {
  EXPECT_THAT(run_operator("MatMul", {{2, 1, 3, 4}, {5, 4, 6}}).shapes,
              ElementsAre(Shape{2, 5, 3, 6}));
}

TEST(MatMul, WhatDoesNotFitIsNamed) {
  EXPECT_THAT(run_operator("MatMul", {{8, 64}, {32, 64}}).error,
              AllOf(HasSubstr("operator 'op' (MatMul)"), HasSubstr("64 and 32 differ"),
                    HasSubstr("[8, 64] x [32, 64]")));
  EXPECT_TRUE(run_operator("MatMul", {{8, 64}, {32, 64}}, kTransposed).error.empty());
  EXPECT_THAT(run_operator("MatMul", {{2, 8, 4}, {3, 4, 8}}).error, HasSubstr("do not broadcast"));
  EXPECT_THAT(run_operator("MatMul", {{4}, {4, 8}}).error, HasSubstr("at least two dimensions"));
}

}  // namespace
}  // namespace foretell
