// What holds for every simulated program: conservation, bounds, and a critical path that explains
// the time.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/system/critical_path.hpp"
#include "model/system/simulate.hpp"
#include "model/testing/neuron_exemplar.hpp"
#include "model/testing/random_program.hpp"

namespace foretell {
namespace {

class SimulateLaws : public ::testing::TestWithParam<unsigned> {
 protected:
  Program program() const {
    RandomProgram options;
    options.seed = GetParam();
    return random_program(options);
  }
};

INSTANTIATE_TEST_SUITE_P(Seeds, SimulateLaws, ::testing::Range(1U, 9U));

TEST_P(SimulateLaws, BytesOutOfTheHbmAreBytesIntoTheCores) {
  const Program p = program();
  RunSettings settings;
  settings.active_cores = 2;
  const Execution chip = simulate(exemplar_inf2(), {}, settings, p);
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  for (const Transfer& t : p.transfers()) {
    (t.direction == TransferDirection::kLoad ? loads : stores) += t.bytes();
  }
  EXPECT_GT(loads, 0U);
  EXPECT_EQ(chip.hbm_read, 2 * loads);
  EXPECT_EQ(chip.hbm_written, 2 * stores);
  for (const ProgramExecution& core : chip.cores) {
    EXPECT_EQ(core.loaded_bytes, loads);
    EXPECT_EQ(core.stored_bytes, stores);
  }
}

TEST_P(SimulateLaws, TheCallIsNoShorterThanAnyOfItsParts) {
  const Execution chip = simulate(exemplar_inf2(), {}, {}, program());
  const Ticks device = chip.end - chip.call_begin;
  const ProgramExecution& core = chip.cores.front();
  for (std::size_t e = 0; e < kEngineCount; ++e) EXPECT_LE(core.busy[e] + core.stalled[e], device);
  EXPECT_LE(core.dma_busy, device);
  EXPECT_LE(chip.hbm_busy, device);
  EXPECT_EQ(core.end, chip.end);
}

TEST_P(SimulateLaws, TheHostsOverheadOnlyShiftsTheCall) {
  const Program p = program();
  NeuronFactors late;
  late.call_overhead = Seconds(1e-3);
  const Execution a = simulate(exemplar_inf2(), {}, {}, p);
  const Execution b = simulate(exemplar_inf2(), late, {}, p);
  EXPECT_EQ(a.end - a.call_begin, b.end - b.call_begin);
  EXPECT_EQ(a.cores[0].busy, b.cores[0].busy);
  EXPECT_EQ(a.cores[0].stalled, b.cores[0].stalled);
}

TEST_P(SimulateLaws, ASecondCopyIsNeverASpeedup) {
  const Program p = program();
  RunSettings both;
  both.active_cores = 2;
  NeuronSystemSpec narrow = exemplar_inf2();
  narrow.device.hbm.bandwidth = BytesPerSecond(60e9);
  EXPECT_GE(simulate(narrow, {}, both, p).end, simulate(narrow, {}, {}, p).end);
}

TEST_P(SimulateLaws, TheCriticalPathExplainsTheWholeTime) {
  const Program p = program();
  const NeuronSystemSpec system = exemplar_inf2();
  const Execution chip = simulate(system, {}, {}, p);
  const CriticalPath path = critical_path(p, chip.cores.front());
  const Ticks total = std::accumulate(path.total.begin(), path.total.end(), Ticks{0});
  const Ticks device = chip.end - chip.call_begin;
  EXPECT_LE(total, device);
  // The start latency of a transfer that waits for nothing comes before its first entry.
  EXPECT_GE(total, device - to_ticks(system.device.core.dma.start_latency));
  CriticalTimes by_operator{};
  for (const CriticalTimes& op : path.by_operator) {
    for (std::size_t r = 0; r < op.size(); ++r) by_operator[r] += op[r];
  }
  EXPECT_EQ(by_operator, path.total);  // every entry of these programs belongs to an operator
}

TEST_P(SimulateLaws, NoResourceIsLongerOnTheCriticalPathThanItWasBusy) {
  const Program p = program();
  const Execution chip = simulate(exemplar_inf2(), {}, {}, p);
  const CriticalPath path = critical_path(p, chip.cores.front());
  for (const Critical c : {Critical::kVector, Critical::kScalar, Critical::kGpSimd}) {
    const auto r = static_cast<std::size_t>(c);
    EXPECT_LE(path.total[r], chip.cores.front().busy[r]) << to_string(c);
  }
}

}  // namespace
}  // namespace foretell
