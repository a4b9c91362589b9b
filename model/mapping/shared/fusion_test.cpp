// Which operators become one operation on a GPU, and what it reads and writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/base/errors.hpp"
#include "model/mapping/shared/fuse.hpp"
#include "model/testing/graphs.hpp"
#include "model/testing/networks.hpp"

namespace foretell {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

// Operator names of each operation, joined by "+".
std::vector<std::string> names_of(const Graph& graph, const FusionRules& rules = {}) {
  std::vector<std::string> result;
  for (const FusedOp& fused : fuse_kernels(graph, rules)) {
    std::string names;
    for (const OpId op : fused.ops) names += (names.empty() ? "" : "+") + graph.op(op).name;
    result.push_back(names);
  }
  return result;
}

// For a framework that launches operator by operator.
FusionRules one_by_one(std::map<std::string, int> passes = {}) {
  return {/*groups=*/false, std::move(passes)};
}

double bytes_of(const std::vector<TensorAccess>& accesses) {
  double sum = 0;
  for (const TensorAccess& access : accesses) sum += access.bytes.value();
  return sum;
}

// A product with bias, activation and residual.
Graph product_with_all() {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  TensorId y = w.bias("bias", w.matmul("mm", x, 256));
  y = w.op("add", "Add", {w.gelu("gelu", y), x});
  return w.finish(y, "bf16");
}

// Two products of one input, each with its bias.
Graph two_products() {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const TensorId q = w.bias("qb", w.matmul("q", x, 256));
  const TensorId k = w.bias("kb", w.matmul("k", x, 64));
  w.graph().mark_output(q);
  return w.finish(k, "bf16");
}

TEST(GpuFuse, AProductTakesBiasActivationAndResidualIntoItsEpilogue) {
  const Graph graph = product_with_all();
  EXPECT_THAT(names_of(graph), ElementsAre("mm+bias+gelu+add"));
  const FusedOp fused = fuse_kernels(graph).front();
  EXPECT_EQ(fused.kind, FusedKind::kLinear);
  // x as operand and as residual is one tensor; the weight; the bias.
  EXPECT_EQ(bytes_of(fused.reads), 2.0 * (128 * 256 + 256 * 256 + 256));
  EXPECT_EQ(bytes_of(fused.writes), 2.0 * 128 * 256);
}

TEST(OneByOne, AProductKeepsItsBiasAlone) {
  EXPECT_THAT(names_of(product_with_all(), one_by_one()), ElementsAre("mm+bias", "gelu", "add"));
}

TEST(OneByOne, ProductsOfOneInputStayApart) {
  EXPECT_THAT(names_of(two_products(), one_by_one()), ElementsAre("q+qb", "k+kb"));
}

// The first pass reads the input, those after it what the one before wrote.
TEST(OneByOne, AnOperatorOfSeveralPassesReadsItsResultAgain) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const Graph graph = w.finish(w.gelu("gelu", x), "bf16");
  const std::vector<FusedOp> passes = fuse_kernels(graph, one_by_one({{"Gelu", 3}}));
  ASSERT_EQ(passes.size(), 3U);
  EXPECT_EQ(passes[0].reads.front().tensor, x);
  EXPECT_FALSE(passes[0].is_again);
  for (std::size_t i = 1; i < passes.size(); ++i) {
    EXPECT_TRUE(passes[i].is_again);
    EXPECT_EQ(passes[i].reads.front().tensor, passes[0].writes.front().tensor);
    EXPECT_EQ(bytes_of(passes[i].writes), 2.0 * 128 * 256);
  }
}

// Of a library whose products have few functions, another one is a pass.
TEST(GpuFuse, AFunctionThatNoEpilogueHasIsAPass) {
  FusionRules rules;
  rules.activations = {"Gelu"};
  EXPECT_THAT(names_of(product_with_all(), rules), ElementsAre("mm+bias+gelu+add"));
  rules.activations = {"Relu"};
  EXPECT_THAT(names_of(product_with_all(), rules), ElementsAre("mm+bias", "gelu+add"));
}

// A norm that ends a pass and is several kernels.
TEST(GpuFuse, ANormOfSeveralPassesFollowsThePassThatItEnds) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const Graph graph = w.finish(w.norm("norm", w.op("add", "Add", {w.gelu("gelu", x), x})), "bf16");
  FusionRules rules;
  ASSERT_THAT(names_of(graph, rules), ElementsAre("gelu+add+norm"));
  rules.passes = {{"LayerNorm", 3}};
  const std::vector<FusedOp> passes = fuse_kernels(graph, rules);
  ASSERT_EQ(passes.size(), 3U);
  EXPECT_FALSE(passes[0].is_again);
  EXPECT_TRUE(passes[2].is_again);
  EXPECT_EQ(bytes_of(passes[1].reads), 2.0 * 128 * 256);
}

