// What grids of several streams on one GPU have to obey: beside one another they are never slower
// than one after the other, and never faster than the resource that both need most.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "model/base/errors.hpp"
#include "model/program/device_streams.hpp"
#include "model/system/machine.hpp"
#include "model/testing/gpu_exemplar.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kSlack = 1e-12;

Program side_by_side(const std::vector<std::vector<Grid>>& streams) {
  std::vector<Stream> empty;
  for (std::size_t s = 0; s < streams.size(); ++s) {
    empty.push_back({"stream" + std::to_string(s), std::vector<Grid>{}});
  }
  ProgramBuilder builder("side by side", empty);
  for (std::size_t s = 0; s < streams.size(); ++s) {
    for (const Grid& grid : streams[s]) builder.emit_to(s, grid, {});
  }
  return std::move(builder).finish();
}

Execution run(const std::vector<std::vector<Grid>>& streams) {
  return simulate(GpuMachine{exemplar_gpu()}, side_by_side(streams));
}

double time_of(const std::vector<std::vector<Grid>>& streams) {
  return to_seconds(run(streams).end).value();
}

Grid random_grid(std::mt19937& random) {
  std::uniform_real_distribution<double> share(0, 1);
  Grid grid;
  const bool copy = random() % 5 == 0;
  for (unsigned run = 0; !copy && run < 1 + random() % 3; ++run) {
    add_ctas(grid, 1 + static_cast<std::int64_t>(random() % 400), Seconds(9e-6 * share(random)));
  }
  grid.ctas_per_sm = 1 + static_cast<int>(random() % 3);
  grid.launch = Seconds(3e-6 * share(random));
  grid.memory_latency = Seconds(1e-6 * share(random));
  grid.dram_bytes = Bytes(30e6 * share(random));
  grid.dram_rate = BytesPerSecond(1e12 * (0.5 + 0.5 * share(random)));
  grid.l2_bytes = Bytes(60e6 * share(random));
  grid.l2_rate = BytesPerSecond(5e12);
  grid.stages_ahead = 5.6 * share(random);
  grid.tail = Seconds(random() % 2 == 0 ? 0 : 1e-6);
  grid.busy[WorkUnit::kTensorPipe] = Seconds(5e-6 * share(random));
  return grid;
}

double dram_time(const Grid& grid) { return (grid.dram_bytes / grid.dram_rate).value(); }

// For all SMs, without what its bytes add.
double sm_time(const Grid& grid) {
  double time = 0;
  for (const CtaRun& run : grid.ctas) time += static_cast<double>(run.count) * run.duration.value();
  return time / (100.0 * grid.ctas_per_sm);
}

TEST(GpuStreamsLaws, NeverSlowerThanInTurnNorFasterThanTheBusierResource) {
  std::mt19937 random(18);
  for (int pair = 0; pair < 300; ++pair) {
    const Grid a = random_grid(random);
    const Grid b = random_grid(random);
    const double alone_a = time_of({{a}});
    const double alone_b = time_of({{b}});
    const double both = time_of({{a}, {b}});
    EXPECT_LE(both, alone_a + alone_b + kSlack) << pair;
    EXPECT_GE(both, std::max(alone_a, alone_b) - kSlack) << pair;
    EXPECT_GE(both, dram_time(a) + dram_time(b) - kSlack) << pair;
    EXPECT_GE(both, sm_time(a) + sm_time(b) - kSlack) << pair;
  }
}

TEST(GpuStreamsLaws, ManyStreamsObeyTheSame) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::vector<Grid>> streams(2 + random() % 4);
    double in_turn = 0;
    double dram = 0;
    for (std::vector<Grid>& stream : streams) {
      for (unsigned g = 0; g < 1 + random() % 4; ++g) {
        stream.push_back(random_grid(random));
        dram += dram_time(stream.back());
      }
      in_turn += time_of({stream});
    }
    const double together = time_of(streams);
    EXPECT_LE(together, in_turn + kSlack) << round;
    EXPECT_GE(together, dram - kSlack) << round;
  }
}

TEST(GpuStreamsLaws, TwoThatFillTheSmsTakeAsLongAsInTurn) {
  Grid grid;
  add_ctas(grid, 300, Seconds(5e-6));
  EXPECT_NEAR(time_of({{grid}, {grid}}), 30e-6, kSlack);
}

TEST(GpuStreamsLaws, TwoThatFillHalfOfTheSmsDoNotMeet) {
  Grid grid;
  add_ctas(grid, 50, Seconds(5e-6));
  EXPECT_NEAR(time_of({{grid}, {grid}}), 5e-6, kSlack);
  EXPECT_NEAR(time_of({{grid}, {grid}, {grid}}), 7.5e-6, 2 * kSlack);
}

