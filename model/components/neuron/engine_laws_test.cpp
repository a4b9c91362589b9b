// What holds for every program, checked on random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>
#include <vector>

#include "model/components/shared/core_test_bench.hpp"
#include "model/testing/random_program.hpp"

namespace foretell {
namespace {

class RandomPrograms : public ::testing::TestWithParam<unsigned> {
 protected:
  Program program(bool ports = true, bool transfers = true) const {
    RandomProgram options;
    options.seed = GetParam();
    options.ports = ports;
    options.transfers = transfers;
    return random_program(options);
  }
};

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, ::testing::Range(1U, 9U));

// All entries of a core, with where they stand.
template <class Visit>
void for_each_entry(const ProgramExecution& core, Visit visit) {
  for (std::size_t s = 0; s < core.entries.size(); ++s) {
    for (std::size_t i = 0; i < core.entries[s].size(); ++i) visit(s, i, core.entries[s][i]);
  }
}

void expect_same(const ProgramExecution& a, const ProgramExecution& b) {
  ASSERT_EQ(a.end, b.end);
  EXPECT_EQ(a.busy, b.busy);
  EXPECT_EQ(a.stalled, b.stalled);
  for_each_entry(a, [&](std::size_t queue, std::size_t i, const EntryTimes& entry) {
    const EntryTimes& other =
        b.at({static_cast<std::int32_t>(queue), static_cast<std::uint32_t>(i)});
    ASSERT_EQ(entry.begin, other.begin) << queue << "[" << i << "]";
    ASSERT_EQ(entry.end, other.end) << queue << "[" << i << "]";
  });
}

TEST_P(RandomPrograms, RunToTheEndAndTwiceTheSame) {
  const Program p = program();
  const BenchRun once = run_bench(p);
  EXPECT_TRUE(once.finished) << once.blocked;
  expect_same(once.cores[0], run_bench(p).cores[0]);
}

TEST_P(RandomPrograms, ObservingAnInstructionDoesNotMoveIt) {
  // An engine runs ahead of the clock through instructions that signal nothing. Making each of them
  // signal must change nothing.
  Program observed = program();
  const BenchRun plain = run_bench(observed);
  observed.semaphores.emplace_back("observer");
  const auto observer = static_cast<std::uint16_t>(observed.semaphores.size() - 1);
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    for (Instruction& i : observed.engine(e)) {
      if (i.signal == kNoSemaphore) i.signal = observer;
    }
  }
  expect_same(plain.cores[0], run_bench(observed).cores[0]);
}

TEST_P(RandomPrograms, EveryEntryBeginsAfterItsCauseHasEnded) {
  const ProgramExecution core = run_bench(program()).cores[0];
  const auto tensor = static_cast<std::int32_t>(Engine::kTensor);
  for_each_entry(core, [&](std::size_t queue, std::size_t i, const EntryTimes& entry) {
    EXPECT_GE(entry.end, entry.begin);
    if (entry.cause.queue < 0) return;
    const EntryTimes& cause = core.at(entry.cause);
    // A load of weights begins with the matmul before it, and a transfer when one engine is free.
    const bool within = (entry.cause.queue == tensor && queue == 0) || queue >= kEngineCount;
    EXPECT_GE(entry.begin, within ? cause.begin : cause.end) << queue << "[" << i << "]";
  });
}

TEST_P(RandomPrograms, WaitsAreKept) {
  const Program p = program();
  const ProgramExecution core = run_bench(p).cores[0];
  std::vector<std::vector<Ticks>> raised(p.semaphores.size());
  for_each_entry(core, [&](std::size_t queue, std::size_t i, const EntryTimes& entry) {
    const std::uint16_t signal = p.links(queue, i).signal;
    if (signal != kNoSemaphore) raised[signal].push_back(entry.end);
  });
  for (auto& times : raised) std::sort(times.begin(), times.end());
  for_each_entry(core, [&](std::size_t queue, std::size_t i, const EntryTimes& entry) {
    const EntryLinks links = p.links(queue, i);
    for (std::uint32_t w = links.first_wait; w < links.first_wait + links.wait_count; ++w) {
      EXPECT_GE(entry.begin, raised[p.waits[w].semaphore][p.waits[w].threshold - 1])
          << queue << "[" << i << "]";
    }
  });
}

