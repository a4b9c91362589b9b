// Which operators become one kernel, and which do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/base/errors.hpp"
#include "model/mapping/neuron/kernel.hpp"
#include "model/testing/graphs.hpp"
#include "model/testing/networks.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Operator names of each kernel, joined by "+".
std::vector<std::string> kernels_of(const Graph& graph) {
  std::vector<std::string> result;
  for (const Kernel& kernel : fuse(graph)) {
    std::string names;
    for (const OpId op : kernel.ops) names += (names.empty() ? "" : "+") + graph.op(op).name;
    result.push_back(names);
  }
  return result;
}

TEST(Fuse, ALinearLayerTakesBiasActivationAndResidualAlong) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  TensorId y = w.bias("bias", w.matmul("mm", x, 256));
  y = w.op("add", "Add", {w.gelu("gelu", y), x});
  const Graph graph = w.finish(y);
  EXPECT_THAT(kernels_of(graph), ElementsAre("mm+bias+gelu+add"));
  const Kernel kernel = fuse(graph).front();
  EXPECT_EQ(kernel.kind, KernelKind::kLinear);
  EXPECT_EQ(kernel.residual.tensor, x);
  EXPECT_EQ(kernel.output, y);
}

TEST(Fuse, WhatComesAfterTheResidualIsSeparate) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  TensorId y = w.op("add", "Add", {w.matmul("mm", x, 256), x});
  y = w.gelu("gelu", y);
  EXPECT_THAT(kernels_of(w.finish(y)), ElementsAre("mm+add", "gelu"));
}

TEST(Fuse, ABiasAfterTheActivationIsSeparate) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const TensorId y = w.bias("bias", w.gelu("gelu", w.matmul("mm", x, 512)));
  EXPECT_THAT(kernels_of(w.finish(y)), ElementsAre("mm+gelu", "bias"));
}

TEST(Fuse, OneActivationPerEviction) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const TensorId y = w.op("tanh", "Tanh", {w.gelu("gelu", w.matmul("mm", x, 512))});
  EXPECT_THAT(kernels_of(w.finish(y)), ElementsAre("mm+gelu", "tanh"));
}

TEST(Fuse, AResultThatSeveralReadStaysAsItIs) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const TensorId y = w.matmul("mm", x, 256);
  const TensorId z = w.op("add", "Add", {w.gelu("gelu", y), y});
  EXPECT_THAT(kernels_of(w.finish(z)), ElementsAre("mm", "gelu", "add"));
}

TEST(Fuse, AnOutputOfTheGraphStaysAsItIs) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const TensorId y = w.matmul("mm", x, 256);
  w.graph().mark_output(y);
  EXPECT_THAT(kernels_of(w.finish(w.gelu("gelu", y))), ElementsAre("mm", "gelu"));
}

TEST(Fuse, AResidualHasToExistBeforeTheMatmul) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const TensorId first = w.matmul("first", x, 256);
  const TensorId second = w.matmul("second", x, 256);
  const TensorId y = w.op("add", "Add", {first, second});
  // The second of the two takes the sum along, whose other operand is there by then.
  EXPECT_THAT(kernels_of(w.finish(y)), ElementsAre("first", "second+add"));
}

TEST(Fuse, TwoMatmulsWithoutWeightsAroundASoftmaxAreAnAttention) {
  GraphWriter w;
  const Shape heads{2, 4, 128, 64};
  const TensorId q = w.input("q", heads);
  const TensorId k = w.input("k", heads);
  const TensorId v = w.input("v", heads);
  const TensorId mask = w.input("mask", {2, 1, 1, 128});
  TensorId s = w.op("scores", "MatMul", {q, k}, {{"transpose_b", std::int64_t{1}}});
  s = w.op("scale", "Mul", {s}, {{"scalar", 0.125}});
  s = w.op("mask", "Add", {s, mask});
  s = w.op("softmax", "Softmax", {s}, {{"axis", std::int64_t{-1}}});
  const Graph graph = w.finish(w.op("context", "MatMul", {s, v}));
  EXPECT_THAT(kernels_of(graph), ElementsAre("scores+scale+mask+softmax+context"));
  const Kernel kernel = fuse(graph).front();
  EXPECT_EQ(kernel.kind, KernelKind::kAttention);
  EXPECT_EQ(kernel.batch, 2);
  EXPECT_EQ(kernel.heads, 4);
  EXPECT_EQ(kernel.kv_heads, 4);
  EXPECT_EQ(kernel.queries, 128);
  EXPECT_EQ(kernel.keys, 128);
  EXPECT_EQ(kernel.head_dim, 64);
}

