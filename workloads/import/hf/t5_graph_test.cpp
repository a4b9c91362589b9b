#include "workloads/import/hf/t5_graph.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

ModelConfig load_t5(const std::string& name) { return WorkloadLibrary().load(name); }

std::string binding_message(const Binding& binding) {
  try {
    build_graph(load_t5("t5-3b"), binding);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<Shape> states(const Graph& graph, bool produced) {
  std::vector<Shape> shapes;
  for (const Tensor& tensor : graph.tensors()) {
    const bool is_produced = tensor.producer != kNoId;
    if (tensor.kind == TensorKind::kState && is_produced == produced)
      shapes.push_back(tensor.shape);
  }
  return shapes;
}

// Distinct parameters of the two graphs: weights of the same name are the same weight.
std::int64_t parameters(const std::string& name) {
  std::map<std::string, std::int64_t> counts;
  const Graph prefill = build_graph(load_t5(name), {1, 16, Phase::kPrefill});
  const Graph decode = build_graph(load_t5(name), {1, 1, Phase::kDecode, 16, 16});
  for (const Graph* graph : {&prefill, &decode}) {
    for (const Tensor& tensor : graph->tensors()) {
      if (tensor.kind == TensorKind::kWeight) counts[tensor.name] = element_count(tensor.shape);
    }
  }
  std::int64_t sum = 0;
  for (const auto& [weight, count] : counts) sum += count;
  return sum;
}

TEST(T5Graph, BothPhasesTogetherHoldThePublishedParameters) {
  EXPECT_EQ(parameters("t5-3b"), 2851598336);
  EXPECT_EQ(parameters("google/flan-t5-xl"), 2849757184);
}

TEST(T5Graph, PrefillLeavesKeysAndValuesOfTheCrossAttention) {
  const Graph graph = build_graph(load_t5("t5-3b"), {2, 100, Phase::kPrefill});
  const std::vector<Shape> left = states(graph, true);
  ASSERT_EQ(left.size(), 2u * 24);
  for (const Shape& shape : left) EXPECT_EQ(shape, (Shape{2, 32, 100, 128}));
  EXPECT_TRUE(graph.outputs().empty()) << "the first token comes from the first decode step";
}

TEST(T5Graph, DecodeReadsWhatPrefillLeft) {
  const Graph graph = build_graph(load_t5("t5-3b"), {2, 1, Phase::kDecode, 128, 100});
  const std::vector<Shape> read = states(graph, false);
  EXPECT_EQ(std::count(read.begin(), read.end(), Shape({2, 32, 100, 128})), 2 * 24);
  EXPECT_EQ(std::count(read.begin(), read.end(), Shape({2, 32, 128, 128})), 2 * 24);
  EXPECT_EQ(graph.tensor(graph.outputs().front()).shape, (Shape{2, 1, 32128}));
}

TEST(T5Graph, ScoresAreNotScaledButBiasedByDistance) {
  const Graph graph = build_graph(load_t5("t5-3b"), {1, 1, Phase::kDecode, 128, 100});
  int biases = 0;
  for (const Op& op : graph.ops()) {
    EXPECT_EQ(op.name.find("attention.scale"), std::string::npos) << op.name;
    biases += op.name.find(".attention.bias") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(biases, 24) << "self attention alone";
}

TEST(T5Graph, PhasesThatItDoesNotHave) {
  EXPECT_THAT(binding_message({1, 128}), HasSubstr("give --input-len and --output-len"));
  EXPECT_THAT(binding_message({1, 1, Phase::kDecode, 128}), HasSubstr("encoder_len is 0"));
  EXPECT_EQ(binding_message({1, 128, Phase::kPrefill}), "no error");
}

}  // namespace
}  // namespace foretell