TEST(GpuStreamsLaws, ACopyBesideAProductCostsWhatTheyShareOfDram) {
  Grid product;
  add_ctas(product, 100, Seconds(40e-6));
  product.dram_bytes = Bytes(10e6);
  product.dram_rate = BytesPerSecond(1e12);
  product.stages_ahead = 83;
  Grid copy;
  copy.dram_bytes = Bytes(20e6);
  copy.dram_rate = BytesPerSecond(1e12);
  // The copy asks for all of DRAM, the product for a quarter: both go at 0.8 until the copy ends.
  const Execution both = run({{product}, {copy}});
  EXPECT_NEAR(to_seconds(both.cores[0].entries[1][0].end).value(), 25e-6, kSlack);
  EXPECT_NEAR(to_seconds(both.cores[0].entries[0][0].end).value(), 45e-6, kSlack);
}

TEST(GpuStreamsLaws, BusyStalledAndBytesAreConserved) {
  std::mt19937 random(5);
  const Grid a = random_grid(random);
  const Grid b = random_grid(random);
  const Execution both = run({{a}, {b}});
  const auto sms = std::find_if(both.modules.begin(), both.modules.end(),
                                [](const ModuleActivity& m) { return m.path == "gpu0.sms"; });
  ASSERT_NE(sms, both.modules.end());
  EXPECT_GE(sms->busy.value() + kSlack, sm_time(a) + sm_time(b));
  EXPECT_LE((sms->busy + sms->stalled).value(), to_seconds(both.end).value() + kSlack);
  EXPECT_NEAR(static_cast<double>(both.hbm_read), (a.dram_bytes + b.dram_bytes).value(), 2);
}

double share_of(const Execution& execution, const std::string& path) {
  for (const ModuleActivity& module : execution.modules) {
    if (module.path == path) return module.busy / to_seconds(execution.end);
  }
  return 0;
}

TEST(GpuStreamsLaws, BlocksThatStateTheirNeedsShareAnSmUpToItsLimits) {
  Grid grid;
  add_ctas(grid, 100, Seconds(5e-6));
  EXPECT_NEAR(time_of({{grid}, {grid}}), 10e-6, kSlack);  // one block has an SM for itself
  grid.needs = {512, 512 * 32, Bytes(100 * 1024.0)};
  EXPECT_NEAR(time_of({{grid}, {grid}}), 5e-6, kSlack);
  // For 228 KiB two blocks get 100 each, three do not; of 65,536 registers four blocks get 16,384.
  const Execution three = run({{grid}, {grid}, {grid}});
  EXPECT_NEAR(to_seconds(three.end).value(), 5e-6 * 300 / 228, 2 * kSlack);
  EXPECT_NEAR(share_of(three, "gpu0.sms.shared_memory"), 1, 1e-6);
  EXPECT_NEAR(share_of(three, "gpu0.sms.registers"), 0.75 * 228 / 300, 1e-6);
  grid.needs = {1024, 1024 * 16, Bytes(0)};
  EXPECT_NEAR(time_of({{grid}, {grid}, {grid}}), 7.5e-6, 2 * kSlack);  // 2,048 threads
  // Pipes bound them beyond that.
  grid.busy[WorkUnit::kTensorPipe] = Seconds(4e-6);
  EXPECT_NEAR(time_of({{grid}, {grid}}), 8e-6, 2 * kSlack);
}

TEST(GpuStreamsLaws, BlocksThatFitNoSmOrFewerThanStatedNameTheEntryAndTheKey) {
  Grid grid;
  grid.name = "wide";
  add_ctas(grid, 100, Seconds(5e-6));
  grid.needs = {512, 512, Bytes(300 * 1024.0)};
  EXPECT_THAT(message_of<UserError>([&] { time_of({{grid}}); }),
              AllOf(HasSubstr("stream0[0] wide"), HasSubstr("device.sm.shared_memory_per_cta")));
  grid.needs = {512, 512, Bytes(100 * 1024.0)};
  grid.ctas_per_sm = 3;
  EXPECT_THAT(message_of<UserError>([&] { time_of({{grid}}); }),
              AllOf(HasSubstr("stream0[0] wide"), HasSubstr("per_sm is 3"), HasSubstr("holds 2")));
}

