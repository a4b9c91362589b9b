#include "calib/measure/harness/benchmark_timer.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace foretell {
namespace {

TEST(BenchmarkTimer, EveryRepeatIsTheMeanByTheClockOfTheWork) {
  int before = 0;
  const std::vector<double> seconds =
      repeat_timed("toy", [] { return 1e-3; }, {5, 2e-3, [&before] { ++before; }});
  ASSERT_EQ(seconds.size(), 5U);
  for (const double second : seconds) EXPECT_NEAR(second, 1e-3, 1e-9);
  EXPECT_GE(before, 5);
}

TEST(BenchmarkTimer, ShortWorkIsRepeatedUntilTheTimeIsThere) {
  int calls = 0;
  repeat_timed("short",
               [&calls] {
                 ++calls;
                 return 1e-5;
               },
               {1, 1e-3, nullptr});
  EXPECT_GE(calls, 100);
}

TEST(BenchmarkTimer, WhatTheWorkThrowsComesThrough) {
  const auto fail = []() -> double { throw std::runtime_error("out of memory"); };
  EXPECT_THROW(repeat_timed("broken", fail, {2, 1e-3, nullptr}), std::runtime_error);
}

}  // namespace
}  // namespace foretell
