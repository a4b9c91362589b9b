#include "model/predict/queueing.hpp"

#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using namespace literals;

constexpr double kClose = 1e-15;

TEST(Serving, OneRequestPerCopyMeansNoQueue) {
  const Serving serving{8, 2, 0};
  EXPECT_EQ(requests_in_flight(serving), 2);
  EXPECT_EQ(client_latency(10.0_ms, serving), 10.0_ms);
  EXPECT_EQ(table_call(10.0_ms, serving), 10.0_ms);
  EXPECT_NEAR(system_throughput(10.0_ms, serving), 2 * 8 / 10e-3, 1e-9);
}

TEST(Serving, RequestsBeyondTheCopiesQueueAndAddNoThroughput) {
  const Serving queued{8, 2, 4};
  EXPECT_NEAR(client_latency(10.0_ms, queued).value(), 20e-3, kClose);
  EXPECT_NEAR(system_throughput(10.0_ms, queued), system_throughput(10.0_ms, {8, 2, 2}), 1e-9);
  EXPECT_EQ(table_call(10.0_ms, queued), 10.0_ms);
}

TEST(Serving, IdleCopiesCostThroughputAndNotLatency) {
  const Serving idle{16, 16, 4};
  EXPECT_EQ(client_latency(30.0_ms, idle), 30.0_ms);
  EXPECT_NEAR(system_throughput(30.0_ms, idle), 4 * 16 / 30e-3, 1e-9);
  EXPECT_NEAR(table_call(30.0_ms, idle).value(), 120e-3, kClose);
}

TEST(Serving, LittlesLawHoldsOnBothSides) {
  for (const double in_flight : {0.5, 1.0, 1.99, 2.0, 2.01, 3.98, 16.0}) {
    const Serving serving{4, 2, in_flight};
    const double requests_per_second = system_throughput(7.0_ms, serving) / 4;
    EXPECT_NEAR(requests_per_second * client_latency(7.0_ms, serving).value(), in_flight, 1e-12);
  }
}

TEST(Serving, TableCallIsCopiesTimesBatchOverThroughput) {
  for (const double in_flight : {0.5, 2.0, 7.0}) {
    const Serving serving{4, 2, in_flight};
    EXPECT_NEAR(table_call(7.0_ms, serving).value(), 2 * 4 / system_throughput(7.0_ms, serving),
                1e-15);
  }
}

TEST(Serving, CopiesFillTheCores) {
  EXPECT_EQ(default_copies(2, 1), 2);
  EXPECT_EQ(default_copies(24, 8), 3);
  EXPECT_EQ(default_copies(24, 9), 2);
  EXPECT_THROW(default_copies(2, 3), InternalError);
}

TEST(Serving, CostIsPriceOverThroughput) {
  // 0.36 USD per hour and 100 samples per second: a million samples take 10,000 s, one dollar.
  EXPECT_NEAR(cost_per_million(hourly_price(0.36), 100).value(), 1.0, 1e-12);
}

}  // namespace
}  // namespace foretell
