// One program on one machine: what holds for GPUs and CPUs whatever the numbers are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "model/program/device_streams.hpp"
#include "model/system/machine.hpp"
#include "model/testing/gpu_exemplar.hpp"
#include "model/testing/loops_in_order.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;
using namespace literals;

Grid grid_of(std::int64_t blocks, Seconds launch = 2.0_us) {
  Grid grid;
  grid.name = "grid";
  add_ctas(grid, blocks, 5.0_us);
  add_ctas(grid, blocks / 3, 3.0_us);
  grid.launch = launch;
  grid.dram_bytes = Bytes(4e6);
  grid.dram_rate = BytesPerSecond(0.7e12);
  grid.stages_ahead = 2.8;
  return grid;
}

Loop loop_of(std::int64_t chunks, int threads) {
  Loop loop;
  loop.name = "loop";
  loop.threads = threads;
  loop.chunks = {{chunks, 20.0_us, 2.0_us, Bytes(1e5)}};
  loop.core_dram = BytesPerSecond(10e9);
  loop.dram = BytesPerSecond(30e9);
  loop.stages_ahead = 1.4;
  loop.call = 1.0_us;
  loop.fork_join = 3.0_us;
  return loop;
}

CpuSystemSpec small_cpu() {
  CpuSystemSpec system;
  system.cores = 8;
  system.device.dram.channels = 2;
  system.device.dram.channel_bandwidth = BytesPerSecond(20e9);
  return system;
}

Execution on_gpu(const std::vector<Grid>& grids, bool exact = false) {
  return simulate(GpuMachine{exemplar_gpu(), exact, exact}, grids_in_order(grids));
}

TEST(MachineLaws, GridsOfAStreamFollowOneAnotherAndTakeAsLongAsAlone) {
  const Execution both = on_gpu({grid_of(300), grid_of(77)});
  const Execution one = on_gpu({grid_of(300)});
  const Execution two = on_gpu({grid_of(77)});
  EXPECT_EQ(both.end, one.end + two.end);
  const auto& entries = both.cores.front().entries[kGridStream];
  EXPECT_EQ(entries[1].begin, entries[0].end);
  EXPECT_EQ(entries[1].cause.queue, static_cast<std::int32_t>(kGridStream));
}

TEST(MachineLaws, EqualWorkThatIsRepeatedTakesWhatItTakesExecuted) {
  std::vector<Grid> grids;
  for (int layer = 0; layer < 10; ++layer) grids.insert(grids.end(), {grid_of(300), grid_of(77)});
  const Execution known = on_gpu(grids);
  const Execution exact = on_gpu(grids, true);
  EXPECT_EQ(known.end, exact.end);
  EXPECT_LE(known.events, exact.events);  // a grid that is alone takes one event either way
  const Program loops = loops_in_order({loop_of(64, 8), loop_of(5, 2), loop_of(64, 8)});
  const CpuSystemSpec cpu = small_cpu();
  const Execution repeated = simulate(CpuMachine{cpu, false}, loops);
  const Execution executed = simulate(CpuMachine{cpu, true}, loops);
  EXPECT_EQ(repeated.end, executed.end);
  EXPECT_LT(repeated.events, executed.events);
}

// Kernels of 7 us in all on a host that needs 10 us to launch one: the host decides.
TEST(MachineLaws, AKernelWaitsForTheHostThatLaunchesIt) {
  ProgramBuilder builder("stream", gpu_streams(true));
  HostCall launch;
  launch.name = "launch";
  launch.time = 10.0_us;
  Grid grid = grid_of(60);
  grid.dram_bytes = Bytes(0);
  Deps before;
  for (int i = 0; i < 5; ++i) {
    before.merge(builder.emit_to(kGpuHost, launch, {}));
    before = emit_grid(builder, grid, before);
  }
  const Program program = std::move(builder).finish();
  const Execution execution = simulate(GpuMachine{exemplar_gpu()}, program);
  const ProgramExecution& ran = execution.cores.front();
  for (std::size_t i = 0; i < 5; ++i) {
    const EntryTimes& entry = ran.entries[kGridStream][i];
    EXPECT_EQ(entry.begin, static_cast<Ticks>(i + 1) * to_ticks(10.0_us));
    EXPECT_EQ(entry.cause.queue, static_cast<std::int32_t>(kGpuHost));
  }
  EXPECT_EQ(ran.busy[kGpuHost], to_ticks(50.0_us));
  EXPECT_EQ(ran.busy[kGridStream] + ran.stalled[kGridStream], execution.end);
}

