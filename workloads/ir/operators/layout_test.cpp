#include <gmock/gmock.h>

#include "workloads/ir/operators/operator_test_case.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::run_operator;

Attribute whole(std::int64_t value) { return value; }

TEST(Reshape, KeepsTheElements) {
  EXPECT_THAT(run_operator("Reshape", {{8, 12}}, {{"shape", Shape{2, 4, 12}}}).shapes,
              ElementsAre(Shape{2, 4, 12}));
  EXPECT_THAT(run_operator("Reshape", {{8, 12}}, {{"shape", Shape{-1, 24}}}).shapes,
              ElementsAre(Shape{4, 24}));
  EXPECT_THAT(run_operator("Reshape", {{8, 12}}, {{"shape", Shape{8, 13}}}).error,
              HasSubstr("cannot reshape"));
  EXPECT_THAT(run_operator("Reshape", {{8, 12}}, {{"shape", Shape{-1, 7}}}).error,
              HasSubstr("cannot reshape"));
  EXPECT_THAT(run_operator("Reshape", {{8, 12}}, {{"shape", Shape{-1, -1}}}).error,
              HasSubstr("cannot reshape"));
  EXPECT_THAT(run_operator("Reshape", {{8, 12}}).error, HasSubstr("'shape' is missing"));
}

TEST(Transpose, PermutesTheAxes) {
  EXPECT_THAT(run_operator("Transpose", {{2, 3, 5}}, {{"perm", Shape{2, 0, 1}}}).shapes,
              ElementsAre(Shape{5, 2, 3}));
  EXPECT_THAT(run_operator("Transpose", {{2, 3, 5}}, {{"perm", Shape{0, 0, 1}}}).error,
              HasSubstr("no permutation"));
  EXPECT_THAT(run_operator("Transpose", {{2, 3, 5}}, {{"perm", Shape{1, 0}}}).error,
              HasSubstr("no permutation"));
  EXPECT_THAT(run_operator("Transpose", {{2, 3}}, {{"perm", Shape{}}}).error,
              HasSubstr("no permutation"));
}

TEST(Split, PiecesAddUp) {
  const auto outcome =
      run_operator("Split", {{4, 9}}, {{"axis", whole(-1)}, {"sizes", Shape{2, 7}}});
  EXPECT_THAT(outcome.shapes, ElementsAre(Shape{4, 2}, Shape{4, 7}));
  EXPECT_EQ(outcome.flops, 0) << "moving data is no arithmetic";
  EXPECT_THAT(run_operator("Split", {{4, 9}}, {{"axis", whole(1)}, {"sizes", Shape{2, 6}}}).error,
              HasSubstr("do not add up"));
  EXPECT_THAT(run_operator("Split", {{4, 9}}, {{"axis", whole(2)}, {"sizes", Shape{9}}}).error,
              HasSubstr("has 2 dimensions"));
}

TEST(Slice, TakesARange) {
  const auto range = [](std::int64_t begin, std::int64_t end) -> std::map<std::string, Attribute> {
    return {{"axis", whole(1)}, {"begin", whole(begin)}, {"end", whole(end)}};
  };
  EXPECT_THAT(run_operator("Slice", {{4, 9}}, range(2, 9)).shapes, ElementsAre(Shape{4, 7}));
  EXPECT_THAT(run_operator("Slice", {{4, 9}}, range(2, 10)).error,
              HasSubstr("[2, 10) is no range"));
  EXPECT_THAT(run_operator("Slice", {{4, 9}}, range(3, 3)).error, HasSubstr("[3, 3) is no range"));
}

TEST(Concat, JoinsWhatAgreesElsewhere) {
  EXPECT_THAT(run_operator("Concat", {{4, 9}, {4, 2}, {4, 1}}, {{"axis", whole(-1)}}).shapes,
              ElementsAre(Shape{4, 12}));
  EXPECT_THAT(run_operator("Concat", {{4, 9}, {5, 2}}, {{"axis", whole(1)}}).error,
              HasSubstr("does not join"));
}

TEST(Concat, IsTheInverseOfSplit) {
  const auto pieces =
      run_operator("Split", {{4, 9}}, {{"axis", whole(1)}, {"sizes", Shape{2, 3, 4}}}).shapes;
  EXPECT_THAT(run_operator("Concat", pieces, {{"axis", whole(1)}}).shapes,
              ElementsAre(Shape{4, 9}));
}

}  // namespace
}  // namespace foretell
