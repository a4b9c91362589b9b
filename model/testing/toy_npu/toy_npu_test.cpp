// The machine of the toy: running it, deadlocks, times, critical path and timeline are those of all
// machines.
#include "model/testing/toy_npu/components/toy_npu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "model/base/errors.hpp"
#include "model/system/critical_path.hpp"
#include "model/system/testing/trace_check.hpp"
#include "model/system/trace.hpp"
#include "model/testing/toy_npu/mapping/map_to_toy.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

constexpr int kTiles = 10;

// Tiles of 64 kB that take 0.64 us to load, two at a time in the SRAM, and `columns` ns to
// multiply.
Program tiles(std::uint32_t columns) {
  ProgramBuilder builder = toy_builder("tiles");
  builder.begin_operator("product");
  emit_toy_tiles(builder, kTiles, Bytes(64000.0 * kTiles), std::uint64_t{columns} * kTiles);
  return std::move(builder).finish();
}

Execution run_toy(const Program& program) { return simulate_toy(ToyNpuSpec{}, program); }

TEST(ToyNpu, LoadsAndProductsOverlapAndTheSlowerOfThemIsCritical) {
  for (const std::uint32_t columns : {400U, 3000U}) {
    const Program program = tiles(columns);
    const Execution execution = run_toy(program);
    const double load = 0.64e-6;
    const double multiply = columns * 1e-9;
    const double expected = load + multiply + (kTiles - 1) * std::max(load, multiply);
    EXPECT_NEAR(to_seconds(execution.end).value(), expected, 1e-12) << columns;
    const CriticalPath path = critical_path(program, execution.cores.front());
    EXPECT_EQ(to_string(largest(path.total)), multiply > load ? "tensor engine" : "dma");
    Ticks sum = 0;
    for (const Ticks time : path.total) sum += time;
    EXPECT_EQ(sum, execution.end);
  }
}

TEST(ToyNpu, ModulesAndTimelineShowIt) {
  const Program program = tiles(400);
  const Execution execution = run_toy(program);
  ASSERT_EQ(execution.modules.size(), 3U);
  EXPECT_EQ(execution.modules[0].path, "npu0.array");
  EXPECT_NEAR(execution.modules[0].busy.value(), kTiles * 400e-9, 1e-15);
  EXPECT_EQ(execution.modules[2].bytes, kTiles * 64e3);
  std::ostringstream out;
  const TraceDetails details;
  write_trace(out, {{"", program, execution, details}});
  const TraceCheck trace(out.str());
  EXPECT_THAT(trace.faults(), ::testing::IsEmpty());
  EXPECT_THAT(trace.threads(), ::testing::IsSupersetOf({"array", "dma dma"}));
}

// A NeuronCore runs more kinds of streams; this machine has no rows for theirs.
TEST(ToyNpu, AStreamThatItHasNoModuleForIsRefused) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "errors of elaboration cross a stack of SystemC that the sanitizer does not know";
#endif
  ProgramBuilder builder("calls", {{"host", std::vector<HostCall>{}}});
  HostCall call;
  call.time = Seconds(1e-6);
  builder.emit_to(0, call, {});
  const Program program = std::move(builder).finish();
  const std::string message = message_of<UserError>([&] { simulate_toy(ToyNpuSpec{}, program); });
  EXPECT_THAT(message, testing::HasSubstr("which a toy NPU does not run; it runs"));
}

}  // namespace
}  // namespace foretell
