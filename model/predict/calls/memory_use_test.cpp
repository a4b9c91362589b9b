#include "model/predict/calls/memory_use.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

// Two activations of 16 bytes live at the same time, the third begins when both are read.
Graph small_graph() {
  Graph graph("small");
  const TensorId x = graph.add_input("x", {4}, DType::kFp32);
  const TensorId weight = graph.add_weight("w", {4}, DType::kFp32);
  const TensorId a = graph.add_op("a", "Add", {x, weight});
  const TensorId b = graph.add_op("b", "Relu", {a});
  const TensorId c = graph.add_op("c", "Add", {a, b});
  graph.mark_output(graph.add_op("d", "Relu", {c}));
  return graph;
}

HostSpec host_with(Bytes runtime) {
  HostSpec host;
  host.runtime_memory = runtime;
  return host;
}

TEST(MemoryUse, CountsEachTensorOnceByWhatItIs) {
  const MemoryUse use = memory_of_core(small_graph(), host_with(Bytes(1000)));
  EXPECT_EQ(use.weights.value(), 16);
  EXPECT_EQ(use.kv_cache.value(), 0);
  EXPECT_EQ(use.inputs_outputs.value(), 32);
  EXPECT_EQ(use.activations.value(), 48);  // a, b and c, while c is computed
  EXPECT_EQ(use.runtime.value(), 1000);
  EXPECT_EQ(use.total().value(), 16 + 32 + 48 + 1000);
}

TEST(MemoryUse, AStateCountsAsCacheAndItsNewContentNeedsNoRoom) {
  Graph graph("cached");
  const TensorId state = graph.add_state("cache", {8}, DType::kFp32);
  graph.mark_state(graph.add_op("update", "Relu", {state}));
  const MemoryUse use = memory_of_core(graph, host_with(Bytes(0)));
  EXPECT_EQ(use.kv_cache.value(), 32);
  EXPECT_EQ(use.total().value(), 32);
}

TEST(MemoryUse, SeveralCoresNeedSeveralTimesAsMuch) {
  const MemoryUse use = memory_of_core(small_graph(), host_with(Bytes(1000)));
  EXPECT_EQ((use * 3).total().value(), 3 * use.total().value());
}

TEST(MemoryUse, TwoGraphsOnOneCoreShareWhatTheyHaveInCommon) {
  const MemoryUse prefill{Bytes(10), Bytes(2), Bytes(9), Bytes(1), Bytes(5), Bytes(0)};
  const MemoryUse decode{Bytes(10), Bytes(4), Bytes(3), Bytes(2), Bytes(5), Bytes(0)};
  const MemoryUse both = largest(prefill, decode);
  EXPECT_EQ(both.total().value(), 10 + 4 + 9 + 2 + 5);
}

}  // namespace
}  // namespace foretell
