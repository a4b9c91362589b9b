// Stages of a pipeline from a request to its record, on the real model.
#include <gtest/gtest.h>

#include <cmath>

#include "model/app/request/prediction.hpp"
#include "model/app/request/testing/staged_request.hpp"

namespace foretell {
namespace {

Request gpt2(int tp, int pp) { return gpt2_in_stages("inf2.24xlarge", tp, pp); }

RunSummary summary(int tp, int pp, double in_flight) {
  Request request = gpt2(tp, pp);
  request.in_flight = in_flight;
  return predict(request).summary;
}

class Stages : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Count, Stages, testing::Values(2, 3, 6));

// One request sees the stages one after the other: its time is that of one stage with all layers,
// and what is handed over.
TEST_P(Stages, DoNotMakeARequestFaster) {
  const RunSummary whole = summary(2, 1, 1);
  const RunSummary staged = summary(2, GetParam(), 1);
  EXPECT_GT(staged.call_s, 0.98 * whole.call_s);
  EXPECT_LT(staged.call_s, 1.25 * whole.call_s);
}

TEST_P(Stages, WorkOnAsManyRequestsAsThereAre) {
  const int stages = GetParam();
  const double one = summary(2, stages, 1).throughput;
  const RunSummary full = summary(2, stages, stages);
  EXPECT_GT(full.throughput, 1.2 * one);  // not more: the head is as long as several layers
  EXPECT_LE(full.throughput, stages * one);
  EXPECT_NEAR(summary(2, stages, 3.0 * stages).throughput / full.throughput, 1, 1e-9);
}

TEST_P(Stages, ObeyLittlesLaw) {
  for (const double in_flight : {1.0, 2.0, 12.0}) {
    const RunSummary s = summary(2, GetParam(), in_flight);
    EXPECT_NEAR(s.throughput / 64 * s.latency_s / in_flight, 1, 1e-9) << in_flight;
  }
}

TEST_P(Stages, ShareTheWeights) {
  const double whole = summary(2, 1, 1).memory->weights_bytes;
  const double staged = summary(2, GetParam(), 1).memory->weights_bytes;
  EXPECT_LT(staged, whole);
  EXPECT_GE(staged * GetParam(), whole);
}

// Each request in flight has a cache of its own; a stage has that of its layers.
TEST_P(Stages, HoldACacheForEveryRequestAtWork) {
  const double one = summary(2, GetParam(), 1).memory->kv_cache_bytes;
  EXPECT_EQ(one * GetParam(), summary(2, 1, 1).memory->kv_cache_bytes);
  EXPECT_EQ(summary(2, GetParam(), GetParam()).memory->kv_cache_bytes, one * GetParam());
  EXPECT_EQ(summary(2, GetParam(), 50).memory->kv_cache_bytes, one * GetParam());
}

TEST(Stages, AreInTheRecord) {
  const RunRecord record = predict(gpt2(4, 3));
  EXPECT_EQ(record.context.scenario.pp, 3);
  EXPECT_EQ(record.context.scenario.tp, 4);
  EXPECT_EQ(record.context.scenario.cores, 12);
  EXPECT_EQ(record.operators.back().name, "decode.head.logits.all_gather");
}

// What a network of several stages costs a user is the machine over what all stages make.
TEST(Stages, CostFollowsTheThroughput) {
  const RunSummary one = summary(2, 3, 1);
  const RunSummary three = summary(2, 3, 3);
  EXPECT_NEAR(*one.cost_usd_per_million / *three.cost_usd_per_million,
              three.throughput / one.throughput, 1e-9);
}

}  // namespace
}  // namespace foretell
