#include "workloads/ir/graph.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr DType kType = DType::kFp32;

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Graph, AnOperatorKnowsItsTensorsAndTheyKnowIt) {
  Graph graph("g");
  const TensorId x = graph.add_input("x", {4, 8}, kType);
  const TensorId w = graph.add_weight("w", {8, 16}, kType);
  const TensorId product = graph.add_op("product", "MatMul", {x, w}, {}, 3);
  const TensorId sum = graph.add_op("sum", "Add", {product, product});
  graph.mark_output(sum);

  EXPECT_EQ(graph.tensor(product).shape, (Shape{4, 16}));
  EXPECT_EQ(graph.tensor(product).producer, 0);
  EXPECT_EQ(graph.op(0).layer, 3);
  EXPECT_EQ(graph.op(1).layer, kNoId);
  EXPECT_THAT(graph.tensor(w).consumers, ElementsAre(0));
  EXPECT_THAT(graph.tensor(product).consumers, ElementsAre(1))
      << "one consumer, though it reads twice";
  EXPECT_THAT(graph.inputs(), ElementsAre(x));
  EXPECT_THAT(graph.outputs(), ElementsAre(sum));
}

TEST(Graph, AMultiplyAccumulateIsTwoFlops) {
  Graph graph("g");
  const TensorId x = graph.add_input("x", {2, 4, 8}, kType);
  const TensorId w = graph.add_weight("w", {8, 16}, kType);
  graph.add_op("product", "MatMul", {x, w});
  EXPECT_EQ(graph.flops(0).value(), 2.0 * 2 * 4 * 8 * 16);
  EXPECT_EQ(graph.total_flops(), graph.flops(0));
}

TEST(Graph, ASharedWeightCountsOnce) {
  Graph graph("g");
  const TensorId x = graph.add_input("x", {4, 8}, kType);
  const TensorId w = graph.add_weight("w", {8, 8}, DType::kBf16);
  graph.add_op("second", "MatMul", {graph.add_op("first", "MatMul", {x, w}), w});
  EXPECT_EQ(graph.parameter_count(), 64);
  EXPECT_EQ(graph.weight_bytes().value(), 128);
}

TEST(Graph, InputsAreNoParameters) {
  Graph graph("g");
  graph.add_input("x", {4, 8}, kType);
  EXPECT_EQ(graph.parameter_count(), 0);
}

TEST(Graph, AnUnknownOperatorSaysHowToAddOne) {
  Graph graph("g");
  const TensorId x = graph.add_input("x", {4}, kType);
  EXPECT_THAT(message_of([&] { graph.add_op("a", "Gelo", {x}); }),
              AllOf(HasSubstr("'Gelo'"), HasSubstr("'Gelu'"), HasSubstr("to add one"),
                    HasSubstr("workloads/ir/operators.cpp")));
}

TEST(Graph, WrongNumbersOfInputsAreRefused) {
  Graph graph("g");
  const TensorId x = graph.add_input("x", {4, 4}, kType);
  EXPECT_THAT(message_of([&] { graph.add_op("a", "MatMul", {x}); }),
              HasSubstr("operator 'a' (MatMul): takes 2 inputs, got 1"));
  EXPECT_THAT(message_of([&] {
                graph.add_op("b", "Add", {x, x, x});
              }),
              HasSubstr("takes 1 to 2 inputs, got 3"));
}

TEST(Graph, UnknownAttributesAreRefused) {
  Graph graph("g");
  const TensorId x = graph.add_input("x", {4, 4}, kType);
  EXPECT_THAT(
      message_of([&] {
        graph.add_op("a", "MatMul", {x, x}, {{"transposeb", std::int64_t{1}}});
      }),
      AllOf(HasSubstr("operator 'a'"), HasSubstr("'transposeb'"), HasSubstr("'transpose_b'")));
}

TEST(Graph, ARefusedOperatorLeavesNoTrace) {
  Graph graph("g");
  const TensorId x = graph.add_input("x", {4, 8}, kType);
  EXPECT_THROW(graph.add_op("a", "MatMul", {x, x}), UserError);
  EXPECT_TRUE(graph.ops().empty());
  EXPECT_EQ(graph.tensors().size(), 1u);
  EXPECT_TRUE(graph.tensor(x).consumers.empty());
}

TEST(Graph, DimensionsAreAtLeastOne) {
  Graph graph("g");
  EXPECT_THAT(message_of([&] {
                graph.add_input("x", {4, 0}, kType);
              }),
              AllOf(HasSubstr("'x'"), HasSubstr("[4, 0]"), HasSubstr("at least 1")));
}

TEST(Graph, WhatCannotBeCountedIsRefused) {
  EXPECT_EQ(element_count({std::int64_t{1} << 31, std::int64_t{1} << 31}), std::int64_t{1} << 62);
  EXPECT_THAT(message_of([] {
                element_count({std::int64_t{1} << 32, std::int64_t{1} << 31});
              }),
              HasSubstr("more than 2^63 elements"));
}

TEST(Graph, AnInputCannotBeAnOutput) {
  Graph graph("g");
  const TensorId x = graph.add_input("x", {4}, kType);
  EXPECT_THROW(graph.mark_output(x), InternalError);
}

}  // namespace
}  // namespace foretell