TEST(MachineLaws, ModulesCountWhatTheEntriesOfAnOperatorSay) {
  ProgramBuilder builder("counted", gpu_streams(false));
  Grid grid = grid_of(100);
  grid.busy[WorkUnit::kTensorPipe] = 4.0_us;
  grid.moved = Bytes(3e6);
  for (int op = 0; op < 2; ++op) {
    builder.begin_operator("op");
    for (int i = 0; i <= op; ++i) emit_grid(builder, grid, {});
  }
  const Execution execution = simulate(GpuMachine{exemplar_gpu()}, std::move(builder).finish());
  const std::vector<OperatorActivity>& ops = execution.cores.front().operators;
  EXPECT_NEAR(ops[1].busy[WorkUnit::kTensorPipe].value(), 8e-6, 1e-18);
  EXPECT_EQ(ops[0].dram, Bytes(3e6));
  for (const ModuleActivity& module : execution.modules) {
    if (module.path == "gpu0.tensor") {
      EXPECT_NEAR(module.busy.value(), 12e-6, 1e-18);
    } else if (module.path == "gpu0.dram") {
      EXPECT_EQ(module.bytes, 9e6);
    }
  }
}

template <class Run>
std::string error_of(const Run& run) {
  try {
    run();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(MachineLaws, ProgramsThatCannotRunSayWhy) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "errors of elaboration cross a stack of SystemC that the sanitizer does not know";
#endif
  const GpuDeviceSpec gpu = exemplar_gpu();
  EXPECT_THAT(error_of([&] { simulate(GpuMachine{gpu}, loops_in_order({loop_of(4, 2)})); }),
              HasSubstr("holds loops, which a GPU does not run; it runs grids"));
  Program two = grids_in_order({grid_of(10)});
  two.streams.push_back({"more", std::vector<Collective>{}});
  EXPECT_THAT(error_of([&] { simulate(GpuMachine{gpu}, two); }),
              HasSubstr("has 2 streams of collectives"));
  Grid hasty = grid_of(10);
  hasty.early_launch = 2 * hasty.launch + Seconds(1e-6);
  EXPECT_THAT(error_of([&] { simulate(GpuMachine{gpu}, grids_in_order({hasty})); }),
              HasSubstr("more of its launch is early than there is"));
  // Two streams of grids that wait for one another.
  Program circle = grids_in_order({grid_of(10)});
  const auto second = static_cast<std::uint16_t>(circle.semaphores.size());
  circle.semaphores.insert(circle.semaphores.end(), {"to second", "to first"});
  const auto first = static_cast<std::uint16_t>(second + 1);
  Grid answer = grid_of(10);
  Grid& question = circle.entries<Grid>(kGridStream).front();
  question.first_wait = static_cast<std::uint32_t>(circle.waits.size());
  question.wait_count = 1;
  question.signal = second;
  circle.waits.push_back({first, 1});
  answer.first_wait = static_cast<std::uint32_t>(circle.waits.size());
  answer.wait_count = 1;
  answer.signal = first;
  circle.waits.push_back({second, 1});
  circle.streams.push_back({"more", std::vector<Grid>{answer}});
  const std::string both = error_of([&] { simulate(GpuMachine{gpu}, circle); });
  EXPECT_THAT(both, HasSubstr("kernels[0] grid waits for semaphore 'to first' to reach 1"));
  EXPECT_THAT(both, HasSubstr("more[0] grid waits for semaphore 'to second' to reach 1"));
  Program stuck = grids_in_order({grid_of(10)});
  stuck.waits.push_back({0, 7});
  stuck.entries<Grid>(kGridStream).front().wait_count = 1;
  EXPECT_THAT(error_of([&] { simulate(GpuMachine{gpu}, stuck); }),
              HasSubstr("kernels[0] grid waits for semaphore 'kernels' to reach 7; it is 0"));
  Grid rateless = grid_of(10);
  rateless.dram_rate = BytesPerSecond(0);
  EXPECT_THAT(error_of([&] { simulate(GpuMachine{gpu}, grids_in_order({rateless})); }),
              HasSubstr("kernels[0] grid: moves bytes of DRAM and states no rate"));
}

}  // namespace
}  // namespace foretell
