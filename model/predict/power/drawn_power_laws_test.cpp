// The power of a timeline holds the joules of its call, no more and no less.
#include <gtest/gtest.h>

#include <numeric>
#include <utility>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/predict/calls/neuron_call.hpp"
#include "model/predict/power/call_energy.hpp"
#include "model/predict/power/drawn_power.hpp"
#include "model/testing/networks.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

DeviceEnergy some_energy() {
  DeviceEnergy energy;
  energy.facts.active_idle = Watts(60);
  energy.factors.matrix_16 = EnergyPerFlop(0.5);
  energy.factors.matrix_32 = EnergyPerFlop(1.2);
  energy.factors.vector = EnergyPerFlop(1.5);
  energy.factors.exponential = Picojoules(15);
  energy.factors.dram = EnergyPerByte(60);
  energy.factors.sram = EnergyPerByte(2);
  return energy;
}

TEST(DrawnPowerLaws, EntriesOfANeuronCoreDrawWhatItsOperatorsWereCounted) {
  const PrecisionPolicy precision = find_precision("bf16-matmul");
  const Graph graph = network("bert-base-cased", 2, 128);
  const NeuronSystemSpec system = exemplar_inf2();
  const NeuronFactors factors;
  NeuronCall call{graph, precision, system, factors};
  call.for_timeline = true;
  const NeuronCallResult result = run_neuron_call(call);
  const DeviceEnergy energy = some_energy();
  const TracePower power = entry_power(*result.program, result.execution, energy);
  double drawn = 0;
  for (const PowerSpan& span : power.spans) {
    EXPECT_LE(span.begin, span.end);
    drawn += span.energy.value();
  }
  double counted = 0;
  for (const OperatorActivity& op : result.execution.cores.front().operators)
    counted += total_energy(energy_parts(op.work, Seconds(0), 1, energy)).value();
  EXPECT_GT(counted, 0);
  EXPECT_NEAR(drawn / counted, 1, 1e-9);
  EXPECT_EQ(power.idle.value(), 60);
}

OperatorMetrics busy_operator(const char* name, double flops) {
  OperatorMetrics op;
  op.name = name;
  op.clock = 1;
  op.work.matrix_16 = Flops(flops);
  return op;
}

KernelRun kernel_of(const char* op, double seconds) {
  KernelRun run;
  run.op = op;
  run.duration = Seconds(seconds);
  return run;
}

TEST(DrawnPowerLaws, KernelsShareTheJoulesOfTheirOperatorByTime) {
  Metrics metrics;
  metrics.operators = {busy_operator("a", 1e15), busy_operator("b", 4e15)};
  std::vector<KernelRun> kernels = {kernel_of("a", 1), kernel_of("b", 1), kernel_of("b", 3)};
  const DeviceEnergy energy = some_energy();
  set_kernel_power(metrics, energy, Watts(60), Watts(0), kernels);
  const double joules = std::accumulate(
      kernels.begin(), kernels.end(), 0.0,
      [](double sum, const KernelRun& run) { return sum + (run.power * run.duration).value(); });
  EXPECT_NEAR(joules, 5e15 * 0.5e-12, 1e-6);
  EXPECT_NEAR(kernels[1].power.value(), kernels[2].power.value(), 1e-9);
}

TEST(DrawnPowerLaws, LimitHoldsForTheMeanOfACall) {
  Metrics metrics;
  metrics.operators = {busy_operator("a", 1e15), busy_operator("b", 4e15)};
  metrics.operators[0].duration = metrics.operators[1].duration = Seconds(2);
  std::vector<KernelRun> kernels = {kernel_of("a", 2), kernel_of("b", 2)};
  set_kernel_power(metrics, some_energy(), Watts(60), Watts(500), kernels);
  EXPECT_NEAR((kernels[0].power + kernels[1].power).value() / 2 + 60, 500, 1e-9);
  EXPECT_NEAR(kernels[1].power / kernels[0].power, 4, 1e-9);
}

// No limit takes it from what runs at the lowest clock: the board draws more, in a timeline and in
// the joules of the call.
TEST(DrawnPowerLaws, ALimitThatTheLowestClockDoesNotKeepChangesNoEnergy) {
  Metrics metrics;
  metrics.operators = {busy_operator("a", 1e15)};
  metrics.operators[0].duration = Seconds(1);
  DeviceEnergy energy = some_energy();
  energy.facts.limit_share = 1;
  energy.facts.lowest_clock = metrics.operators[0].clock = 0.2;
  const auto drawn = [&](double limit) {
    std::vector<KernelRun> kernels = {kernel_of("a", 1)};
    set_kernel_power(metrics, energy, Watts(60), Watts(limit), kernels);
    EnergySetting setting;
    setting.limit = Watts(limit);
    const Joules joules = total_energy(energy_of_call(metrics, energy, setting, 1).parts);
    return std::pair{kernels[0].power.value(), joules.value()};
  };
  EXPECT_EQ(drawn(80), drawn(0));
  metrics.operators[0].clock = 0.3;
  EXPECT_LT(drawn(80).first, drawn(0).first);
  EXPECT_LT(drawn(80).second, drawn(0).second);
}

}  // namespace
}  // namespace foretell
