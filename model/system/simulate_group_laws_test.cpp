// Programs with collectives: the group as a whole against one core in lock step, and what the
// collectives do to the rest of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/base/errors.hpp"
#include "model/program/program_builder.hpp"
#include "model/system/critical_path.hpp"
#include "model/system/simulate.hpp"
#include "model/system/testing/collective_time.hpp"
#include "model/testing/instructions.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

using namespace literals;
using ::testing::HasSubstr;

Collective all_reduce(std::uint64_t bytes) {
  Collective collective;
  collective.kind = CollectiveKind::kAllReduce;
  collective.bytes = bytes;
  return collective;
}

// `layers` of weights, a vector instruction that needs them, and an all-reduce of what it wrote.
// Weights of the next layer are loaded while the all-reduce runs.
Program layers(int count, std::uint32_t row_bytes, std::uint64_t reduced) {
  ProgramBuilder builder("layers");
  Deps result;
  for (int i = 0; i < count; ++i) {
    builder.begin_operator("layer" + std::to_string(i));
    Deps ready = builder.emit(Ring::kWeights, load(128, row_bytes), {});
    ready.merge(result);
    const Deps computed =
        builder.emit(Engine::kVector, lane(Opcode::kTensorCopy, 4096, kReadsSbuf), ready);
    result = builder.emit(all_reduce(reduced), computed);
  }
  builder.emit(Engine::kVector, lane(Opcode::kTensorCopy, 512, kReadsSbuf), result);
  return std::move(builder).finish();
}

Ticks device_time(const Execution& execution) { return execution.end - execution.call_begin; }

Execution run(const NeuronSystemSpec& system, const Program& program, int ranks, bool every_rank) {
  RunSettings settings;
  settings.tensor_parallel = ranks;
  settings.every_rank = every_rank;
  NeuronFactors factors;
  factors.semaphore_latency = 50.0_ns;
  return simulate(system, factors, settings, program);
}

TEST(SimulateGroup, ADeviceThatIsSlowerHoldsUpAllAndOneThatIsFasterHelpsNone) {
  const Program program = layers(6, 65536, 1048576);
  NeuronSystemSpec system = exemplar_inf2_ring();
  const Ticks alike = device_time(run(system, program, 24, true));
  NeuronSystemSpec all = system;
  all.device.hbm.bandwidth = system.device.hbm.bandwidth / 4;
  const Ticks all_slow = device_time(run(all, program, 24, true));
  ASSERT_GT(all_slow, alike);

  system.different[3] = all.device;
  const Ticks one_slow = device_time(run(system, program, 24, false));
  EXPECT_GT(one_slow, alike + (all_slow - alike) * 8 / 10);  // every layer waits for it
  EXPECT_LT(one_slow, all_slow * 101 / 100);  // rings of unequal ranks run less evenly

  system.different[3].hbm.bandwidth = all.device.hbm.bandwidth * 8;
  EXPECT_EQ(device_time(run(system, program, 24, false)), alike);
}

TEST(SimulateGroup, OneCoreInLockStepStandsForAllRanks) {
  for (const int ranks : {2, 4, 12, 24}) {
    for (const std::uint32_t row_bytes : {4096U, 65536U}) {
      for (const std::uint64_t reduced : {16384UL, 1048576UL, 16777216UL}) {
        const Program program = layers(6, row_bytes, reduced);
        const Execution all = run(exemplar_inf2_ring(), program, ranks, true);
        const Execution one = run(exemplar_inf2_ring(), program, ranks, false);
        EXPECT_EQ(all.cores.size(), static_cast<std::size_t>(ranks));
        EXPECT_EQ(one.cores.size(), 1U);
        const auto expected = static_cast<double>(device_time(all));
        EXPECT_NEAR(static_cast<double>(device_time(one)), expected, 1e-3 * expected)
            << ranks << " ranks, rows of " << row_bytes << ", " << reduced << " reduced";
      }
    }
  }
}

TEST(SimulateGroup, OneCoreStandsForTheRanksOfSeveralInstances) {
  const NeuronSystemSpec two = exemplar_instances(exemplar_inf2_ring(), 2);
  for (const std::uint64_t reduced : {16384UL, 16777216UL}) {
    const Program program = layers(3, 65536, reduced);
    const Execution all = run(two, program, 48, true);
    const Execution one = run(two, program, 48, false);
    EXPECT_EQ(all.cores.size(), 48U);
    const auto expected = static_cast<double>(device_time(all));
    EXPECT_NEAR(static_cast<double>(device_time(one)), expected, 5e-3 * expected) << reduced;
    ASSERT_EQ(all.links.size(), one.links.size());
    for (std::size_t l = 0; l < all.links.size(); ++l)
      EXPECT_EQ(all.links[l].bytes, one.links[l].bytes);
  }
}

