#include "workloads/ir/training/training_step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kRows = 6;
constexpr std::int64_t kIn = 8;
constexpr std::int64_t kOut = 4;

// y = relu(x W1 + b) W2
Graph two_layers() {
  Graph graph("two");
  const TensorId x = graph.add_input("x", {2, kRows / 2, kIn}, DType::kFp32);
  const TensorId first = graph.add_weight("w1", {kIn, kIn}, DType::kFp32);
  const TensorId bias = graph.add_weight("b", {kIn}, DType::kFp32);
  const TensorId second = graph.add_weight("w2", {kIn, kOut}, DType::kFp32);
  TensorId y = graph.add_op("first", "MatMul", {x, first});
  y = graph.add_op("bias", "Add", {y, bias});
  y = graph.add_op("relu", "Relu", {y});
  graph.mark_output(graph.add_op("second", "MatMul", {y, second}));
  return graph;
}

double flops_of(const TrainingStep& step, std::string_view kind, bool backward) {
  double sum = 0;
  for (OpId id = 0; id < static_cast<OpId>(step.graph.ops().size()); ++id) {
    if (step.graph.op(id).kind == kind && (id >= step.first_backward) == backward)
      sum += step.graph.flops(id).value();
  }
  return sum;
}

TEST(TrainingStep, ProductsTakeTwiceAsMuchBackwardsButForTheInputOfTheNetwork) {
  const TrainingStep step = derive_training_step(two_layers(), Optimizer::kSgd, 1);
  const double first = 2.0 * kRows * kIn * kIn;
  const double second = 2.0 * kRows * kIn * kOut;
  EXPECT_DOUBLE_EQ(flops_of(step, "MatMul", false), first + second);
  EXPECT_DOUBLE_EQ(flops_of(step, "MatMul", true), 2 * (first + second) - first);
}

TEST(TrainingStep, StateOfTheOptimiserIsExact) {
  const double parameters = kIn * kIn + kIn + kIn * kOut;
  const Graph graph = two_layers();
  const auto state = [&](Optimizer optimizer) {
    return derive_training_step(graph, optimizer, 1).optimizer_state.value();
  };
  EXPECT_DOUBLE_EQ(state(Optimizer::kSgd), 0);
  EXPECT_DOUBLE_EQ(state(Optimizer::kMomentum), 4 * parameters);
  EXPECT_DOUBLE_EQ(state(Optimizer::kAdam), 8 * parameters);
  const TrainingStep step = derive_training_step(graph, Optimizer::kAdam, 1);
  EXPECT_EQ(step.parameters, static_cast<std::int64_t>(parameters));
  EXPECT_DOUBLE_EQ(step.weights.value(), 4 * parameters);
  EXPECT_DOUBLE_EQ(step.gradients.value(), 4 * parameters);
  EXPECT_DOUBLE_EQ(step.update.value(), 14 * parameters);
  EXPECT_DOUBLE_EQ(step.all_reduce.value(), 0);
}

TEST(TrainingStep, NarrowWeightsHaveACopyInFp32) {
  Graph graph = two_layers();
  double narrow = 0;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const auto id = static_cast<TensorId>(i);
    if (graph.tensor(id).name == "b") continue;
    graph.set_dtype(id, DType::kBf16);
    if (graph.tensor(id).kind == TensorKind::kWeight)
      narrow += static_cast<double>(element_count(graph.tensor(id).shape));
  }
  const TrainingStep step = derive_training_step(graph, Optimizer::kMomentum, 4);
  EXPECT_DOUBLE_EQ(step.optimizer_state.value(), 4 * narrow + 4 * (narrow + kIn));
  EXPECT_DOUBLE_EQ(step.all_reduce.value(), 2 * narrow + 4 * kIn);  // in the types of the weights
  const auto& ops = step.graph.ops();
  const auto sums =
      std::count_if(ops.begin(), ops.end(), [](const Op& op) { return op.kind == "AllReduce"; });
  EXPECT_EQ(sums, 1);  // all weights are outside of layers: one bucket
}

TEST(TrainingStep, KeepsWhatTheBackwardPassReads) {
  const TrainingStep step = derive_training_step(two_layers(), Optimizer::kSgd, 1);
  // The result of the activation, once: second product and derivative of the activation. The input
  // is no activation, and the logits are what the loss begins with.
  EXPECT_DOUBLE_EQ(step.saved_activations.value(), 4.0 * kRows * (kIn + kOut));
  EXPECT_GE(step.most_activations, step.saved_activations);
}

TEST(TrainingStep, BackwardLayersAreTheForwardOnesReversed) {
  Graph graph("deep");
  TensorId x = graph.add_input("x", {kRows, kIn}, DType::kFp32);
  for (std::int32_t layer = 0; layer < 3; ++layer) {
    const std::string name = "layer." + std::to_string(layer);
    const TensorId weight = graph.add_weight(name + ".w", {kIn, kIn}, DType::kFp32);
    x = graph.add_op(name, "MatMul", {x, weight}, {}, layer);
  }
  graph.mark_output(x);
  const TrainingStep step = derive_training_step(graph, Optimizer::kSgd, 2);
  std::int32_t last = -1;
  for (const Op& op : step.graph.ops()) {
    if (op.layer == kNoId) continue;
    EXPECT_GE(op.layer, last) << op.name;
    last = op.layer;
  }
  EXPECT_EQ(last, 5);
}

TEST(TrainingStep, SaysWhyItCannotTrain) {
  Graph graph = two_layers();
  graph.set_dtype(1, DType::kInt8);
  const auto message = [](const Graph& network) {
    try {
      derive_training_step(network, Optimizer::kSgd, 1);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message(graph), HasSubstr("weights of type int8 are not trained"));
  Graph top("top");
  const TensorId weight = top.add_weight("w", {kIn, kIn}, DType::kFp32);
  const TensorId x = top.add_input("x", {kRows, kIn}, DType::kFp32);
  top.mark_output(top.add_op("top", "TopK", {top.add_op("p", "MatMul", {x, weight})},
                             {{"k", std::int64_t{2}}}));
  EXPECT_THAT(message(top), HasSubstr("operator 'top' (TopK) has no derivative"));
  Graph cached("cached");
  cached.add_state("cache", {1, 1, 8, 8}, DType::kFp32);
  EXPECT_THAT(message(cached), HasSubstr("'cache' is a cache"));
  EXPECT_THAT(message(Graph("empty")), HasSubstr("no weights"));
  EXPECT_THROW(parse_optimizer("adamw"), UserError);
}

}  // namespace
}  // namespace foretell
