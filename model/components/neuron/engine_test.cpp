// Queues, ports and semaphores of a core, by programs of a few instructions.
#include "model/components/neuron/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "model/base/errors.hpp"
#include "model/components/shared/core_test_bench.hpp"

namespace foretell {
namespace {

using namespace literals;
const NeuronCoreSpec kCore = exemplar_inf2().device.core;
constexpr unsigned kSbuf = kReadsSbuf | kWritesSbuf;

Ticks lane_ticks(Engine engine, double cycles) {
  return ticks_of(cycles, engine == Engine::kVector ? kCore.vector.clock : kCore.scalar.clock);
}

Instruction copy(std::uint32_t n, unsigned flags = kSbuf) {
  return lane(Opcode::kTensorCopy, n, flags);
}

// --- One queue ---------------------------------------------------------------------------------

TEST(EngineQueue, NothingBeginsBeforeTheCall) {
  ProgramBuilder builder("call");
  builder.emit(Engine::kTensor, load_stationary(128), {});
  builder.emit(Engine::kTensor, multiply_moving(512), {});
  builder.emit(Engine::kVector, copy(64), {});
  builder.emit(Ring::kWeights, load(16, 4096), {});
  Bench bench;
  bench.call_overhead = 28.0_us;
  const BenchRun run = run_bench(std::move(builder).finish(), bench);
  const Ticks call = to_ticks(28.0_us);
  EXPECT_EQ(run.engine(Engine::kTensor)[0].begin, call);
  EXPECT_EQ(run.engine(Engine::kVector)[0].begin, call);
  EXPECT_EQ(run.ring(Ring::kWeights)[0].begin, call + to_ticks(kCore.dma.start_latency));
}

TEST(EngineQueue, RunsInOrderWithoutGaps) {
  ProgramBuilder builder("order");
  for (const std::uint32_t n : {64U, 512U, 100U}) builder.emit(Engine::kVector, copy(n), {});
  const BenchRun run = run_bench(std::move(builder).finish());
  const auto& vector = run.engine(Engine::kVector);
  const double overhead = kCore.vector.access_overhead.value();
  EXPECT_EQ(vector[0].begin, 0);
  EXPECT_EQ(duration(vector[0]), lane_ticks(Engine::kVector, 64 + overhead));
  EXPECT_EQ(vector[1].begin, vector[0].end);
  EXPECT_EQ(duration(vector[1]), lane_ticks(Engine::kVector, 512 + overhead));
  EXPECT_EQ(vector[2].begin, vector[1].end);
  EXPECT_EQ(run.busy(Engine::kVector), vector[2].end);
  EXPECT_EQ(run.stalled(Engine::kVector), 0);
}

TEST(EngineQueue, AReadyInstructionWaitsForABlockedOne) {
  ProgramBuilder builder("blocked");
  const Deps late = builder.emit(Engine::kScalar, lane(Opcode::kActivate, 4096, kSbuf), {});
  builder.emit(Engine::kVector, copy(64), late);
  builder.emit(Engine::kVector, copy(64), {});
  const BenchRun run = run_bench(std::move(builder).finish());
  const auto& vector = run.engine(Engine::kVector);
  EXPECT_EQ(vector[0].begin, run.engine(Engine::kScalar)[0].end);
  EXPECT_EQ(vector[1].begin, vector[0].end);
  EXPECT_EQ(run.stalled(Engine::kVector), run.engine(Engine::kScalar)[0].end);
}

TEST(EngineQueue, NeedingTheResultBeforeCostsAHundredCyclesInsteadOfSixty) {
  ProgramBuilder builder("dependent");
  const Deps first = builder.emit(Engine::kVector, copy(64), {});
  builder.emit(Engine::kVector, copy(64), first);
  builder.emit(Engine::kVector, copy(64), {});
  const BenchRun run = run_bench(std::move(builder).finish());
  const auto& vector = run.engine(Engine::kVector);
  EXPECT_EQ(duration(vector[0]), lane_ticks(Engine::kVector, 64 + 60));
  EXPECT_EQ(duration(vector[1]), lane_ticks(Engine::kVector, 64 + 100));
  EXPECT_EQ(duration(vector[2]), lane_ticks(Engine::kVector, 64 + 60));
}

TEST(EngineQueue, SlowerEnginesTakeProportionallyLonger) {
  ProgramBuilder builder("scaled");
  builder.emit(Engine::kVector, copy(512), {});
  builder.emit(Engine::kTensor, multiply_moving(512), {});
  Bench bench;
  bench.scaling.engine_time = 1.5;
  const BenchRun run = run_bench(std::move(builder).finish(), bench);
  EXPECT_EQ(duration(run.engine(Engine::kVector)[0]), lane_ticks(Engine::kVector, 1.5 * 572));
  EXPECT_EQ(duration(run.engine(Engine::kTensor)[0]), ticks_of(1.5 * 512, kCore.tensor.clock));
}

// --- Semaphores --------------------------------------------------------------------------------

TEST(Semaphores, ReachAnotherEngineAfterTheirLatency) {
  for (const Seconds latency : {0.0_ns, 50.0_ns}) {
    ProgramBuilder builder("latency");
    const Deps done = builder.emit(Engine::kScalar, lane(Opcode::kActivate, 512, kSbuf), {});
    builder.emit(Engine::kVector, copy(64), done);
    Bench bench;
    bench.scaling.semaphore_latency = to_ticks(latency);
    const BenchRun run = run_bench(std::move(builder).finish(), bench);
    EXPECT_EQ(run.engine(Engine::kVector)[0].begin,
              run.engine(Engine::kScalar)[0].end + to_ticks(latency));
  }
}

TEST(Semaphores, TheLastOfSeveralDecidesAndIsTheCause) {
  ProgramBuilder builder("several");
  Deps both = builder.emit(Engine::kScalar, lane(Opcode::kActivate, 100, kSbuf), {});
  both.merge(builder.emit(Engine::kTensor, multiply_moving(512), {}));
  builder.emit(Engine::kVector, copy(64), both);
  const BenchRun run = run_bench(std::move(builder).finish());
  const EntryTimes& scalar = run.engine(Engine::kScalar)[0];
  const EntryTimes& tensor = run.engine(Engine::kTensor)[0];
  const EntryTimes& vector = run.engine(Engine::kVector)[0];
  ASSERT_NE(scalar.end, tensor.end);
  EXPECT_EQ(vector.begin, std::max(scalar.end, tensor.end));
  const Engine later = scalar.end > tensor.end ? Engine::kScalar : Engine::kTensor;
  EXPECT_EQ(vector.cause.queue, static_cast<std::int32_t>(later));
}

TEST(Semaphores, SyncRelaysInNoTime) {
  ProgramBuilder builder("sync");
  const Deps done = builder.emit(Engine::kScalar, lane(Opcode::kActivate, 512, kSbuf), {});
  const Deps relayed = builder.emit(Engine::kSync, lane(Opcode::kSemaphoreOnly, 0), done);
  builder.emit(Engine::kVector, copy(64), relayed);
  const BenchRun run = run_bench(std::move(builder).finish());
  EXPECT_EQ(run.engine(Engine::kVector)[0].begin, run.engine(Engine::kScalar)[0].end);
}

TEST(Semaphores, ABlockedCoreSaysWhoWaitsForWhat) {
  Program program;
  program.name = "deadlock";
  program.semaphores = {"never", "once"};
  program.waits = {{0, 3}, {1, 1}};
  Instruction waiting = copy(64);
  waiting.wait_count = 1;
  Instruction signalling = lane(Opcode::kActivate, 64, kSbuf);
  signalling.signal = 1;
  Transfer transfer = load(16, 64);
  transfer.first_wait = 1;
  transfer.wait_count = 1;
  program.engine(Engine::kVector) = {copy(64), waiting};
  program.engine(Engine::kScalar) = {signalling};
  program.add_ring("weights", {transfer});
  const BenchRun run = run_bench(program);
  EXPECT_FALSE(run.finished);
  EXPECT_EQ(run.blocked,
            "\n  vector[1] tensor_copy waits for semaphore 'never' to reach 3; it is 0");
}

// --- Tensor engine -----------------------------------------------------------------------------

Ticks pe_ticks(double cycles) { return ticks_of(cycles, kCore.tensor.clock); }

// n times a LoadStationary of 128 columns and a MultiplyMoving.
BenchRun weights_and_matmuls(int n, const Instruction& multiply) {
  ProgramBuilder builder("matmuls");
  for (int i = 0; i < n; ++i) {
    builder.emit(Engine::kTensor, load_stationary(128), {});
    builder.emit(Engine::kTensor, multiply, {});
  }
  return run_bench(std::move(builder).finish());
}

TEST(TensorEngine, LoadsTheNextWeightsDuringTheRunningMatmul) {
  const BenchRun run = weights_and_matmuls(3, multiply_moving(512));
  const auto& tensor = run.engine(Engine::kTensor);
  EXPECT_EQ(tensor[1].begin, pe_ticks(32));  // nothing hides the first load
  EXPECT_EQ(tensor[2].begin, tensor[1].begin);
  EXPECT_EQ(tensor[3].begin, tensor[1].end);
  EXPECT_EQ(tensor[5].begin, tensor[3].end);
  EXPECT_EQ(run.busy(Engine::kTensor), 3 * pe_ticks(512));
}

TEST(TensorEngine, ALoadLongerThanTheMatmulIsExposed) {
  const BenchRun run = weights_and_matmuls(3, multiply_moving(8, 8));
  const auto& tensor = run.engine(Engine::kTensor);
  EXPECT_EQ(tensor[3].begin, tensor[1].begin + pe_ticks(32));
  EXPECT_EQ(tensor[5].begin, tensor[3].begin + pe_ticks(32));
}

TEST(TensorEngine, ShadowHoldsOneSetOfWeights) {
  // The third load waits until the second matmul has taken the second load's weights.
  const BenchRun run = weights_and_matmuls(3, multiply_moving(512));
  const auto& tensor = run.engine(Engine::kTensor);
  EXPECT_EQ(tensor[4].begin, tensor[3].begin);
  EXPECT_GT(tensor[4].begin, tensor[2].end);
}

TEST(TensorEngine, WeightsThatArriveLateHoldTheMatmulBack) {
  ProgramBuilder builder("late");
  const Deps late = builder.emit(Engine::kVector, copy(1024), {});
  builder.emit(Engine::kTensor, load_stationary(128), {});
  builder.emit(Engine::kTensor, multiply_moving(64), {});
  builder.emit(Engine::kTensor, load_stationary(128), late);
  builder.emit(Engine::kTensor, multiply_moving(64), {});
  const BenchRun run = run_bench(std::move(builder).finish());
  const auto& tensor = run.engine(Engine::kTensor);
  EXPECT_EQ(tensor[2].begin, run.engine(Engine::kVector)[0].end);
  EXPECT_EQ(tensor[3].begin, tensor[2].end);
}

TEST(TensorEngine, Fp32TakesFourTimesAsLongAndItsWeightsToo) {
  ProgramBuilder builder("fp32");
  builder.emit(Engine::kTensor, load_stationary(128, ElementType::kFp32), {});
  builder.emit(Engine::kTensor, multiply_moving(512, 128, ElementType::kFp32), {});
  const BenchRun run = run_bench(std::move(builder).finish());
  EXPECT_EQ(duration(run.engine(Engine::kTensor)[0]), pe_ticks(128));
  EXPECT_EQ(duration(run.engine(Engine::kTensor)[1]), pe_ticks(2048));
}

TEST(TensorEngine, SustainedEfficiencyStretchesMatmuls) {
  ProgramBuilder builder("sustained");
  builder.emit(Engine::kTensor, multiply_moving(512), {});
  Bench bench;
  bench.device.core.tensor.sustained_efficiency = 0.5;
  const BenchRun run = run_bench(std::move(builder).finish(), bench);
  EXPECT_EQ(duration(run.engine(Engine::kTensor)[0]), pe_ticks(1024));
}

TEST(TensorEngine, RefusesATypeItDoesNotMultiply) {
  ProgramBuilder builder("int32");
  builder.emit(Engine::kTensor, multiply_moving(512, 128, ElementType::kInt32), {});
  const Program program = std::move(builder).finish();
  try {
    run_bench(program);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "tensor[0] multiply_moving: the tensor engine does not multiply int32; it has "
                 "bf16, fp16, fp32, fp8, int8, tf32");
  }
}

TEST(TensorEngine, ASemaphoreOnlyEntryLeavesTheWeightsAlone) {
  ProgramBuilder builder("relay");
  builder.emit(Engine::kTensor, multiply_moving(512), {});
  builder.emit(Engine::kTensor, load_stationary(128), {});
  builder.emit(Engine::kTensor, lane(Opcode::kSemaphoreOnly, 0), {});
  builder.emit(Engine::kTensor, multiply_moving(512), {});
  const BenchRun run = run_bench(std::move(builder).finish());
  const auto& tensor = run.engine(Engine::kTensor);
  EXPECT_EQ(tensor[2].begin, tensor[0].end);
  EXPECT_EQ(tensor[3].begin, tensor[0].end);
}

Instruction in_tile(std::uint16_t mask) {
  Instruction i = multiply_moving(256, 64);
  i.tile = mask;
  return i;
}

BenchRun two_tiles(std::uint16_t first, std::uint16_t second) {
  ProgramBuilder builder("tiles");
  builder.emit(Engine::kTensor, in_tile(first), {});
  builder.emit(Engine::kTensor, in_tile(second), {});
  return run_bench(std::move(builder).finish());
}

TEST(TensorEngine, DisjointTilesRunInParallelAndCountOnce) {
  const BenchRun run = two_tiles(0x0033, 0xCC00);
  const auto& tensor = run.engine(Engine::kTensor);
  EXPECT_EQ(tensor[1].begin, tensor[0].begin);
  EXPECT_EQ(run.busy(Engine::kTensor), pe_ticks(256));
}

TEST(TensorEngine, TilesThatShareAQuadrantDoNot) {
  constexpr std::array<std::uint16_t, 5> kTouching = {0x0033, 0x0066, 0x0330, 0xFFFF, 0};
  for (const std::uint16_t second : kTouching) {
    const BenchRun run = two_tiles(0x0033, second);
    const auto& tensor = run.engine(Engine::kTensor);
    EXPECT_EQ(tensor[1].begin, tensor[0].end) << second;
    EXPECT_EQ(run.busy(Engine::kTensor), 2 * pe_ticks(256)) << second;
  }
}

TEST(TensorEngine, ATileDoesNotOvertakeTheOneBeforeIt) {
  ProgramBuilder builder("overtake");
  builder.emit(Engine::kTensor, in_tile(0x0033), {});
  builder.emit(Engine::kTensor, in_tile(0x0033), {});
  builder.emit(Engine::kTensor, in_tile(0xCC00), {});
  const BenchRun run = run_bench(std::move(builder).finish());
  const auto& tensor = run.engine(Engine::kTensor);
  EXPECT_EQ(tensor[2].begin, tensor[1].begin);
}

// --- Ports -------------------------------------------------------------------------------------

bool overlap(const EntryTimes& a, const EntryTimes& b) {
  return a.begin < b.end && b.begin < a.end;
}

struct PortCase {
  const char* name;
  Engine first;
  unsigned first_flags;
  Engine second;
  unsigned second_flags;
  bool shared;
};

BenchRun run_pair(const PortCase& c, const Bench& bench) {
  ProgramBuilder builder("port");
  builder.emit(c.first, copy(512, c.first_flags), {});
  builder.emit(c.second, copy(512, c.second_flags), {});
  return run_bench(std::move(builder).finish(), bench);
}

class Port : public ::testing::TestWithParam<PortCase> {};

TEST_P(Port, ServesOneEngineAtATime) {
  const PortCase& c = GetParam();
  const BenchRun run = run_pair(c, {});
  const EntryTimes& first = run.engine(c.first)[0];
  const EntryTimes& second = run.engine(c.second)[0];
  EXPECT_EQ(overlap(first, second), !c.shared);
  if (c.shared) {
    EXPECT_EQ(std::max(first.begin, second.begin), std::min(first.end, second.end));
    const Engine later = first.begin > second.begin ? c.first : c.second;
    EXPECT_EQ(run.stalled(later), std::min(first.end, second.end));
  }
}

TEST_P(Port, NeedsNoTurnsWhereTheEnginesAreApart) {
  const PortCase& c = GetParam();
  Bench bench;
  bench.device.core.access = {1, 1};
  const BenchRun run = run_pair(c, bench);
  EXPECT_TRUE(overlap(run.engine(c.first)[0], run.engine(c.second)[0]));
  bench.device.core.access = {1, 0};
  const bool on_psum = c.shared && c.second == Engine::kScalar;
  EXPECT_EQ(overlap(run_pair(c, bench).engine(c.first)[0], run_pair(c, bench).engine(c.second)[0]),
            !on_psum);
}

INSTANTIATE_TEST_SUITE_P(
    Pairs, Port,
    ::testing::Values(
        PortCase{"VectorAndScalarOnPsum", Engine::kVector, kReadsPsum | kWritesSbuf,
                 Engine::kScalar, kReadsPsum | kWritesSbuf, true},
        PortCase{"VectorReadsScalarWritesPsum", Engine::kVector, kReadsPsum | kWritesSbuf,
                 Engine::kScalar, kReadsSbuf | kWritesPsum, true},
        PortCase{"VectorAndScalarOnSbuf", Engine::kVector, kSbuf, Engine::kScalar, kSbuf, false},
        PortCase{"VectorOnPsumScalarOnSbuf", Engine::kVector, kReadsPsum | kWritesSbuf,
                 Engine::kScalar, kSbuf, false},
        PortCase{"VectorAndGpSimdOnSbuf", Engine::kVector, kSbuf, Engine::kGpSimd, kSbuf, true},
        PortCase{"VectorEvictsWhileGpSimdIsOnSbuf", Engine::kVector, kReadsPsum | kWritesSbuf,
                 Engine::kGpSimd, kSbuf, true},
        PortCase{"VectorWithinPsumGpSimdOnSbuf", Engine::kVector, kReadsPsum | kWritesPsum,
                 Engine::kGpSimd, kSbuf, false},
        PortCase{"ScalarAndGpSimdOnSbuf", Engine::kScalar, kSbuf, Engine::kGpSimd, kSbuf, false}),
    [](const auto& port) { return std::string(port.param.name); });

TEST(PortOrder, WhoAsksFirstGoesFirst) {
  // Scalar could go at once; Vector comes for the port when its first instruction has ended.
  ProgramBuilder builder("order");
  builder.emit(Engine::kVector, copy(64), {});
  builder.emit(Engine::kVector, copy(512, kReadsPsum), {});
  builder.emit(Engine::kScalar, copy(512, kReadsPsum), {});
  builder.emit(Engine::kScalar, copy(512, kReadsPsum), {});
  const BenchRun run = run_bench(std::move(builder).finish());
  const auto& vector = run.engine(Engine::kVector);
  const auto& scalar = run.engine(Engine::kScalar);
  EXPECT_EQ(scalar[0].begin, 0);
  for (const EntryTimes& s : scalar) EXPECT_FALSE(overlap(vector[1], s));
  EXPECT_EQ(run.busy(Engine::kVector) - duration(vector[0]) + run.busy(Engine::kScalar),
            std::max(vector[1].end, scalar[1].end));  // the port never idles
}

}  // namespace
}  // namespace foretell
