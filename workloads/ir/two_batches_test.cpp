#include "workloads/ir/two_batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "model/base/text.hpp"

namespace foretell {
namespace {

// Layers of a product, a sum over ranks and a pass over a cache.
Graph layers(std::int64_t batch, int count) {
  Graph graph("layers");
  TensorId x = graph.add_input("x", {batch, 64}, DType::kBf16);
  const std::map<std::string, Attribute> ranks{{"ranks", std::int64_t{4}}};
  for (int layer = 0; layer < count; ++layer) {
    const std::string name = "layer." + std::to_string(layer);
    const TensorId weight = graph.add_weight(name + ".weight", {64, 64}, DType::kFp8);
    graph.keep(weight);
    x = graph.add_op(name + ".product", "MatMul", {x, weight}, {}, layer);
    x = graph.add_op(name + ".sum", "AllReduce", {x}, ranks, layer);
    x = graph.add_op(name + ".relu", "Relu", {x}, {}, layer);
  }
  graph.mark_output(x);
  return graph;
}

std::vector<std::string> names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Op& op : graph.ops()) names.push_back(op.name);
  return names;
}

TEST(TwoBatches, TakeTurnsAtCollectives) {
  const std::vector<std::string> expected = {"layer.0.product",
                                             "layer.0.sum",
                                             "second_half.layer.0.product",
                                             "second_half.layer.0.sum",
                                             "layer.0.relu",
                                             "layer.1.product",
                                             "layer.1.sum",
                                             "second_half.layer.0.relu",
                                             "second_half.layer.1.product",
                                             "second_half.layer.1.sum",
                                             "layer.1.relu",
                                             "second_half.layer.1.relu"};
  const Graph both = in_turns(layers(3, 2), layers(2, 2));
  EXPECT_EQ(names(both), expected);
  EXPECT_TRUE(is_in_turns(both));
  EXPECT_FALSE(is_in_turns(layers(3, 2)));
}

TEST(TwoBatches, HoldTheWorkOfBothAndTheWeightsOnce) {
  const Graph first = layers(3, 5);
  const Graph second = layers(2, 5);
  const Graph both = in_turns(first, second);
  EXPECT_EQ(both.ops().size(), first.ops().size() + second.ops().size());
  EXPECT_EQ(both.total_flops(), first.total_flops() + second.total_flops());
  EXPECT_EQ(both.weight_bytes(), first.weight_bytes());
  EXPECT_EQ(both.parameter_count(), first.parameter_count());
  EXPECT_EQ(both.inputs().size(), 2U);
  EXPECT_EQ(both.outputs().size(), 2U);
  const std::vector<std::string> all = names(both);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

// No half reads what the other one made, and types stay what they were.
TEST(TwoBatches, AreApartFromEachOther) {
  const Graph both = in_turns(layers(3, 4), layers(2, 4));
  const auto is_second = [](const std::string& name) { return starts_with(name, kSecondHalf); };
  for (const Op& op : both.ops()) {
    for (const TensorId input : op.inputs) {
      const Tensor& tensor = both.tensor(input);
      if (tensor.kind == TensorKind::kWeight) {
        EXPECT_EQ(tensor.dtype, DType::kFp8);
        EXPECT_TRUE(tensor.is_kept);
        EXPECT_EQ(tensor.consumers.size(), 2U);
        continue;
      }
      EXPECT_EQ(tensor.dtype, DType::kBf16);
      EXPECT_EQ(is_second(tensor.name), is_second(op.name)) << op.name;
    }
  }
}

}  // namespace
}  // namespace foretell
