#include "model/timing/shared/energy_timing.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {
double voltage_share(double clock, const PowerFacts& facts) {
  return std::min(facts.curve_voltage(clock), facts.voltage_most);
}

double least_voltage(double clock, const PowerFacts& facts) {
  return facts.curve_voltage(clock) * (1 - facts.voltage_margin);
}

Watts idle_power(double clock, const PowerFacts& facts) {
  const double voltage = voltage_share(clock, facts);
  const double leaks =
      facts.leakage_share * voltage * std::exp(facts.leakage_growth * (voltage - 1));
  return facts.active_idle * (1 - facts.leakage_share + leaks);
}

Joules added_energy(const EnergyWork& work, Seconds time, double clock,
                    const DeviceEnergy& energy) {
  const Watts leaks_less = idle_power(1, energy.facts) - idle_power(clock, energy.facts);
  return total_energy(energy_parts(work, Seconds(0), clock, energy)) - leaks_less * time;
}

std::vector<EnergyPart> energy_parts(const EnergyWork& work, Seconds time, double clock,
                                     const DeviceEnergy& energy) {
  const EnergyFactors& factors = energy.factors;
  const double voltage = voltage_share(clock, energy.facts);
  const double switched = Picojoules::kInJoules * voltage * voltage;
  std::vector<EnergyPart> parts;
  const auto add = [&](const char* kind, const char* factor, Joules joules) {
    if (joules > Joules(0)) parts.push_back({kind, joules, energy.calibrated.count(factor) > 0});
  };
  const auto switched_part = [&](const char* kind, const char* factor, Picojoules full) {
    add(kind, factor, Joules(full.value() * switched));
  };
  switched_part("matrix 32 bit", "matrix_32", work.matrix_32 * factors.matrix_32);
  switched_part("matrix 16 bit", "matrix_16", work.matrix_16 * factors.matrix_16);
  switched_part("matrix 8 bit", "matrix_8", work.matrix_8 * factors.matrix_8);
  switched_part("matrix 4 bit", "matrix_4", work.matrix_4 * factors.matrix_4);
  switched_part("vector", "vector", work.vector * factors.vector);
  switched_part("exponential", "exponential", work.exponentials * factors.exponential);
  switched_part("l2", "l2", work.l2 * factors.l2);
  switched_part("sram", "sram", work.sram * factors.sram);
  add("dram", "dram", (work.dram * factors.dram).joules());
  add("link", "link", (work.link * energy.facts.link).joules());
  // Clock trees and pipelines of occupied SMs switch with every cycle.
  add("busy", "busy", factors.busy * clock * voltage * voltage * work.busy);
  add(kActiveIdle, "active_idle", idle_power(clock, energy.facts) * time);
  return parts;
}

Joules total_energy(const std::vector<EnergyPart>& parts) {
  Joules sum;
  for (const EnergyPart& part : parts) sum += part.energy;
  return sum;
}

Watts power_at(const EnergyWork& work, Seconds time, double scales, double clock,
               const DeviceEnergy& energy) {
  const Seconds longer = time * (1 - scales + scales / clock);
  EnergyWork stretched = work;
  stretched.busy = work.busy * (longer / time);
  return total_energy(energy_parts(stretched, longer, clock, energy)) / longer;
}

SlowedJob slow_down_within(Watts free, Watts limit, const PowerFacts& facts) {
  const Watts idle = idle_power(1, facts);
  if (!(free > limit) || !(free > idle)) return {1, free};
  const auto drawn_at = [&](double clock) {
    const double voltage = voltage_share(clock, facts);
    return idle_power(clock, facts) + (free - idle) * (clock * voltage * voltage);
  };
  double low = facts.lowest_clock;
  double high = 1;
  constexpr int kSteps = 40;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    (drawn_at(middle) > limit ? high : low) = middle;
  }
  return {1 / low, drawn_at(low)};
}

double clock_within(const EnergyWork& work, Seconds time, double scales, Watts limit,
                    const DeviceEnergy& energy) {
  if (!(power_at(work, time, scales, 1, energy) > limit)) return 1;
  double low = energy.facts.lowest_clock;
  double high = 1;
  constexpr int kHalvings = 40;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (power_at(work, time, scales, middle, energy) > limit ? high : low) = middle;
  }
  return low;
}

}  // namespace foretell