TEST(Fuse, ASoftmaxAloneRunsAlongTheColumnsOfEachToken) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const Graph graph = w.finish(w.op("probabilities", "Softmax", {x}, {{"axis", std::int64_t{-1}}}));
  EXPECT_EQ(fuse(graph).front().kind, KernelKind::kRowWise);
}

TEST(Fuse, AnOperatorWithoutMappingIsNamedAndTheErrorSaysWhatToDo) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const Graph graph = w.finish(w.op("exchange", "SendReceive", {x}, {{"ranks", std::int64_t{2}}}));
  try {
    fuse(graph);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("operator 'exchange' (SendReceive) is not mapped"));
    EXPECT_THAT(error.what(), HasSubstr("list systems"));
    EXPECT_THAT(error.what(), HasSubstr("docs/adding.md"));
  }
}

TEST(Fuse, LayoutOperatorsBecomeViewsOfWhatTheyRearrange) {
  GraphWriter w;
  const TensorId x = w.input("x", {2, 128, 768});
  const TensorId qkv = w.matmul("qkv", x, 3 * 256);
  const TensorId split =
      w.op("split", "Split", {qkv}, {{"axis", std::int64_t{2}}, {"sizes", Shape{256, 256, 256}}});
  const TensorId reshaped =
      w.op("heads", "Reshape", {split + 2}, {{"shape", Shape{2, 128, 4, 64}}});
  const TensorId v = w.op("transpose", "Transpose", {reshaped}, {{"perm", Shape{0, 2, 1, 3}}});
  const Graph graph = w.finish(v);
  const View view = resolve_view(graph, v);
  EXPECT_EQ(view.tensor, qkv);
  EXPECT_EQ(view.first_column, 512);
  EXPECT_EQ(view.columns, 256);
  EXPECT_THAT(kernels_of(graph), ElementsAre("qkv"));
}

TEST(Fuse, RowsAndColumnsOfAShape) {
  EXPECT_EQ(row_count({8, 128, 1024}), 1024);
  EXPECT_EQ(column_count({8, 128, 1024}), 1024);
  EXPECT_EQ(row_count({7}), 1);
  EXPECT_EQ(column_count({}), 1);
}

TEST(Fuse, ALayerOfBertIsNineKernels) {
  const Graph graph = network("bert-base-uncased", 1, 128);
  std::vector<KernelKind> kinds;
  for (const Kernel& kernel : fuse(graph)) {
    if (graph.op(kernel.ops.front()).layer == 0) kinds.push_back(kernel.kind);
  }
  EXPECT_THAT(kinds, ElementsAre(KernelKind::kLinear, KernelKind::kLinear, KernelKind::kLinear,
                                 KernelKind::kAttention, KernelKind::kLinear, KernelKind::kNorm,
                                 KernelKind::kLinear, KernelKind::kLinear, KernelKind::kNorm));
}

TEST(Fuse, EveryOperatorIsInExactlyOneKernelOrALayout) {
  for (const char* name : {"bert-large-uncased", "gpt2", "albert-base-v2", "roberta-base"}) {
    const Graph graph = network(name, 2, 128);
    std::vector<int> taken(graph.ops().size(), 0);
    for (const Kernel& kernel : fuse(graph)) {
      for (const OpId op : kernel.ops) ++taken[static_cast<std::size_t>(op)];
    }
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const std::string& kind = graph.ops()[i].kind;
      const bool layout =
          kind == "Reshape" || kind == "Transpose" || kind == "Split" || kind == "Slice";
      EXPECT_EQ(taken[i], layout ? 0 : 1) << name << ": " << graph.ops()[i].name;
    }
  }
}

}  // namespace
}  // namespace foretell
