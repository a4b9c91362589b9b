#include "reports/render/claim.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/record/testing/example_record.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

std::vector<RunRecord> records() {
  RunRecord slow = example_record();
  RunRecord fast = example_record();
  fast.context.dtype = "fp8";
  fast.summary.throughput = 2 * slow.summary.throughput;
  return {slow, fast};
}

Claim claim(const char* metric, RecordQuery of) {
  Claim made;
  made.says = "something";
  made.metric = metric;
  made.of = std::move(of);
  return made;
}

TEST(Claim, OfSeveralRecordsTheBestCounts) {
  Claim wide = claim("throughput", {{"system", "inf2.xlarge"}});
  wide.at_least = 1500;
  EXPECT_EQ(judge(wide, records()).verdict, "supported");
  wide.of["dtype"] = "bf16-matmul";
  EXPECT_EQ(judge(wide, records()).verdict, "not supported");
}

TEST(Claim, ARatioIsHeldAgainstItsLimit) {
  Claim ratio = claim("throughput", {{"dtype", "fp8"}});
  ratio.against = RecordQuery{{"dtype", "bf16-matmul"}};
  ratio.at_least = 2;
  const Judgement judgement = judge(ratio, records());
  EXPECT_EQ(judgement.verdict, "supported");
  EXPECT_EQ(judgement.predicted, "2.00 times");
  EXPECT_EQ(judgement.needs, "at least 2.00 times");
  EXPECT_THAT(judgement.why, HasSubstr("against bert-large-uncased on inf2.xlarge, bf16-matmul"));
  ratio.at_least = 2.01;
  EXPECT_EQ(judge(ratio, records()).verdict, "not supported");
}

// Two cores of 91.75 TFLOP/s; one device of 34 GB.
TEST(Claim, PeakAndMemoryAreThoseOfTheWholeSystem) {
  Claim peak = claim("peak_flops", {});
  peak.at_least = 1.835e14;
  EXPECT_EQ(judge(peak, records()).verdict, "supported");
  peak.at_least = 1.836e14;
  EXPECT_EQ(judge(peak, records()).verdict, "not supported");
  Claim memory = claim("memory_bytes", {});
  memory.at_most = 3.4e10;
  EXPECT_EQ(judge(memory, records()).verdict, "supported");
}

// 16.9 ms, with an 80 % interval of about a tenth on either side.
TEST(Claim, ALimitInsideTheIntervalIsSaidToBeClose) {
  Claim near = claim("latency_s", {{"dtype", "bf16-matmul"}});
  near.at_most = 0.016;
  EXPECT_EQ(judge(near, records()).verdict, kNotSupported);
  EXPECT_TRUE(judge(near, records()).close);
  near.at_most = 0.012;
  EXPECT_FALSE(judge(near, records()).close);
  // Two versions of one machine have most of their error in common.
  near.against = RecordQuery{{"dtype", "fp8"}};
  near.at_most = 0.99;
  EXPECT_FALSE(judge(near, records()).close);
}

TEST(Claim, OverridesAreAllMeant) {
  std::vector<RunRecord> changed = records();
  changed[0].context.set = {"a.b=1 GHz"};
  changed[1].context.set = {"a.b=1 GHz", "c.d=2"};
  Claim alone = claim("throughput", {{"set", "a.b=1 GHz"}});
  alone.at_least = changed[0].summary.throughput * 1.5;
  EXPECT_EQ(judge(alone, changed).verdict, kNotSupported);
  alone.of["set"] = "a.b=1 GHz, c.d=2";
  EXPECT_EQ(judge(alone, changed).verdict, kSupported);
}

TEST(Claim, WhatCannotBeJudgedSaysWhy) {
  Claim open = claim("throughput", {});
  open.open = "that chip is not modelled";
  EXPECT_EQ(judge(open, records()).verdict, "cannot be judged");
  EXPECT_EQ(judge(open, records()).why, "that chip is not modelled");
  EXPECT_EQ(judge(open, records()).needs, "");
  // A ratio to what is not modelled: what that would have to be.
  open.at_least = 4;
  EXPECT_EQ(judge(open, records()).verdict, "cannot be judged");
  EXPECT_EQ(judge(open, records()).needs, "at least 4.00 times");
  EXPECT_THAT(judge(open, records()).why,
              HasSubstr("that chip is not modelled; it would hold if that had at most 472.6 /s"));
  open.metric = "latency_s";
  open.at_least.reset();
  open.at_most = 0.1;
  EXPECT_THAT(judge(open, records()).why, HasSubstr("at least 169 ms"));
  Claim elsewhere = claim("ttft_s", {{"system", "inf2.xlarge"}});
  elsewhere.at_most = 1;
  EXPECT_EQ(judge(elsewhere, records()).verdict, "cannot be judged");
}

}  // namespace
}  // namespace foretell
