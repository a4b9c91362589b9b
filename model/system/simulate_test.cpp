// A program in, times and errors out: what a caller of simulate() sees.
#include "model/system/simulate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/base/errors.hpp"
#include "model/program/program_builder.hpp"
#include "model/testing/instructions.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

using namespace literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// 512 elements through Scalar, then through Vector: 572 cycles of each with the access overhead.
Program two_steps() {
  ProgramBuilder builder("two");
  builder.begin_operator("a");
  const Deps first = builder.emit(Engine::kScalar, lane(Opcode::kActivate, 512), {});
  builder.emit(Engine::kVector, lane(Opcode::kTensorCopy, 512), first);
  return std::move(builder).finish();
}

double device_seconds(const Execution& execution) {
  return to_seconds(execution.end - execution.call_begin).value();
}

double run(const Program& program, const NeuronFactors& factors = {},
           const RunSettings& settings = {}) {
  return device_seconds(simulate(exemplar_inf2(), factors, settings, program));
}

std::string failure(const Program& program, const RunSettings& settings = {}) {
  try {
    simulate(exemplar_inf2(), {}, settings, program);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Simulate, TwoDependentInstructionsTakeTheSumOfTheirTimes) {
  EXPECT_NEAR(run(two_steps()), 572 / 1.4e9 + 572 / 1.12e9, 1e-14);
}

TEST(Simulate, AnEmptyProgramTakesTheHostsOverheadAlone) {
  const Execution execution = simulate(exemplar_inf2(), {}, {}, {});
  EXPECT_EQ(execution.call_begin, to_ticks(28.0_us));
  EXPECT_EQ(execution.end, execution.call_begin);
  EXPECT_EQ(execution.instructions, 0U);
}

TEST(Simulate, TwoSimulationsInOneProcessAgree) {
  const Program program = two_steps();
  const Execution once = simulate(exemplar_inf2(), {}, {}, program);
  const Execution twice = simulate(exemplar_inf2(), {}, {}, program);
  EXPECT_EQ(once.end, twice.end);
  EXPECT_EQ(once.events, twice.events);
  EXPECT_EQ(once.instructions, twice.instructions);
}

TEST(Simulate, ASimulationAfterAFailedOneIsNotDisturbed) {
  const double before = run(two_steps());
  Program stuck = two_steps();
  stuck.engine(Engine::kScalar).clear();
  EXPECT_NE(failure(stuck), "");
  EXPECT_DOUBLE_EQ(run(two_steps()), before);
}

TEST(Simulate, ADeadlockSaysWhoWaitsForWhatOnWhichCore) {
  Program stuck = two_steps();
  stuck.engine(Engine::kScalar).clear();  // no signal comes any more
  EXPECT_EQ(failure(stuck),
            "program 'two' deadlocks on chip0.core0:\n"
            "  vector[0] tensor_copy waits for semaphore 'scalar' to reach 1; it is 0\n"
            "  one of them has to begin first: a `take` less, or a semaphore that holds something "
            "from the start (semaphores)");
}

TEST(Simulate, ACycleOfWaitsNamesEveryBlockedQueue) {
  Program program;
  program.name = "cycle";
  program.semaphores = {"a", "b"};
  program.waits = {{1, 1}, {0, 1}};
  Instruction first = lane(Opcode::kTensorCopy, 64);
  first.signal = 0;
  first.wait_count = 1;
  Transfer second = load(16, 64);
  second.signal = 1;
  second.first_wait = 1;
  second.wait_count = 1;
  program.engine(Engine::kVector) = {first};
  program.add_ring("weights", {second});
  EXPECT_THAT(failure(program),
              HasSubstr("\n  vector[0] tensor_copy waits for semaphore 'b' to reach 1; it is 0"
                        "\n  dma weights[0] waits for semaphore 'a' to reach 1; it is 0"));
}

TEST(Simulate, RefusesWhatBreaksALimitBeforeItRuns) {
  Program program = two_steps();
  program.engine(Engine::kVector)[0].partitions = 129;
  EXPECT_THAT(failure(program), StartsWith("vector[0] tensor_copy: partitions is 129"));
}

TEST(Simulate, ATransferBeyondTheDeviceMemoryIsRefused) {
  const auto at = [](std::uint64_t address) {
    Transfer t = load(128, 4096);
    t.hbm_address = address;
    Program program;
    program.add_ring("weights", {t});
    return failure(program);
  };
  constexpr std::uint64_t kCapacity = std::uint64_t{32} << 30U;
  EXPECT_EQ(at(kCapacity - 128 * 4096), "");
  EXPECT_THAT(at(kCapacity - 128 * 4096 + 1), HasSubstr("end address in HBM is 34359738369"));
}

TEST(Simulate, CollectivesNeedAGroup) {
  Program program = two_steps();
  Collective collective;
  collective.bytes = 1024;
  program.entries<Collective>(program.collective_queue()) = {collective};
  EXPECT_THAT(failure(program), HasSubstr("they need a tensor-parallel group"));
}

TEST(Simulate, FactorsScaleWhatTheyName) {
  const double base = run(two_steps());
  NeuronFactors factors;
  factors.clock_derate = 1.25;
  RunSettings settings;
  settings.active_cores = 2;
  EXPECT_NEAR(run(two_steps(), factors, settings), 1.25 * base, 1e-14);
  settings.sdk_engine_time = 1.1;
  EXPECT_NEAR(run(two_steps(), factors, settings), 1.25 * 1.1 * base, 1e-14);
  factors = {};
  factors.semaphore_latency = 40.0_ns;
  EXPECT_NEAR(run(two_steps(), factors), base + 40e-9, 1e-14);
}

// The clock falls with the cores that work: one alone has all of it, a group of cores does not.
TEST(Simulate, ACoreAloneKeepsItsClock) {
  NeuronFactors factors;
  factors.clock_derate = 1.3;
  EXPECT_EQ(run(two_steps(), factors), run(two_steps()));
  NeuronSystemSpec four = exemplar_inf2();
  four.device.cores = 4;
  std::vector<double> times;
  for (RunSettings settings; settings.active_cores <= 4; ++settings.active_cores)
    times.push_back(device_seconds(simulate(four, factors, settings, two_steps())));
  for (int cores = 1; cores <= 4; ++cores)
    EXPECT_NEAR(times[static_cast<std::size_t>(cores - 1)], (1 + 0.1 * (cores - 1)) * times[0],
                1e-12);
  RunSettings group;
  group.tensor_parallel = 2;
  EXPECT_NEAR(run(two_steps(), factors, group), 1.3 * run(two_steps()), 1e-14);
}

TEST(Simulate, TheDmaRateIsAShareOfTheSustainedOne) {
  ProgramBuilder builder("load");
  builder.emit(Ring::kWeights, load(16, 1 << 20), {});
  const Program program = std::move(builder).finish();
  NeuronFactors half;
  half.dma_rate_fraction = 0.5;
  const double start = 1300e-9 + 8e-9;
  EXPECT_NEAR(run(program), start + (1 << 20) / 17e9, 1e-12);
  EXPECT_NEAR(run(program, half), start + (1 << 20) / 8.5e9, 1e-12);
}

TEST(CallOverhead, IsTheFittedOneWhereThereIsOne) {
  NeuronFactors factors;
  EXPECT_DOUBLE_EQ(call_overhead(exemplar_inf2(), factors).value(), 28e-6);
  factors.call_overhead = 250.0_us;
  EXPECT_DOUBLE_EQ(call_overhead(exemplar_inf2(), factors).value(), 250e-6);
  EXPECT_EQ(simulate(exemplar_inf2(), factors, {}, {}).call_begin, to_ticks(250.0_us));
  RunSettings old;
  old.sdk_call_time = 2;
  EXPECT_EQ(simulate(exemplar_inf2(), factors, old, {}).call_begin, to_ticks(500.0_us));
}

TEST(LimitsOf, FollowTheDevice) {
  const ProgramLimits limits = limits_of(exemplar_inf2().device);
  EXPECT_EQ(limits.partitions, 128U);
  EXPECT_EQ(limits.stationary_columns, 128U);
  EXPECT_EQ(limits.moving_columns, 512U);
  EXPECT_EQ(limits.psum_banks, 8U);
  EXPECT_EQ(limits.psum_bank_columns, 512U);  // 2 MiB / 128 partitions / 8 banks / 4 bytes
  EXPECT_EQ(limits.hbm_bytes, std::uint64_t{32} << 30U);
}

TEST(Simulate, TwoCopiesAreTwoCoresAtTheSameTime) {
  RunSettings both;
  both.active_cores = 2;
  const Execution one = simulate(exemplar_inf2(), {}, {}, two_steps());
  const Execution two = simulate(exemplar_inf2(), {}, both, two_steps());
  ASSERT_EQ(two.cores.size(), 2U);
  EXPECT_EQ(two.end, one.end);
  EXPECT_EQ(two.cores[0].end, two.cores[1].end);
  EXPECT_EQ(two.instructions, 2 * one.instructions);
}

}  // namespace
}  // namespace foretell