TEST(SimulateGroup, BothWaysCountTheSameBytes) {
  const Program program = layers(3, 65536, 1048576);
  for (const int ranks : {2, 24}) {
    const Execution all = run(exemplar_inf2_ring(), program, ranks, true);
    const Execution one = run(exemplar_inf2_ring(), program, ranks, false);
    EXPECT_EQ(all.hbm_read, one.hbm_read);
    EXPECT_EQ(all.hbm_written, one.hbm_written);
    ASSERT_EQ(all.links.size(), one.links.size());
    for (std::size_t l = 0; l < all.links.size(); ++l) {
      EXPECT_EQ(all.links[l].bytes, one.links[l].bytes);
      EXPECT_EQ(all.links[l].busy, one.links[l].busy);
    }
  }
}

TEST(SimulateGroup, WithoutOverlapThePartsAddUp) {
  const NeuronSystemSpec system = exemplar_inf2_ring();
  const std::uint64_t bytes = 2400000;
  ProgramBuilder builder("serial");
  builder.begin_operator("a");
  const Deps first = builder.emit(Engine::kScalar, lane(Opcode::kActivate, 512, kReadsSbuf), {});
  const Deps reduced = builder.emit(all_reduce(bytes), first);
  builder.emit(Engine::kVector, lane(Opcode::kTensorCopy, 512, kReadsSbuf), reduced);
  const Program program = std::move(builder).finish();
  const double alone = collective_time(system, {}, CollectiveKind::kAllReduce, 24, bytes).value();
  const double expected = 572 / 1.4e9 + 50e-9 + alone + 50e-9 + 572 / 1.12e9;
  for (const bool every_rank : {false, true}) {
    const Execution result = run(system, program, 24, every_rank);
    EXPECT_NEAR(to_seconds(device_time(result)).value(), expected, 1e-12);
  }
}

TEST(SimulateGroup, WeightsStreamWhileACollectiveRuns) {
  const std::uint64_t reduced = 1048576;
  const auto time = [&](std::uint32_t row_bytes) {
    return to_seconds(
               device_time(run(exemplar_inf2_ring(), layers(6, row_bytes, reduced), 24, false)))
        .value();
  };
  // 128 rows of 64 KiB take 31 us, less than an all-reduce: only the first is not hidden.
  EXPECT_NEAR(time(65536) - time(64), 30e-6, 3e-6);
}

// A memory that both want: streaming weights slow the collective and the collective slows them.
TEST(SimulateGroup, CollectivesAndWeightsContendForTheMemory) {
  NeuronSystemSpec narrow = exemplar_inf2_ring();
  narrow.device.hbm.bandwidth = 400.0_GBps;
  const NeuronSystemSpec wide = exemplar_inf2_ring();
  const Program busy = layers(4, 1048576, 64 * 1048576);
  for (const bool every_rank : {false, true}) {
    const auto slow = device_time(run(narrow, busy, 24, every_rank));
    const auto fast = device_time(run(wide, busy, 24, every_rank));
    EXPECT_GT(static_cast<double>(slow), 1.02 * static_cast<double>(fast));
  }
}

TEST(SimulateGroup, TheCriticalPathNamesTheCollectives) {
  const Program program = layers(4, 64, 16777216);
  const Execution result = run(exemplar_inf2_ring(), program, 24, false);
  const CriticalPath path = critical_path(program, result.cores.front());
  EXPECT_EQ(largest(path.total), Critical::kCollectives);
  Ticks total = 0;
  for (const Ticks time : path.total) total += time;
  EXPECT_NEAR(static_cast<double>(total), static_cast<double>(device_time(result)),
              1e-3 * static_cast<double>(total));
  EXPECT_EQ(path.total[static_cast<std::size_t>(Critical::kCollectives)],
            result.cores.front().busy[program.collective_queue()]);
}

TEST(SimulateGroup, CostsFoundOnceServeTheNextSimulation) {
  const NeuronSystemSpec system = exemplar_inf2_ring();
  const NeuronFactors factors;
  const Program program = layers(3, 4096, 16384);
  CollectiveCosts costs(system, factors, 24);
  RunSettings settings;
  settings.tensor_parallel = 24;
  settings.costs = &costs;
  const Execution first = simulate(system, factors, settings, program);
  EXPECT_EQ(costs.table().size(), 1U);
  const Execution second = simulate(system, factors, settings, program);
  settings.costs = nullptr;
  EXPECT_EQ(first.end, second.end);
  EXPECT_EQ(first.end, simulate(system, factors, settings, program).end);
}

