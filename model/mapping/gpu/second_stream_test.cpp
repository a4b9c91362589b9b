// Branches of a block on a second stream: which, whose kernels stay apart, and who waits for whom.
#include "model/mapping/gpu/second_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "hw/spec/shared/catalog.hpp"
#include "model/config/document.hpp"
#include "model/testing/graphs.hpp"
#include "workloads/ir/operators.hpp"
#include "workloads/ir/two_batches.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// x of `tokens` rows through a large and a shared expert, whose sum is the result.
Graph block(std::int64_t tokens) {
  GraphWriter w;
  const TensorId x = w.gelu("layer.0.norm", w.input("x", {tokens, 256}));
  const TensorId routed = w.matmul("layer.0.ffn.routed", x, 256);
  const TensorId shared = w.matmul("layer.0.ffn.shared.output", x, 256);
  return w.finish(w.op("layer.0.ffn.sum", "Add", {routed, shared}), "bf16");
}

const KernelLibrary& library(const char* id) { return *kernel_libraries().find(id); }

TEST(SecondStream, BranchesAreThoseOfTheLibraryUpToItsTokens) {
  const auto names = [](const char* id, std::int64_t tokens, LaunchKind launch) {
    std::vector<std::string> found;
    for (const auto& [part, name] : branches_beside(block(tokens), library(id), launch))
      found.push_back(name);
    return found;
  };
  EXPECT_THAT(names("vllm", 256, LaunchKind::kGraph), ElementsAre("shared_experts"));
  EXPECT_THAT(names("vllm", 256, LaunchKind::kStream), ElementsAre("shared_experts"));
  EXPECT_THAT(names("vllm", 257, LaunchKind::kGraph), IsEmpty());
  EXPECT_THAT(names("sglang", 1024, LaunchKind::kGraph), ElementsAre("shared_experts"));
  EXPECT_THAT(names("sglang", 1025, LaunchKind::kGraph), IsEmpty());
  EXPECT_THAT(names("trtllm", 2048, LaunchKind::kGraph), ElementsAre("shared_experts"));
  EXPECT_THAT(names("trtllm", 2048, LaunchKind::kStream), IsEmpty());
  EXPECT_THAT(names("pytorch", 1, LaunchKind::kGraph), IsEmpty());
}

TEST(SecondStream, KernelsOfABranchHoldNoOthersAndTheStreamsWaitForWhatTheyRead) {
  const Graph graph = block(16);
  EXPECT_EQ(fuse_kernels(graph).size(), 3U);  // one product for both experts
  FusionRules rules;
  rules.beside = branches_beside(graph, library("trtllm"), LaunchKind::kGraph);
  const std::vector<FusedOp> fused = fuse_kernels(graph, rules);
  ASSERT_EQ(fused.size(), 4U);
  std::vector<MappedOp> ops(fused.size());
  for (std::size_t i = 0; i < fused.size(); ++i) ops[i].main = fused[i].main;
  place_beside(graph, fused, rules, ops);
  EXPECT_EQ(graph.op(ops[2].main).name, "layer.0.ffn.shared.output");
  EXPECT_TRUE(ops[2].beside);
  EXPECT_THAT(ops[2].needs, ElementsAre(0U));  // its input
  EXPECT_THAT(ops[3].needs, ElementsAre(2U));  // its result
  EXPECT_FALSE(ops[0].beside || ops[1].beside || ops[3].beside);
  EXPECT_THAT(ops[1].needs, IsEmpty());
}

TEST(SecondStream, AReaderWaitsForTheOneThatConvertedItsOperand) {
  const Graph graph = block(16);
  FusionRules rules;
  rules.beside = branches_beside(graph, library("trtllm"), LaunchKind::kGraph);
  const std::vector<FusedOp> fused = fuse_kernels(graph, rules);
  std::vector<MappedOp> ops(fused.size());
  for (std::size_t i = 0; i < fused.size(); ++i) ops[i].main = fused[i].main;
  ops[1].converted = fused[1].reads.front().tensor;
  for (const TensorAccess& read : fused[1].reads) {
    if (graph.tensor(read.tensor).kind == TensorKind::kActivation) ops[1].converted = read.tensor;
  }
  place_beside(graph, fused, rules, ops);
  EXPECT_THAT(ops[2].needs, ElementsAre(0U, 1U));
}

// Where halves of a batch take turns is where kernels run on the stream of collectives.
TEST(SecondStream, HalvesTakeTurnsAtWhatBecomesACollective) {
  const Node fusion = load_document((hw_folder() / "kernels" / "layers" / "fusion.yaml").string());
  std::set<std::string> collectives;
  for (const Node& rule : fusion.required("rules", "").items) {
    if (rule.required("kernel", "rules").as_text("kernel") != "collective") continue;
    for (const Node& kind : rule.required("operators", "rules").items)
      collectives.insert(kind.as_text("operators"));
  }
  EXPECT_FALSE(collectives.empty());
  for (const OperatorInfo& info : operator_table()) {
    EXPECT_EQ(is_collective(info.kind), collectives.count(std::string(info.kind)) > 0) << info.kind;
  }
  EXPECT_FALSE(is_collective("AllToNone"));
}

}  // namespace
}  // namespace foretell
