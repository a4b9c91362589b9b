#include "model/predict/decode_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace foretell {
namespace {

constexpr std::int64_t kBlock = 128;

// A step grows evenly with the positions and jumps where a block of keys begins.
double stairs(std::int64_t positions) {
  const auto blocks = static_cast<double>((positions + kBlock - 1) / kBlock);
  return 1e-2 + 1e-6 * static_cast<double>(positions) + 4e-5 * blocks;
}

struct Sum {
  std::int64_t tokens = 0;
  double seconds = 0;
};

Sum sum_of(const std::vector<GenerationMetrics::Step>& steps) {
  Sum sum;
  for (const auto& step : steps) {
    sum.tokens += step.tokens;
    sum.seconds += static_cast<double>(step.tokens) * step.time.value();
  }
  return sum;
}

void expect_equal_sums(std::int64_t first, std::int64_t last, double tolerance,
                       double (*seconds)(std::int64_t)) {
  SCOPED_TRACE(std::to_string(first) + " to " + std::to_string(last));
  const StepTime time = [seconds](std::int64_t positions) { return Seconds(seconds(positions)); };
  const Sum executed = sum_of(executed_steps(first, last, time));
  const Sum interpolated = sum_of(interpolated_steps(first, last, kBlock, time));
  EXPECT_EQ(executed.tokens, last - first + 1);
  EXPECT_EQ(interpolated.tokens, executed.tokens);
  EXPECT_NEAR(interpolated.seconds / executed.seconds, 1, tolerance);
}

TEST(DecodeSteps, StairsAddUpWhereverTheRunBeginsAndEnds) {
  for (const std::int64_t first : {1, 2, 100, 128, 129, 1026}) {
    for (const std::int64_t tokens : {1, 2, 27, 127, 128, 129, 300, 1024, 8064}) {
      expect_equal_sums(first, first + tokens - 1, 1e-9, stairs);
    }
  }
}

TEST(DecodeSteps, CurvesAreExecutedWhereALineIsNotEnough) {
  expect_equal_sums(129, 8064, 1e-3,
                    [](std::int64_t p) { return 1e-2 * std::sqrt(static_cast<double>(p)); });
  expect_equal_sums(129, 8064, 1e-3, [](std::int64_t p) { return p <= 39 * kBlock ? 1e-2 : 3e-2; });
}

TEST(DecodeSteps, ALineNeedsFewExecutions) {
  int executions = 0;
  const auto steps = interpolated_steps(1, 8192, kBlock, [&executions](std::int64_t positions) {
    ++executions;
    return Seconds(stairs(positions));
  });
  EXPECT_LE(executions, 6);
  EXPECT_EQ(steps.back().kv_len, 8192);
}

TEST(DecodeSteps, ARunOfOneTokenHasNone) {
  EXPECT_TRUE(interpolated_steps(5, 4, kBlock, [](std::int64_t) { return Seconds(1); }).empty());
}

}  // namespace
}  // namespace foretell
