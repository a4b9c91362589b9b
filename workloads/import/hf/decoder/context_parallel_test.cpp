// The share of one of several ranks that divide a prompt: what they compute, hold and send
// together.
#include "workloads/import/hf/decoder/context_parallel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/base/errors.hpp"
#include "reports/record/testing/message_of.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/import/workload_set.hpp"
#include "workloads/ir/operators/networks.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t kPrompt = 4096;

ModelConfig two_layers(const std::string& network) {
  ModelConfig model = WorkloadLibrary().load(network);
  override_workload({"workload.layers=2"}, model);
  return model;
}

Binding prompt_on(std::int64_t ranks) {
  Binding binding;
  binding.phase = Phase::kPrefill;
  binding.seq_len = kPrompt;
  binding.kv_len = kPrompt;
  binding.context_parallel = ranks;
  return binding;
}

double flops_of(const Graph& graph, const std::string& kind) {
  double sum = 0;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
    if (graph.op(id).kind == kind) sum += graph.flops(id).value();
  }
  return sum;
}

double bytes_of_states(const Graph& graph) {
  double sum = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kState && tensor.producer == kNoId)
      sum += tensor.bytes().value();
  }
  return sum;
}

std::int64_t count_of(const Graph& graph, const std::string& kind) {
  std::int64_t count = 0;
  for (const Op& op : graph.ops()) count += op.kind == kind ? 1 : 0;
  return count;
}

class ContextParallel : public testing::TestWithParam<std::int64_t> {};

INSTANTIATE_TEST_SUITE_P(Ranks, ContextParallel, testing::Values(2, 4, 8));

// All ranks together have the pairs of queries and keys of the whole prompt, to the last one.
TEST_P(ContextParallel, TheWorkIsThatOfOneRank) {
  const ModelConfig model = two_layers("DeepSeek-R1");  // grouped and latent alike in its pairs
  const Graph one = build_graph(model, prompt_on(1));
  const Graph share = build_graph(model, prompt_on(GetParam()));
  const auto ranks = static_cast<double>(GetParam());
  EXPECT_DOUBLE_EQ(flops_of(share, "Attention") * ranks, flops_of(one, "Attention"));
  EXPECT_EQ(share.parameter_count(), one.parameter_count()) << "weights are held by every rank";
}

TEST_P(ContextParallel, EachRankHoldsItsShareOfTheCacheAndSendsItOnOnceForEveryOther) {
  for (const char* network : {"Llama-3.1-8B", "Qwen3-30B-A3B"}) {
    const ModelConfig model = two_layers(network);
    const Graph one = build_graph(model, prompt_on(1));
    const Graph share = build_graph(model, prompt_on(GetParam()));
    const auto ranks = static_cast<double>(GetParam());
    EXPECT_DOUBLE_EQ(bytes_of_states(share) * ranks, bytes_of_states(one)) << network;
    EXPECT_EQ(count_of(share, "SendReceive"), 2 * (GetParam() - 1)) << network;
    double sent = 0;
    for (const Op& op : share.ops()) {
      if (op.kind != "SendReceive") continue;
      EXPECT_THAT(op.name, HasSubstr(std::string(kSentBeside)));
      for (const TensorId input : op.inputs) sent += share.tensor(input).bytes().value();
    }
    EXPECT_DOUBLE_EQ(sent, bytes_of_states(share) * (ranks - 1)) << network;
  }
}

TEST_P(ContextParallel, ADecodeStepReadsItsShareOfTheCacheAndGathersTheParts) {
  const ModelConfig model = two_layers("Llama-3.1-8B");
  Binding binding = prompt_on(1);
  binding.phase = Phase::kDecode;
  binding.seq_len = 1;
  const Graph one = build_graph(model, binding);
  binding.context_parallel = GetParam();
  const Graph share = build_graph(model, binding);
  const auto ranks = static_cast<double>(GetParam());
  EXPECT_DOUBLE_EQ(bytes_of_states(share) * ranks, bytes_of_states(one));
  EXPECT_EQ(count_of(share, "AllGather"), 2);
  EXPECT_GT(flops_of(share, "Attention"), 0);
}

// A window reaches into the chunk before, whose owner sends that much and no more.
TEST_P(ContextParallel, AWindowSendsItsRowsAlone) {
  const ModelConfig model = two_layers("gpt-oss-20b");
  const Graph share = build_graph(model, prompt_on(GetParam()));
  std::int64_t of_window = 0;
  for (const Op& op : share.ops()) {
    if (op.kind != "SendReceive") continue;
    of_window += share.tensor(op.inputs.front()).shape[2] == 2 * 128 ? 1 : 0;
  }
  EXPECT_EQ(of_window, 1) << "one of the two layers has a window";
}

TEST(ContextParallelTokens, ArePaddedToWholeChunks) {
  Binding binding = prompt_on(4);
  binding.seq_len = 1001;
  EXPECT_EQ(share_of_rank(binding).seq_len, 252);  // 8 chunks of 126
  EXPECT_EQ(share_of_rank(prompt_on(1)).seq_len, kPrompt);
}

TEST(ContextParallelTokens, LayersThatAreNotDividedAreNamed) {
  const auto message = [](const char* network) {
    return message_of<UserError>(
        [&] { build_graph(WorkloadLibrary().load(network), prompt_on(2)); });
  };
  EXPECT_THAT(message("Qwen3.5-397B-A17B"), AllOf(HasSubstr("recurrence"), HasSubstr("--cp")));
  EXPECT_THAT(message("DeepSeek-V3.2"), HasSubstr("an indexer chooses"));
}

}  // namespace
}  // namespace foretell
