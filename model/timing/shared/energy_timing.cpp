#include "model/timing/shared/energy_timing.hpp"

namespace foretell {
namespace {

constexpr double kPicojoule = 1e-12;

}  // namespace

EnergyWork& EnergyWork::operator+=(const EnergyWork& other) {
  matrix_16 += other.matrix_16;
  matrix_8 += other.matrix_8;
  matrix_4 += other.matrix_4;
  exponentials += other.exponentials;
  dram += other.dram;
  l2 += other.l2;
  link += other.link;
  busy += other.busy;
  return *this;
}

double voltage_share(double clock, const PowerFacts& facts) {
  if (clock <= facts.voltage_knee) return facts.voltage_floor;
  const double way = (clock - facts.voltage_knee) / (1 - facts.voltage_knee);
  return facts.voltage_floor + (1 - facts.voltage_floor) * way;
}

std::vector<EnergyPart> energy_parts(const EnergyWork& work, Seconds time, double clock,
                                     const GpuEnergy& energy) {
  const EnergyFactors& factors = energy.factors;
  const double voltage = voltage_share(clock, energy.facts);
  const double switched = kPicojoule * voltage * voltage;
  std::vector<EnergyPart> parts;
  const auto add = [&parts](const char* kind, double joules) {
    if (joules > 0) parts.push_back({kind, Joules(joules)});
  };
  add("matrix 16 bit", work.matrix_16.value() * factors.matrix_16 * switched);
  add("matrix 8 bit", work.matrix_8.value() * factors.matrix_8 * switched);
  add("matrix 4 bit", work.matrix_4.value() * factors.matrix_4 * switched);
  add("exponential", work.exponentials * factors.exponential * switched);
  add("l2", work.l2.value() * factors.l2 * switched);
  add("dram", work.dram.value() * factors.dram * kPicojoule);
  add("link", work.link.value() * energy.facts.link_pj_per_byte * kPicojoule);
  // Clock trees and pipelines of occupied SMs switch with every cycle.
  add("busy", factors.busy * clock * voltage * voltage * work.busy.value());
  add("active idle", energy.facts.active_idle_watts * time.value());
  return parts;
}

Joules total_energy(const std::vector<EnergyPart>& parts) {
  Joules sum;
  for (const EnergyPart& part : parts) sum += part.energy;
  return sum;
}

Seconds time_at(Seconds time, double scales, double clock) {
  return time * (1 - scales + scales / clock);
}

Watts power_at(const EnergyWork& work, Seconds time, double scales, double clock,
               const GpuEnergy& energy) {
  const Seconds longer = time_at(time, scales, clock);
  EnergyWork stretched = work;
  stretched.busy = work.busy * (longer / time);
  return total_energy(energy_parts(stretched, longer, clock, energy)) / longer;
}

double clock_within(const EnergyWork& work, Seconds time, double scales, Watts limit,
                    const GpuEnergy& energy) {
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
