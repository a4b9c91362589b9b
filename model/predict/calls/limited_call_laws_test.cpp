// Laws of long calls under a power limit: each window of about 50 ms has a clock of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "calib/fitted/shared/energy_factors.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/mapping/gpu/gpu_precision.hpp"
#include "model/predict/calls/limited_call.hpp"
#include "model/predict/power/call_energy.hpp"
#include "model/predict/power/power_windows.hpp"
#include "model/testing/graphs.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kRows = 131072;
constexpr std::int64_t kWidth = 8192;
constexpr double kAsked = 450;

// Products, which heat the chip, and after them passes over memory.
struct Phases {
  int products = 0;
  int passes = 0;
};

class LimitedCallLaws : public testing::Test {
 protected:
  GpuCallResult run(const Phases& phases, const ClockLimits& limits) const {
    GraphWriter writer;
    TensorId x = writer.input("x", {kRows, kWidth});
    for (int i = 0; i < phases.products; ++i)
      x = writer.matmul("product." + std::to_string(i), x, kWidth);
    for (int i = 0; i < phases.passes; ++i) x = writer.norm("pass." + std::to_string(i), x);
    Graph graph = writer.finish(x, "bf16");
    const PrecisionPolicy precision = precision_on_gpu(find_precision("bf16"), system_.device);
    apply_precision(precision, &graph);
    GpuCall call{{}, graph, precision, system_, factors_};
    call.for_timeline = true;
    return run_within(call, {energy_, asked_, differs_}, limits);
  }

  // From now on, of a board whose switched operations take `factor` of the energy.
  void switch_for(double factor) {
    asked_ = changed_energy(energy_, {factor, 1, EnergyPerByte()});
    differs_ = true;
  }

  ClockLimits asked(double watts) const { return {system_.device.power, Watts(watts), 1}; }

  const GpuSystemSpec system_ = GpuCatalog().load("h200-sxm", {}).spec;
  const GpuFactors factors_ = GpuFactors(system_.device, "");
  const DeviceEnergy energy_ = load_gpu_energy(system_.device);
  DeviceEnergy asked_ = energy_;
  bool differs_ = false;
};

std::map<int, std::set<double>> clocks_of(const GpuCallResult& result) {
  std::map<int, std::set<double>> clocks;
  for (const OperatorMetrics& op : result.metrics.operators) clocks[op.window].insert(op.clock);
  return clocks;
}

TEST_F(LimitedCallLaws, AUniformLoadHasTheClockOfAShortCall) {
  const GpuCallResult one = run({2, 0}, asked(kAsked));  // one window
  const GpuCallResult many = run({16, 0}, asked(kAsked));
  ASSERT_EQ(clocks_of(one).size(), 1U);
  ASSERT_GT(clocks_of(many).size(), 4U);
  const double clock = *clocks_of(one).at(0).begin();
  EXPECT_LT(clock, 0.95);
  for (const auto& [window, clocks] : clocks_of(many)) {
    ASSERT_EQ(clocks.size(), 1U) << window;
    EXPECT_NEAR(*clocks.begin() / clock, 1, 0.01) << window;
  }
  EXPECT_NEAR(many.metrics.device / (8 * one.metrics.device), 1, 0.01);
}

TEST_F(LimitedCallLaws, PhasesOfOneCallHaveClocksOfTheirOwn) {
  const GpuCallResult both = run({8, 160}, asked(kAsked));
  const GpuCallResult products = run({8, 0}, asked(kAsked));
  const GpuCallResult passes = run({0, 160}, asked(kAsked));
  const OperatorMetrics& first = both.metrics.operators.front();
  const OperatorMetrics& last = both.metrics.operators.back();
  EXPECT_LT(first.clock, 0.9 * last.clock);
  EXPECT_NEAR(first.clock / products.metrics.operators.front().clock, 1, 0.02);
  EXPECT_NEAR(last.clock / passes.metrics.operators.back().clock, 1, 0.02);
  EXPECT_NEAR(both.metrics.device / (products.metrics.device + passes.metrics.device), 1, 0.02);
}