TEST(GpuStreamsLaws, StreamsThatWaitForOneAnotherAreNamedWithTheirEntries) {
  Program program;
  program.name = "circle";
  Grid grid;
  grid.name = "copy";
  add_ctas(grid, 1, Seconds(1e-6));
  program.semaphores = {"a", "b"};
  program.waits = {{0, 1}, {1, 1}};
  for (std::uint16_t s = 0; s < 2; ++s) {
    grid.first_wait = s;
    grid.wait_count = 1;
    grid.signal = static_cast<std::uint16_t>(1 - s);
    program.streams.push_back({"stream" + std::to_string(s), std::vector<Grid>{grid}});
  }
  EXPECT_THAT(message_of<UserError>([&] { simulate(GpuMachine{exemplar_gpu()}, program); }),
              AllOf(HasSubstr("deadlocks on gpu0"), HasSubstr("stream0[0] copy"), HasSubstr("'a'"),
                    HasSubstr("stream1[0] copy"), HasSubstr("'b'")));
}

TEST(GpuStreamsLaws, BytesOfTheMemoryAreThoseOfTheEntriesAndStreamsAreBusyStalledOrIdle) {
  std::mt19937 random(9);
  for (int round = 0; round < 40; ++round) {
    std::vector<std::vector<Grid>> streams(2 + random() % 3);
    double bytes = 0;
    std::size_t grids = 0;
    for (std::vector<Grid>& stream : streams) {
      for (unsigned g = 0; g < 1 + random() % 4; ++g) {
        stream.push_back(random_grid(random));
        bytes += std::round(stream.back().dram_bytes.value());
        ++grids;
      }
    }
    const Execution execution = run(streams);
    EXPECT_NEAR(static_cast<double>(execution.hbm_read), bytes, static_cast<double>(grids));
    const ProgramExecution& ran = execution.cores.front();
    for (std::size_t s = 0; s < streams.size(); ++s) {
      const Ticks last = ran.entries[s].back().end;  // from here on it is idle
      EXPECT_EQ(ran.busy[s] + ran.stalled[s], last) << round;
      EXPECT_LE(last, execution.end);
    }
    for (const ModuleActivity& module : execution.modules) {
      if (module.path.rfind("gpu0.sms", 0) != 0) continue;
      EXPECT_LE((module.busy + module.stalled).value(), to_seconds(execution.end).value() + kSlack)
          << module.path;
    }
  }
}

TEST(GpuStreamsLaws, AnEarlyLaunchHidesUnderTheLastThreadBlocksAlone) {
  Grid first;
  add_ctas(first, 130, Seconds(10e-6));  // 30 in the second wave
  Grid next = first;
  next.launch = Seconds(4e-6);
  EXPECT_NEAR(time_of({{first, next}}), 44e-6, kSlack);
  next.early_launch = Seconds(3e-6);
  EXPECT_NEAR(time_of({{first, next}}), 41e-6, kSlack);
  Grid full;
  add_ctas(full, 100, Seconds(10e-6));
  EXPECT_NEAR(time_of({{full, next}}), 34e-6, kSlack);  // no SM is free before the end
}

TEST(GpuStreamsLaws, AProductBesideAnAllReduceTakesAtMostBothInTurn) {
  const GpuDeviceSpec device = exemplar_gpu();
  LinkExchange exchange;
  exchange.ranks = 4;
  exchange.peak = BytesPerSecond(450e9);
  exchange.rounds = {{6,
                      Seconds(1e-6),
                      Bytes(4e6),
                      BytesPerSecond(4e12),
                      {1, Bytes(2e6), BytesPerSecond(350e9)},
                      {}}};
  Collective collective;
  collective.name = "all-reduce";
  collective.exchange = exchange;
  Grid product;
  add_ctas(product, 100, Seconds(40e-6));
  product.l2_bytes = Bytes(200e6);
  product.l2_rate = BytesPerSecond(6e12);
  const auto time = [&](bool with_product, bool with_collective) {
    ProgramBuilder builder("beside", gpu_streams(false));
    if (with_product) builder.emit_to(kGridStream, product, {});
    if (with_collective) builder.emit_to(kGpuCollectives, collective, {});
    return to_seconds(simulate(GpuMachine{device}, std::move(builder).finish()).end).value();
  };
  const double both = time(true, true);
  EXPECT_LE(both, time(true, false) + time(false, true) + kSlack);
  EXPECT_GE(both, std::max(time(true, false), time(false, true)) - kSlack);
  EXPECT_GT(both, std::max(time(true, false), time(false, true)) + 1e-7);  // they meet in L2
}

}  // namespace
}  // namespace foretell