TEST_P(RandomPrograms, LaneEnginesRunOneInstructionAtATime) {
  const ProgramExecution core = run_bench(program()).cores[0];
  for (const Engine engine : {Engine::kVector, Engine::kScalar, Engine::kGpSimd}) {
    const auto& entries = core.entries[static_cast<std::size_t>(engine)];
    for (std::size_t i = 1; i < entries.size(); ++i) {
      EXPECT_GE(entries[i].begin, entries[i - 1].end) << to_string(engine) << "[" << i << "]";
    }
  }
}

TEST_P(RandomPrograms, PortsServeOneEngineAtATime) {
  const Program p = program();
  const ProgramExecution core = run_bench(p).cores[0];
  const auto occupied = [&](unsigned flags, std::initializer_list<Engine> engines) {
    std::vector<std::pair<Ticks, Ticks>> intervals;
    for (const Engine engine : engines) {
      const auto e = static_cast<std::size_t>(engine);
      for (std::size_t i = 0; i < p.engine(e).size(); ++i) {
        if ((p.engine(e)[i].flags & flags) == 0) continue;
        intervals.emplace_back(core.entries[e][i].begin, core.entries[e][i].end);
      }
    }
    std::sort(intervals.begin(), intervals.end());
    return intervals;
  };
  for (const auto& intervals :
       {occupied(kReadsPsum | kWritesPsum, {Engine::kVector, Engine::kScalar}),
        occupied(kReadsSbuf | kWritesSbuf, {Engine::kVector, Engine::kGpSimd})}) {
    ASSERT_GT(intervals.size(), 1U);
    for (std::size_t i = 1; i < intervals.size(); ++i) {
      EXPECT_GE(intervals[i].first, intervals[i - 1].second);
    }
  }
}

TEST_P(RandomPrograms, TimeIsAtLeastTheBusiestEngineAndAtMostEverythingInARow) {
  const Program p = program();
  const ProgramExecution core = run_bench(p).cores[0];
  Ticks sum = 0;
  for_each_entry(core, [&](std::size_t queue, std::size_t, const EntryTimes& entry) {
    sum += entry.end - entry.begin;
    if (queue >= kEngineCount) sum += to_ticks(exemplar_inf2().device.core.dma.start_latency);
  });
  EXPECT_LE(core.end, sum);
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    EXPECT_LE(core.busy[e] + core.stalled[e], core.end) << e;
  }
  EXPECT_LE(core.dma_busy, core.end);
}

// Ticks by which rounding each entry to whole femtoseconds may change a chain of them.
constexpr Ticks kRounding = 1000;

TEST_P(RandomPrograms, FasterClocksAreNeverSlower) {
  const Program p = program(false, false);
  const Ticks base = run_bench(p).cores[0].end;
  for (int which = 0; which < 4; ++which) {
    Bench bench;
    NeuronCoreSpec& core = bench.device.core;
    const std::array<Hertz*, 3> clocks = {&core.tensor.clock, &core.vector.clock,
                                          &core.scalar.clock};
    for (int c = 0; c < 3; ++c) {
      if (which == 3 || which == c) *clocks.at(static_cast<std::size_t>(c)) *= 1.3;
    }
    const Ticks end = run_bench(p, bench).cores[0].end;
    EXPECT_LE(end, base + kRounding) << which;
  }
}

TEST_P(RandomPrograms, LongerSemaphoreLatencyIsNeverFaster) {
  const Program p = program(false, false);
  Ticks last = 0;
  for (const double ns : {0.0, 20.0, 100.0}) {
    Bench bench;
    bench.scaling.semaphore_latency = to_ticks(Seconds(ns * 1e-9));
    const Ticks end = run_bench(p, bench).cores[0].end;
    EXPECT_GE(end, last) << ns;
    last = end;
  }
}

TEST_P(RandomPrograms, AddingWorkIsNeverFaster) {
  Program p = program(false, false);
  const Ticks base = run_bench(p).cores[0].end;
  for (Instruction& i : p.engine(Engine::kVector)) i.n += 50;
  EXPECT_GE(run_bench(p).cores[0].end, base);
}

}  // namespace
}  // namespace foretell
