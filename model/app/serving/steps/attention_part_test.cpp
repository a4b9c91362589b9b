#include "model/app/serving/steps/attention_part.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

Graph decode_of(const char* network, std::int64_t batch) {
  ModelConfig config = WorkloadLibrary().load(network);
  Binding binding;
  binding.phase = Phase::kDecode;
  binding.batch = batch;
  binding.seq_len = 1;
  binding.kv_len = 512;
  return build_graph(config, binding);
}

TEST(AttentionPart, AGraphIsCutAfterTheProductThatReadsItsLastAttention) {
  const Graph whole = decode_of("Llama-3.1-8B", 4);
  const Graph graph = up_to_attention(whole);
  ASSERT_LT(graph.ops().size(), whole.ops().size());
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    EXPECT_EQ(graph.ops()[i].name, whole.ops()[i].name);
  }
  std::string last_mixing;
  for (const Op& op : graph.ops()) {
    if (mixes_tokens(op)) last_mixing = op.name;
  }
  EXPECT_EQ(graph.ops().back().layer, 31);
  EXPECT_NE(graph.ops().back().name, last_mixing);
  ASSERT_FALSE(graph.outputs().empty());
  EXPECT_EQ(graph.outputs().back(), graph.ops().back().outputs.back());
  for (const Tensor& tensor : graph.tensors()) {
    for (const OpId reader : tensor.consumers) {
      EXPECT_LT(static_cast<std::size_t>(reader), graph.ops().size()) << tensor.name;
    }
  }
}

// Dense and expert layers of one attention are one kind; windows make two.
TEST(AttentionPart, LayersAreAlikeWhereTheirAttentionIs) {
  const Graph latents = decode_of("DeepSeek-V3", 4);
  const std::vector<AlikeLayers> one = attention_kinds(latents, 61);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one.front().count, 61);
  EXPECT_GT(layer_kinds(latents, 61).size(), 1U);
  EXPECT_EQ(attention_kinds(decode_of("gpt-oss-20b", 4), 24).size(), 2U);
}

TEST(AttentionPart, LayersWithoutAttentionAreOfNoKind) {
  Graph graph("one product");
  const TensorId x = graph.add_input("x", {4, 64}, DType::kBf16);
  const TensorId w = graph.add_weight("w", {64, 64}, DType::kBf16);
  graph.mark_output(graph.add_op("decoder.0.product", "MatMul", {x, w}, {}, 0));
  EXPECT_TRUE(attention_kinds(graph, 1).empty());
  EXPECT_EQ(up_to_attention(graph).ops().size(), 1U);
}

}  // namespace
}  // namespace foretell