TEST(GpuFuse, ProductsOfOneInputAreOne) {
  const Graph graph = two_products();
  EXPECT_THAT(names_of(graph), ElementsAre("q+qb+k+kb"));
  EXPECT_EQ(fuse_kernels(graph).front().weights.size(), 2U);
}

TEST(GpuFuse, AProductThatKeepsItsTypeStandsBesideQuantisedOnesAlone) {
  const auto products = [](const char* type) {
    GraphWriter w;
    const TensorId x = w.input("x", {128, 256});
    const TensorId router = w.matmul("router", x, 16);
    w.graph().keep(w.graph().op(0).inputs[1]);
    const TensorId gate = w.matmul("gate", x, 512);
    const TensorId up = w.matmul("up", x, 512);
    w.graph().mark_output(router);
    w.graph().mark_output(gate);
    return names_of(w.finish(up, type));
  };
  EXPECT_THAT(products("fp8"), ElementsAre("router", "gate+up"));
  EXPECT_THAT(products("bf16"), ElementsAre("router+gate+up"));
}

TEST(GpuFuse, AGateAndItsPartnerAreOneProductAndOnePass) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const TensorId gate = w.op("silu", "Silu", {w.matmul("gate", x, 512)});
  const TensorId both = w.op("gated", "Mul", {gate, w.matmul("up", x, 512)});
  const Graph graph = w.finish(w.matmul("down", both, 256), "bf16");
  EXPECT_THAT(names_of(graph), ElementsAre("gate+up", "silu+gated", "down"));
}

TEST(GpuFuse, AnActivationAloneKeepsItsProductApart) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const TensorId wide = w.gelu("gelu", w.matmul("wide", x, 512));
  w.graph().mark_output(w.matmul("other", x, 64));
  const Graph graph = w.finish(w.matmul("down", wide, 256), "bf16");
  EXPECT_THAT(names_of(graph), ElementsAre("wide+gelu", "other", "down"));
}

TEST(GpuFuse, ElementwiseOperatorsAndTheNormAfterThemAreOnePass) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const TensorId y = w.input("y", {128, 256});
  const TensorId sum = w.op("sum", "Add", {x, y});
  const TensorId normed = w.norm("norm", sum);
  w.graph().mark_output(sum);
  const Graph graph = w.finish(normed, "bf16");
  EXPECT_THAT(names_of(graph), ElementsAre("sum+norm"));
  // The sum leaves, too.
  EXPECT_EQ(bytes_of(fuse_kernels(graph).front().writes), 2.0 * 2 * 128 * 256);
}

TEST(GpuFuse, AttentionIsOneOperationWithItsDimensions) {
  const Graph graph = network("bert-large-uncased", 8, 128, "bf16");
  const std::vector<FusedOp> fused = fuse_kernels(graph);
  const auto attention = std::find_if(fused.begin(), fused.end(), [](const FusedOp& op) {
    return op.kind == FusedKind::kAttention;
  });
  ASSERT_NE(attention, fused.end());
  EXPECT_EQ(attention->attention.batch, 8);
  EXPECT_EQ(attention->attention.heads, 16);
  EXPECT_EQ(attention->attention.queries, 128);
  EXPECT_EQ(attention->attention.head_dim, 64);
  EXPECT_FALSE(attention->attention.causal);
  EXPECT_EQ(bytes_of(attention->writes), 2.0 * 8 * 128 * 1024);
}

TEST(GpuFuse, ALayerOfAnEncoderIsSevenOperations) {
  const Graph graph = network("bert-large-uncased", 1, 128, "bf16");
  std::vector<std::string> layer;
  for (const FusedOp& fused : fuse_kernels(graph)) {
    const Op& main = graph.op(fused.main);
    if (main.layer == 3) layer.push_back(main.name.substr(std::string("encoder.3.").size()));
  }
  EXPECT_THAT(layer, ElementsAre("attention.query", "attention.scores", "attention.output",
                                 "attention.norm", "ffn.intermediate", "ffn.output", "ffn.norm"));
}

