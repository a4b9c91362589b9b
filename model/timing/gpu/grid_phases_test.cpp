#include "model/timing/gpu/grid_phases.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "model/timing/gpu/cta_schedule.hpp"

namespace foretell {
namespace {

constexpr int kPhaseSms = 100;
constexpr double kFemtoseconds = 1e15;

Grid random_kernel(std::mt19937& random) {
  std::uniform_real_distribution<double> share(0, 1);
  Grid grid;
  for (unsigned run = 0; run < random() % 4; ++run) {
    add_ctas(grid, 1 + static_cast<std::int64_t>(random() % 700), Seconds(9e-6 * share(random)));
  }
  grid.ctas_per_sm = 1 + static_cast<int>(random() % 4);
  grid.memory_latency = Seconds(1e-6 * share(random));
  grid.dram_bytes = Bytes(30e6 * share(random));
  grid.dram_rate = BytesPerSecond(0.8e12);
  grid.stages_ahead = 5.6 * share(random);
  grid.tail = Seconds(random() % 2 == 0 ? 0 : 1e-6);
  return grid;
}

double integral(const std::vector<GridPhase>& phases, GridResource resource) {
  double sum = 0;
  for (const GridPhase& phase : phases) {
    sum += phase.time * phase.demand[static_cast<std::size_t>(resource)];
  }
  return sum;
}

TEST(GridPhases, TheirTimesSumUpAndTheyServeEveryByteOnce) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const Grid grid = random_kernel(random);
    const GridWaves waves = grid_waves(grid, kPhaseSms);
    const GridMemory memory = stated_memory(grid);
    const double total =
        1.07 * (grid_body(grid, waves, memory) + grid.tail.value() * kFemtoseconds);
    const std::vector<GridPhase> phases = grid_phases(grid, waves, memory, total);
    double time = 0;
    for (const GridPhase& phase : phases) {
      time += phase.time;
      EXPECT_GT(phase.time, 0);
      for (const double demand : phase.demand) {
        EXPECT_GE(demand, 0);
        EXPECT_LE(demand, 1);
      }
    }
    EXPECT_NEAR(time / total, 1, 1e-9);
    EXPECT_NEAR(integral(phases, GridResource::kDram),
                (grid.dram_bytes / grid.dram_rate).value() * kFemtoseconds, 1e-9 * total);
    EXPECT_LE(phases.size(), 4U);
  }
}

TEST(GridPhases, PlacesAreHeldInProportionToTheThreadBlocks) {
  std::mt19937 random(8);
  for (int round = 0; round < 200; ++round) {
    Grid grid = random_kernel(random);
    if (grid.ctas.empty()) continue;
    grid.tail = Seconds(0);
    const GridWaves waves = grid_waves(grid, kPhaseSms);
    const GridMemory memory = stated_memory(grid);
    const double body = grid_body(grid, waves, memory);
    const std::vector<GridPhase> phases = grid_phases(grid, waves, memory, body);
    const double held = waves.busy * body / static_cast<double>(waves.makespan);
    EXPECT_NEAR(integral(phases, GridResource::kSms), held, 1e-9 * body);
    const Seconds makespan =
        cta_makespan(grid.ctas, static_cast<std::int64_t>(kPhaseSms) * grid.ctas_per_sm);
    EXPECT_NEAR(static_cast<double>(waves.makespan), makespan.value() * kFemtoseconds, 1);
  }
}

TEST(GridPhases, ACopyHoldsNoPlace) {
  Grid copy;
  copy.dram_bytes = Bytes(1e6);
  copy.dram_rate = BytesPerSecond(1e12);
  const double time = 1e-6 * kFemtoseconds;
  const std::vector<GridPhase> phases =
      grid_phases(copy, grid_waves(copy, kPhaseSms), stated_memory(copy), time);
  ASSERT_EQ(phases.size(), 1U);
  EXPECT_EQ(integral(phases, GridResource::kSms), 0);
  EXPECT_NEAR(integral(phases, GridResource::kDram), time, 1);
  EXPECT_TRUE(grid_phases(Grid(), {}, {}, 0).empty());
}

TEST(GridPhases, ThePartialWaveAtTheEndLeavesPlacesFree) {
  Grid grid;
  add_ctas(grid, 230, Seconds(5e-6));
  const GridWaves waves = grid_waves(grid, kPhaseSms);
  const std::vector<GridPhase> phases = grid_phases(grid, waves, {}, 15e-6 * kFemtoseconds);
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_NEAR(phases[0].demand[0], 1, 1e-12);
  EXPECT_NEAR(phases[0].time, 10e-6 * kFemtoseconds, 1);
  EXPECT_NEAR(phases[1].demand[0], 0.3, 1e-12);
  EXPECT_NEAR(grid_drain(grid, waves, {}), 5e-6 * kFemtoseconds, 1);
}

// Beside held SMs a grid is never slower than its places are fewer, never faster than alone, and
// takes no more places than are left.
TEST(GridPhases, BesideHeldSmsItsPlacesAreEnoughForASpeedBetweenTheirShareAndOne) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    const Grid grid = random_kernel(random);
    const GridWaves waves = grid_waves(grid, kPhaseSms);
    const GridMemory memory = stated_memory(grid);
    const double alone = grid_body(grid, waves, memory) + grid.tail.value() * kFemtoseconds;
    double last = 1;
    for (const double held : {0.0, 0.1, 0.5, 0.99}) {
      const GridWaves fewer{std::llround(static_cast<double>(waves.makespan) / (1 - held)), 0, 0};
      for (const GridPhase& phase : grid_phases(grid, waves, memory, alone)) {
        const GridDemand demand = demand_beside(phase, held, grid, waves, memory);
        GridDemand taken{};
        taken[0] = held;
        const double speed = fair_speeds({demand}, taken).front();
        EXPECT_GE(speed, 1 - held - 1e-9);
        if (phase.demand[0] == 1 && phase.feeds) {
          EXPECT_NEAR(speed, grid_body(grid, waves, memory) / grid_body(grid, fewer, memory), 1e-9);
          EXPECT_LE(speed, last + 1e-9);
          last = speed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace foretell