// An all-to-all of groups of cores, between products of weights.
Program exchanges(int ranks, int stride, std::uint64_t bytes) {
  ProgramBuilder builder("exchanges");
  Deps result;
  for (int i = 0; i < 4; ++i) {
    builder.begin_operator("layer" + std::to_string(i));
    Deps ready = builder.emit(Ring::kWeights, load(128, 4096), {});
    ready.merge(result);
    Collective collective;
    collective.kind = CollectiveKind::kAllToAll;
    collective.bytes = bytes;
    collective.ranks = ranks;
    collective.stride = stride;
    result = builder.emit(
        collective,
        builder.emit(Engine::kVector, lane(Opcode::kTensorCopy, 512, kReadsSbuf), ready));
  }
  builder.emit(Engine::kVector, lane(Opcode::kTensorCopy, 512, kReadsSbuf), result);
  return std::move(builder).finish();
}

TEST(SimulateGroup, GroupsOfACopyInLockStepStandForAllRanks) {
  for (const auto& [ranks, stride] :
       {std::pair(2, 1), std::pair(4, 1), std::pair(4, 6), std::pair(12, 2), std::pair(24, 1)}) {
    const Program program = exchanges(ranks, stride, 1048576);
    const auto whole = device_time(run(exemplar_inf2_ring(), program, 24, true));
    const auto one = device_time(run(exemplar_inf2_ring(), program, 24, false));
    EXPECT_NEAR(static_cast<double>(one), static_cast<double>(whole),
                (ranks == 24 ? 0.05 : 0.15) * static_cast<double>(whole))
        << ranks << " ranks, " << stride << " apart";
  }
}

TEST(SimulateGroup, AGroupOfAllIsTheCopy) {
  EXPECT_EQ(run(exemplar_inf2_ring(), exchanges(24, 1, 1048576), 24, false).end,
            run(exemplar_inf2_ring(), exchanges(0, 1, 1048576), 24, false).end);
}

// Cores of one device need no link; the same groups over several devices do, and contend for it.
TEST(SimulateGroup, AGroupWithinADeviceIsFasterThanOneOverMany) {
  const NeuronSystemSpec system = exemplar_inf2_ring();
  const auto carried = [](const Execution& execution) {
    std::uint64_t bytes = 0;
    for (const LinkTraffic& link : execution.links) bytes += link.bytes;
    return bytes;
  };
  const Execution within = run(system, exchanges(2, 1, 16777216), 24, false);
  const Execution across = run(system, exchanges(2, 12, 16777216), 24, false);
  EXPECT_EQ(carried(within), 0U);
  EXPECT_GE(carried(across), 4U * 24 * 16777216 / 2);  // each link on the way counts
  EXPECT_LT(within.end, across.end);
}

std::string message(const NeuronSystemSpec& system, const Program& program, int ranks) {
  try {
    run(system, program, ranks, false);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SimulateGroup, GroupsAndProgramsHaveToFit) {
  const Program program = layers(1, 64, 1024);
  EXPECT_EQ(message(exemplar_inf2_ring(), program, 24), "accepted");
  EXPECT_THAT(message(exemplar_inf2_ring(), program, 5),
              HasSubstr("5 is not possible on exemplar; possible are 1, 2, 4, 8, 12, 24"));
  EXPECT_THAT(message(exemplar_inf2(), program, 24), HasSubstr("possible are 1, 2"));
  EXPECT_EQ(message(exemplar_inf2(), program, 1),
            "program 'layers' has collectives; they need a tensor-parallel group of at least 2 "
            "cores");
  EXPECT_THAT(message(exemplar_inf2_ring(), layers(1, 64, 0), 24),
              HasSubstr("collectives[0] all_reduce: moves 0 bytes"));
  EXPECT_EQ(message(exemplar_inf2_ring(), exchanges(5, 1, 1024), 24),
            "a collective among 5 ranks, 1 apart, does not divide 24 cores");
  EXPECT_THAT(message(exemplar_inf2_ring(), exchanges(4, 4, 1024), 24),
              HasSubstr("4 ranks, 4 apart"));
}

TEST(SimulateGroup, ACollectiveThatWaitsForeverIsNamed) {
  Program program = layers(1, 64, 1024);
  program.waits[program.collectives()[0].first_wait].threshold = 9;
  for (const bool every_rank : {false, true}) {
    RunSettings settings;
    settings.tensor_parallel = 24;
    settings.every_rank = every_rank;
    try {
      simulate(exemplar_inf2_ring(), {}, settings, program);
      FAIL() << "it ended";
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("collectives[0] all_reduce waits for semaphore 'vector' "
                                          "to reach 9; it is 1"));
    }
  }
}

}  // namespace
}  // namespace foretell