TEST(GpuFuse, RotationsAndCacheUpdatesOfALayerAreOnePass) {
  Binding binding;
  binding.batch = 2;
  binding.seq_len = 1;
  binding.phase = Phase::kDecode;
  binding.kv_len = 100;
  Graph graph = build_graph(WorkloadLibrary().load("llama-3-8b"), binding);
  apply_precision(find_precision("bf16"), &graph);
  for (const FusedOp& fused : fuse_kernels(graph)) {
    const Op& main = graph.op(fused.main);
    if (main.layer != 5 || main.kind != "Rope") continue;
    EXPECT_EQ(fused.ops.size(), 4U);    // queries, keys; both caches
    const double rows = 2.0 * 2 * 128;  // batch x bytes x head_dim
    EXPECT_EQ(bytes_of(fused.writes), rows * (32 + 8 + 8));
    return;
  }
  FAIL() << "no rotation";
}

TEST(GpuFuse, EveryOperatorThatComputesIsDoneOnce) {
  for (const char* name : {"bert-base-uncased", "gpt2", "albert-base-v2"}) {
    const Graph graph = network(name, 1, 64, "bf16");
    std::vector<int> times(graph.ops().size(), 0);
    for (const FusedOp& fused : fuse_kernels(graph)) {
      for (const OpId id : fused.ops) ++times[static_cast<std::size_t>(id)];
    }
    for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
      const Op& op = graph.op(id);
      const bool view = op.kind == "Reshape" || op.kind == "Transpose" || op.kind == "Split" ||
                        op.kind == "Slice";
      EXPECT_EQ(times[static_cast<std::size_t>(id)], view ? 0 : 1) << name << " " << op.name;
    }
  }
}

TEST(GpuFuse, ATranspositionBetweenPassesRemains) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const TensorId turned =
      w.op("turn", "Transpose", {w.norm("norm", x)}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  const Graph graph = w.finish(turned, "bf16");
  EXPECT_THAT(names_of(graph), Contains("turn"));
}

// Heads of a product that reads and writes with strides, and of one that does not.
Graph product_of_heads(bool bias) {
  GraphWriter w;
  const TensorId x = w.input("x", {8, 16, 64});
  TensorId y = w.matmul("mm", x, 64);
  if (bias) y = w.bias("bias", y);
  const TensorId split = w.op("split", "Reshape", {y}, {{"shape", Shape{8, 16, 4, 16}}});
  const TensorId heads = w.op("turn", "Transpose", {split}, {{"perm", Shape{0, 2, 1, 3}}});
  const TensorId scores =
      w.op("scores", "MatMul", {heads, heads}, {{"transpose_b", std::int64_t{1}}});
  return w.finish(scores, "bf16");
}

TEST(Strides, ProductsOfALibraryOfProductsCopyHeadsApart) {
  FusionRules rules = one_by_one();
  EXPECT_THAT(names_of(product_of_heads(true), rules), ElementsAre("mm+bias", "scores"));
  rules.strides = false;
  EXPECT_THAT(names_of(product_of_heads(true), rules), ElementsAre("mm+bias", "turn", "scores"));
}

// What is written by hand between products adds the bias and puts heads in their places.
TEST(Strides, APassBetweenProductsCopiesOnTheWay) {
  FusionRules rules;
  rules.epilogues = false;
  rules.strides = false;
  EXPECT_THAT(names_of(product_of_heads(true), rules), ElementsAre("mm", "bias", "scores"));
  EXPECT_THAT(names_of(product_of_heads(false), rules), ElementsAre("mm", "turn", "scores"));
}

TEST(Epilogues, BiasesOfProductsThatAreOneAreOnePass) {
  FusionRules rules;
  rules.epilogues = false;
  EXPECT_THAT(names_of(two_products(), rules), ElementsAre("q+k", "qb+kb"));
}

TEST(Windows, AreSamplesOfAnAttentionAndShiftsRideInItsNeighbours) {
  const Graph graph = network("swin_tiny_patch4_window7_224", 2, 0, "fp16");
  const std::vector<FusedOp> fused = fuse_kernels(graph);
  std::int64_t windows = 0;
  for (const FusedOp& op : fused) {
    if (op.kind != FusedKind::kAttention) continue;
    if (windows == 0) windows = op.attention.batch;
    EXPECT_EQ(op.attention.queries, 49);
    EXPECT_EQ(op.attention.head_dim, 32);
  }
  EXPECT_EQ(windows, 2 * 8 * 8);
  const auto moves = [&graph](const FusedOp& op) { return graph.op(op.main).kind == "Move"; };
  EXPECT_EQ(std::count_if(fused.begin(), fused.end(), moves), 0);
  const std::vector<FusedOp> eager = fuse_kernels(graph, one_by_one());
  EXPECT_EQ(std::count_if(eager.begin(), eager.end(), moves), 10 + 12);  // and biases of distances
}

}  // namespace
}  // namespace foretell
