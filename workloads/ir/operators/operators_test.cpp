#include "workloads/ir/operators.hpp"

#include <gmock/gmock.h>

#include <set>

#include "workloads/ir/operators/operator_test_case.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::run_operator;

Attribute integer(std::int64_t value) { return value; }
Attribute text(const char* value) { return std::string(value); }

TEST(OperatorTable, EveryKindStandsOnceAndIsExplained) {
  std::set<std::string_view> kinds;
  for (const OperatorInfo& info : operator_table()) {
    EXPECT_TRUE(kinds.insert(info.kind).second) << info.kind;
    EXPECT_FALSE(info.summary.empty()) << info.kind;
    EXPECT_LE(info.min_inputs, info.max_inputs) << info.kind;
    EXPECT_EQ(&find_operator(info.kind), &info);
  }
}

TEST(Broadcast, AlignsAtTheRight) {
  Shape result;
  ASSERT_TRUE(broadcast({8, 1, 128}, {16, 1}, &result));
  EXPECT_EQ(result, (Shape{8, 16, 128}));
  ASSERT_TRUE(broadcast({}, {4}, &result));
  EXPECT_EQ(result, Shape{4});
  EXPECT_FALSE(broadcast({8, 2}, {8, 3}, &result));
}

TEST(Elementwise, TwoTensorsOrATensorAndANumber) {
  const auto mask = run_operator("Add", {{2, 12, 8, 8}, {2, 1, 1, 8}});
  EXPECT_THAT(mask.shapes, ElementsAre(Shape{2, 12, 8, 8}));
  EXPECT_EQ(mask.flops, 2 * 12 * 8 * 8);
  EXPECT_THAT(run_operator("Mul", {{4, 5}}, {{"scalar", Attribute(0.125)}}).shapes,
              ElementsAre(Shape{4, 5}));
  EXPECT_THAT(run_operator("Mul", {{4, 5}}).error, HasSubstr("'scalar' is missing"));
  EXPECT_THAT(run_operator("Mul", {{4, 5}}, {{"scalar", text("x")}}).error,
              HasSubstr("must be a number"));
  EXPECT_THAT(run_operator("Mul", {{4}, {4}}, {{"scalar", integer(2)}}).error,
              HasSubstr("leave one of them out"));
  EXPECT_THAT(run_operator("Add", {{4, 5}, {4, 6}}).error,
              HasSubstr("[4, 5] and [4, 6] do not broadcast"));
}

TEST(CausalMask, EveryQueryLiesAmongTheKeys) {
  EXPECT_THAT(run_operator("CausalMask", {{2, 8, 8}}, {{"offset", integer(0)}}).shapes,
              ElementsAre(Shape{2, 8, 8}));
  EXPECT_TRUE(run_operator("CausalMask", {{2, 1, 8}}, {{"offset", integer(7)}}).error.empty());
  EXPECT_THAT(run_operator("CausalMask", {{2, 1, 8}}, {{"offset", integer(8)}}).error,
              HasSubstr("outside the 8 keys"));
  EXPECT_THAT(run_operator("CausalMask", {{2, 1, 8}}, {{"offset", integer(-1)}}).error,
              HasSubstr("outside"));
}

TEST(Softmax, KeepsTheShape) {
  const auto outcome = run_operator("Softmax", {{4, 10}}, {{"axis", integer(-1)}});
  EXPECT_THAT(outcome.shapes, ElementsAre(Shape{4, 10}));
  EXPECT_EQ(outcome.flops, 5 * 40);
  EXPECT_THAT(run_operator("Softmax", {{4, 10}}, {{"axis", integer(2)}}).error,
              HasSubstr("has 2 dimensions"));
}

TEST(Norm, ParametersMatchTheLastAxis) {
  EXPECT_THAT(run_operator("LayerNorm", {{4, 10}, {10}, {10}}).shapes, ElementsAre(Shape{4, 10}));
  EXPECT_THAT(run_operator("LayerNorm", {{4, 10}, {10}, {4}}).error,
              HasSubstr("beta has shape [4]"));
  EXPECT_THAT(run_operator("RmsNorm", {{4, 10}, {11}}).error, HasSubstr("gamma has shape [11]"));
  EXPECT_GT(run_operator("LayerNorm", {{4, 10}, {10}, {10}}).flops,
            run_operator("RmsNorm", {{4, 10}, {10}}).flops);
}

TEST(Gelu, BothFormulasAndNoOther) {
  EXPECT_GT(run_operator("Gelu", {{10}}, {{"approximate", text("tanh")}}).flops,
            run_operator("Gelu", {{10}}, {{"approximate", text("none")}}).flops);
  EXPECT_THAT(run_operator("Gelu", {{10}}, {{"approximate", text("fast")}}).error,
              HasSubstr("allowed are 'none' and 'tanh'"));
  EXPECT_THAT(run_operator("Gelu", {{10}}).error, HasSubstr("'approximate' is missing"));
}

TEST(Gather, RowsOfATable) {
  const auto outcome = run_operator("Gather", {{30522, 768}, {8, 128}});
  EXPECT_THAT(outcome.shapes, ElementsAre(Shape{8, 128, 768}));
  EXPECT_EQ(outcome.flops, 0);
  EXPECT_THAT(run_operator("Gather", {{768}, {8}}).error, HasSubstr("[rows, columns]"));
}

TEST(Reduce, DropsOrKeepsTheAxis) {
  EXPECT_THAT(run_operator("ReduceMax", {{4, 5, 6}}, {{"axis", integer(1)}}).shapes,
              ElementsAre(Shape{4, 6}));
  EXPECT_THAT(
      run_operator("ReduceSum", {{4, 5, 6}}, {{"axis", integer(-1)}, {"keep_dims", integer(1)}})
          .shapes,
      ElementsAre(Shape{4, 5, 1}));
  EXPECT_EQ(run_operator("ReduceMean", {{4, 5, 6}}, {{"axis", integer(0)}}).flops, 120);
}

}  // namespace
}  // namespace foretell