TEST_F(LimitedCallLaws, EveryWindowKeepsTheLimit) {
  for (const double watts : {600.0, 450.0, 350.0}) {
    const GpuCallResult result = run({8, 160}, asked(watts));
    std::map<int, Joules> drawn;
    std::map<int, Seconds> time;
    for (const OperatorMetrics& op : result.metrics.operators) {
      drawn[op.window] += total_energy(energy_parts(op.work, op.duration, op.clock, energy_));
      time[op.window] += op.duration;
    }
    EXPECT_GT(drawn.size(), 4U);
    double most = 0;
    for (const auto& [window, joules] : drawn)
      most = std::max(most, (joules / time.at(window)).value());
    EXPECT_LE(most, watts * energy_.facts.limit_share * 1.001) << watts;
    EXPECT_GE(most, watts * energy_.facts.limit_share * 0.97) << watts;
  }
}

TEST_F(LimitedCallLaws, TheTimelineHoldsTheJoulesOfTheCall) {
  const GpuCallResult result = run({8, 160}, asked(kAsked));
  Joules drawn;
  for (const KernelRun& run : result.kernels)
    drawn += run.power * (run.duration - run.launch) + run.idle_power * run.duration;
  EnergySetting setting;
  setting.limit = Watts(kAsked);
  const Joules counted = total_energy(
      energy_of_call(result.metrics, energy_, setting, 1 / result.metrics.device.value()).parts);
  EXPECT_NEAR(drawn / counted, 1, 1e-6);
  // Its steps: products draw the limit, passes what their clock leaves them.
  const auto watts = [](const KernelRun& run) { return (run.power + run.idle_power).value(); };
  EXPECT_NEAR(watts(result.kernels.front()), kAsked * energy_.facts.limit_share, 0.02 * kAsked);
}

TEST_F(LimitedCallLaws, ALimitOfTheBoardChangesNoTime) {
  EXPECT_EQ(run({8, 160}, asked(0)).metrics.device, run({8, 160}, asked(700)).metrics.device);
  EXPECT_LT(run({8, 160}, asked(0)).metrics.device, run({8, 160}, asked(600)).metrics.device);
}

// A board at its limit that switches for more has to run slower, as the limit holds for what it
// draws itself; one that switches for less runs faster.
TEST_F(LimitedCallLaws, TimeFollowsTheEnergyThatTheBoardItselfTakes) {
  const double kept = system_.device.power.value() * energy_.facts.limit_share;
  Seconds before;
  double joules_before = 0;
  for (const double factor : {0.8, 1.0, 1.5}) {
    switch_for(factor);
    const GpuCallResult result = run({2, 0}, asked(0));
    double joules = 0;
    for (const OperatorMetrics& op : result.metrics.operators)
      joules += total_energy(energy_parts(op.work, op.duration, op.clock, asked_)).value();
    EXPECT_LE(joules / result.metrics.device.value(), kept * 1.001) << factor;
    EXPECT_GT(result.metrics.device / Seconds(1), before / Seconds(1)) << factor;
    EXPECT_GT(joules, joules_before) << factor;
    before = result.metrics.device;
    joules_before = joules;
  }
}

OperatorMetrics lasting(double seconds) {
  OperatorMetrics op;
  op.duration = Seconds(seconds);
  return op;
}

TEST(PowerWindows, HoldEveryOperatorOnce) {
  for (const std::size_t count : {1U, 3U, 50U, 1000U}) {
    Metrics metrics;
    for (std::size_t i = 0; i < count; ++i)
      metrics.operators.push_back(lasting(1e-3 * static_cast<double>(1 + i % 7)));
    metrics.operators.push_back(lasting(0.4));  // longer than windows: one window of its own
    std::size_t next = 0;
    for (const PowerWindow& window : power_windows(metrics, Seconds(0.05))) {
      EXPECT_EQ(window.first, next);
      EXPECT_GT(window.last, window.first);
      next = window.last;
    }
    EXPECT_EQ(next, metrics.operators.size());
  }
}

TEST(PowerWindows, AShortCallIsOne) {
  Metrics metrics;
  EXPECT_TRUE(power_windows(metrics, Seconds(0.05)).empty());
  metrics.operators = {lasting(0.03), lasting(0.04)};
  EXPECT_EQ(power_windows(metrics, Seconds(0.05)).size(), 1U);
  metrics.operators = {lasting(0.04), lasting(0.04)};
  EXPECT_EQ(power_windows(metrics, Seconds(0.05)).size(), 2U);
}

}  // namespace
}  // namespace foretell
