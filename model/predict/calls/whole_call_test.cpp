#include "model/predict/calls/whole_call.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

Metrics run(const char* bound, double device, double bytes) {
  Metrics metrics;
  metrics.device = Seconds(device);
  metrics.bottleneck = bound;
  for (const char* name : {"first", "second"}) {
    OperatorMetrics op;
    op.name = name;
    op.start = Seconds(op.name == "first" ? 0 : device / 2);
    op.duration = Seconds(device / 2);
    op.bytes = Bytes(bytes / 2);
    metrics.operators.push_back(op);
  }
  ResourceMetrics memory;
  memory.path = "memory";
  memory.busy = 0.5;
  memory.stalled = 0.25;
  memory.bytes = Bytes(bytes);
  metrics.resources.push_back(memory);
  return metrics;
}

Metrics whole(double steps) {
  const Metrics prefill = run("tensor", 4, 10);
  const Metrics step = run("dma", 1, 6);
  Metrics call;
  // The host takes 1 s ahead of the prefill; the steps take 1.5 s on average.
  fill_whole_call({{"prefill", &prefill, 1, Seconds(5), Seconds(1)},
                   {"decode", &step, steps, Seconds(1.5 * steps), Seconds(0)}},
                  call);
  return call;
}

TEST(WholeCall, OperatorsAddUpToTheTimeOnTheDevice) {
  const Metrics call = whole(10);
  ASSERT_EQ(call.operators.size(), 4U);
  Seconds sum;
  Bytes bytes;
  for (const OperatorMetrics& op : call.operators) {
    sum += op.duration;
    bytes += op.bytes;
  }
  EXPECT_DOUBLE_EQ(sum.value(), 19);
  EXPECT_DOUBLE_EQ(bytes.value(), 10 + 60);
  EXPECT_EQ(call.operators[3].name, "decode.second");
  EXPECT_DOUBLE_EQ(call.operators[1].start.value(), 3);
  EXPECT_DOUBLE_EQ(call.operators[2].start.value(), 5);
}

TEST(WholeCall, ResourcesAreSharesOfTheWhole) {
  const Metrics call = whole(10);
  ASSERT_EQ(call.resources.size(), 2U);
  EXPECT_DOUBLE_EQ(call.resources[0].busy, 0.5 * 19 / 20);
  EXPECT_DOUBLE_EQ(call.resources[0].stalled, 0.25 * 19 / 20);
  EXPECT_DOUBLE_EQ(call.resources[0].bytes.value(), 70);
  EXPECT_EQ(call.resources[1].path, "host");
  EXPECT_DOUBLE_EQ(call.resources[1].busy, 1.0 / 20);
}

TEST(WholeCall, ThePhaseThatTakesLongestBoundsIt) {
  EXPECT_EQ(whole(10).bottleneck, "dma");
  EXPECT_EQ(whole(1).bottleneck, "tensor");
  EXPECT_EQ(whole(0).operators.size(), 2U) << "no steps, no operators of steps";
}

}  // namespace
}  // namespace foretell
