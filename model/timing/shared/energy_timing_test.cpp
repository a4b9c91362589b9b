#include "model/timing/shared/energy_timing.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace foretell {
namespace {

DeviceEnergy some_energy() {
  DeviceEnergy energy;
  energy.facts = {Watts(100), 0.985, EnergyPerByte(50), 0.5, 0.7, 0.2};
  energy.factors = {EnergyPerFlop(1), EnergyPerFlop(0.5), EnergyPerFlop(0.3), EnergyPerFlop(0.15),
                    EnergyPerFlop(1), Picojoules(10),     EnergyPerByte(100), EnergyPerByte(10),
                    EnergyPerByte(1), Watts(60)};
  return energy;
}

EnergyWork compute_work() {
  EnergyWork work;
  work.matrix_16 = Flops(1e15);
  work.dram = Bytes(1e10);
  work.busy = Seconds(1);
  return work;
}

TEST(EnergyTiming, PartsAddUpToTheClosedForm) {
  const auto parts = energy_parts(compute_work(), Seconds(1), 1, some_energy());
  EXPECT_NEAR(total_energy(parts).value(), 1e15 * 0.5e-12 + 1e10 * 100e-12 + 60 + 100, 1e-9);
}

TEST(EnergyTiming, NoWorkDrawsActiveIdle) {
  EXPECT_DOUBLE_EQ(power_at({}, Seconds(2), 0, 1, some_energy()).value(), 100);
}

TEST(EnergyTiming, MoreWorkNeverTakesLessEnergy) {
  EnergyWork more = compute_work();
  more += compute_work();
  more.busy = Seconds(1);
  EXPECT_GT(total_energy(energy_parts(more, Seconds(1), 1, some_energy())).value(),
            total_energy(energy_parts(compute_work(), Seconds(1), 1, some_energy())).value());
}

TEST(EnergyTiming, VoltageIsFlatBelowTheKneeAndFullAtTheTop) {
  const PowerFacts facts = some_energy().facts;
  EXPECT_DOUBLE_EQ(voltage_share(0.3, facts), 0.7);
  EXPECT_DOUBLE_EQ(voltage_share(0.5, facts), 0.7);
  EXPECT_DOUBLE_EQ(voltage_share(0.75, facts), 0.85);
  EXPECT_DOUBLE_EQ(voltage_share(1, facts), 1);
}

DeviceEnergy leaking_energy() {
  DeviceEnergy energy = some_energy();
  energy.facts.leakage_share = 0.4;
  energy.facts.leakage_growth = 1.5;
  energy.facts.voltage_margin = 0.1;
  return energy;
}

TEST(EnergyTiming, WhatLeaksFallsWithTheVoltageOfTheClock) {
  PowerFacts facts = leaking_energy().facts;
  EXPECT_DOUBLE_EQ(idle_power(1, facts).value(), 100);
  // 0.7 of the voltage at the knee and below it.
  EXPECT_NEAR(idle_power(0.3, facts).value(), 60 + 40 * 0.7 * std::exp(-0.45), 1e-9);
  facts.voltage_most = 0.9;
  EXPECT_NEAR(idle_power(1, facts).value(), 60 + 40 * 0.9 * std::exp(-0.15), 1e-9);
}

TEST(EnergyTiming, LessVoltageAtTheSameClockSavesItsSquareOfWhatIsSwitched) {
  DeviceEnergy energy = leaking_energy();
  const auto joules = [&](const char* kind) {
    for (const EnergyPart& part : energy_parts(compute_work(), Seconds(1), 1, energy)) {
      if (part.kind == kind) return part.energy.value();
    }
    return 0.0;
  };
  const double matrix = joules("matrix 16 bit");
  const double dram = joules("dram");
  energy.facts.voltage_most = 0.9;
  EXPECT_NEAR(joules("matrix 16 bit") / matrix, 0.81, 1e-12);
  EXPECT_DOUBLE_EQ(joules("dram"), dram);
}

TEST(EnergyTiming, WhatWorkAddsAndIdlePowerAreAllThatIsDrawn) {
  const DeviceEnergy energy = leaking_energy();
  for (const double clock : {0.4, 0.8, 1.0}) {
    const Joules all = total_energy(energy_parts(compute_work(), Seconds(2), clock, energy));
    const Joules added = added_energy(compute_work(), Seconds(2), clock, energy);
    EXPECT_NEAR((added + idle_power(1, energy.facts) * Seconds(2)) / all, 1, 1e-12) << clock;
  }
}

TEST(EnergyTiming, AClockNeedsItsVoltageLessTheMargin) {
  const PowerFacts facts = leaking_energy().facts;
  EXPECT_DOUBLE_EQ(least_voltage(1, facts), 0.9);
  EXPECT_DOUBLE_EQ(least_voltage(0.75, facts), 0.9 * 0.85);
  EXPECT_DOUBLE_EQ(least_voltage(0.2, facts), 0.9 * 0.7);
}

TEST(EnergyTiming, ClockFallsJustUntilThePowerFits) {
  const DeviceEnergy energy = some_energy();
  for (const double limit : {650.0, 500.0, 400.0, 300.0}) {
    const double clock = clock_within(compute_work(), Seconds(1), 1, Watts(limit), energy);
    EXPECT_LT(clock, 1);
    EXPECT_NEAR(power_at(compute_work(), Seconds(1), 1, clock, energy).value(), limit, 1e-3);
  }
  EXPECT_DOUBLE_EQ(clock_within(compute_work(), Seconds(1), 1, Watts(700), energy), 1);
}

TEST(EnergyTiming, TighterLimitIsNeverFaster) {
  double before = 1;
  for (double limit = 700; limit > 150; limit -= 50) {
    const double clock = clock_within(compute_work(), Seconds(1), 1, Watts(limit), some_energy());
    EXPECT_LE(clock, before);
    before = clock;
  }
  EXPECT_LT(before, 0.5);
}

TEST(EnergyTiming, AJobUnderACapSlowsDownByTheClockThatFits) {
  const PowerFacts facts = some_energy().facts;
  const auto factor = [&facts](double free, double limit) {
    return slow_down_within(Watts(free), Watts(limit), facts).factor;
  };
  EXPECT_DOUBLE_EQ(factor(300, 300), 1);
  // 100 W idle: 200 W of dynamic power, of which 0.75 x 0.85^2 are left at three quarters.
  const double left = 100 + 200 * 0.75 * 0.85 * 0.85;
  EXPECT_NEAR(factor(300, left), 1 / 0.75, 1e-6);
  EXPECT_NEAR(slow_down_within(Watts(300), Watts(left), facts).watts.value(), left, 1e-6);
  EXPECT_DOUBLE_EQ(factor(300, 90), 1 / facts.lowest_clock);
  EXPECT_GT(slow_down_within(Watts(300), Watts(90), facts).watts, Watts(90));  // it is not kept
  EXPECT_DOUBLE_EQ(factor(80, 50), 1);                                         // idle has no clock
}

}  // namespace
}  // namespace foretell
