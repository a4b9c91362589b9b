// The DMA engines of a core: how transfers are spread, ordered and delayed, and what passes the
// memory.
#include "model/components/neuron/dma.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/components/shared/core_test_bench.hpp"
#include "model/timing/neuron/neuron_timing.hpp"

namespace foretell {
namespace {

using namespace literals;

const DmaSpec kDma = exemplar_inf2().device.core.dma;
const Ticks kStart = to_ticks(kDma.start_latency);

Ticks descriptor_ticks(double bytes) { return to_ticks(descriptor_time(kDma, Bytes(bytes), 1)); }

// All transfers on one ring, none waiting for anything.
Program one_ring(const std::vector<Transfer>& transfers) {
  ProgramBuilder builder("ring");
  for (const Transfer& t : transfers) builder.emit(Ring::kWeights, t, {});
  return std::move(builder).finish();
}

std::vector<EntryTimes> executed(const std::vector<Transfer>& transfers, const Bench& bench = {}) {
  return run_bench(one_ring(transfers), bench).ring(Ring::kWeights);
}

TEST(DmaEngines, OneDescriptorBelowAndAboveTheFloor) {
  EXPECT_EQ(duration(executed({load(1, 64)})[0]), to_ticks(146.0_ns));
  EXPECT_EQ(duration(executed({load(1, 2346)})[0]), to_ticks(146.0_ns));
  EXPECT_EQ(duration(executed({load(1, 4096)})[0]), descriptor_ticks(4096));
  EXPECT_GT(descriptor_ticks(4096), to_ticks(146.0_ns));
}

TEST(DmaEngines, SixteenEnginesShareTheRows) {
  const Ticks each = descriptor_ticks(4096);
  EXPECT_EQ(duration(executed({load(15, 4096)})[0]), each);
  EXPECT_EQ(duration(executed({load(16, 4096)})[0]), each);
  EXPECT_EQ(duration(executed({load(17, 4096)})[0]), 2 * each);
  EXPECT_EQ(duration(executed({load(128, 4096)})[0]), 8 * each);
}

TEST(DmaEngines, TheStartLatencyDelaysAndDoesNotOccupy) {
  const std::vector<EntryTimes> ring = executed({load(128, 4096), load(128, 4096), load(16, 64)});
  EXPECT_EQ(ring[0].begin, kStart);
  EXPECT_EQ(ring[1].begin, ring[0].end);  // not another start latency later
  EXPECT_EQ(ring[2].begin, ring[1].end);
}

TEST(DmaEngines, TheStartLatencyCountsFromTheSemaphore) {
  ProgramBuilder builder("semaphore");
  const Deps done = builder.emit(Engine::kScalar, lane(Opcode::kActivate, 512, kReadsSbuf), {});
  builder.emit(Ring::kOutputs, store(16, 4096), done);
  Bench bench;
  bench.scaling.semaphore_latency = to_ticks(50.0_ns);
  const BenchRun run = run_bench(std::move(builder).finish(), bench);
  EXPECT_EQ(run.ring(Ring::kOutputs)[0].begin,
            run.engine(Engine::kScalar)[0].end + to_ticks(50.0_ns) + kStart);
}

TEST(DmaEngines, SmallTransfersRunBesideEachOther) {
  // 4 + 4 + 8 rows occupy all engines; the next row has to wait for the first engine to be free.
  const std::vector<EntryTimes> ring =
      executed({load(4, 8192), load(4, 8192), load(8, 4096), load(1, 4096), load(8, 4096)});
  EXPECT_EQ(ring[0].begin, kStart);
  EXPECT_EQ(ring[1].begin, kStart);
  EXPECT_EQ(ring[2].begin, kStart);
  EXPECT_EQ(ring[3].begin, kStart + descriptor_ticks(4096));
  EXPECT_EQ(ring[4].begin, ring[3].begin);  // seven engines are free, the eighth row waits
  EXPECT_GT(ring[4].end, ring[3].end);
}

TEST(DmaEngines, ARingCompletesInOrder) {
  const std::vector<EntryTimes> ring = executed({load(1, 65536), load(1, 64)});
  EXPECT_EQ(ring[1].begin, ring[0].begin);
  EXPECT_EQ(ring[1].end, ring[0].end);
}

TEST(DmaEngines, RingsDoNotWaitForEachOther) {
  ProgramBuilder builder("rings");
  builder.emit(Ring::kWeights, load(1, 65536), {});
  builder.emit(Ring::kInputs, load(1, 64), {});
  const BenchRun run = run_bench(std::move(builder).finish());
  EXPECT_LT(run.ring(Ring::kInputs)[0].end, run.ring(Ring::kWeights)[0].end);
}

TEST(DmaEngines, RingsWithTransfersReadyTakeTurns) {
  ProgramBuilder builder("turns");
  for (int i = 0; i < 8; ++i) builder.emit(Ring::kWeights, load(128, 4096), {});
  for (int i = 0; i < 3; ++i) builder.emit(Ring::kInputs, load(128, 4096), {});
  const BenchRun run = run_bench(std::move(builder).finish());
  const auto& weights = run.ring(Ring::kWeights);
  const auto& inputs = run.ring(Ring::kInputs);
  const Ticks each = 8 * descriptor_ticks(4096);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(weights[i].begin, kStart + static_cast<Ticks>(2 * i) * each);
    EXPECT_EQ(inputs[i].begin, weights[i].end);
  }
  for (std::size_t i = 4; i < 8; ++i) EXPECT_EQ(weights[i].begin, weights[i - 1].end);
}

TEST(DmaEngines, ARingThatBecomesReadyLateDoesNotGetTheTurnsItMissed) {
  ProgramBuilder builder("late");
  for (int i = 0; i < 6; ++i) builder.emit(Ring::kWeights, load(128, 4096), {});
  const Deps late = builder.emit(Engine::kVector, lane(Opcode::kTensorCopy, 4096, kReadsSbuf), {});
  for (int i = 0; i < 3; ++i) builder.emit(Ring::kInputs, load(128, 4096), late);
  const BenchRun run = run_bench(std::move(builder).finish());
  const auto& weights = run.ring(Ring::kWeights);
  const auto& inputs = run.ring(Ring::kInputs);
  ASSERT_GT(inputs[0].begin, weights[1].begin);
  ASSERT_LT(inputs[0].begin, weights[4].begin);
  EXPECT_GT(weights[5].begin, inputs[0].end);
  EXPECT_GT(inputs[1].begin, inputs[0].end);  // a transfer of weights in between
}

TEST(DmaEngines, AConsumerBeginsWhenItsTransferHasEnded) {
  ProgramBuilder builder("consumer");
  builder.emit(Ring::kWeights, load(128, 4096), {});
  const Deps loaded = builder.emit(Ring::kWeights, load(128, 4096), {});
  builder.emit(Ring::kWeights, load(128, 4096), {});
  builder.emit(Engine::kVector, lane(Opcode::kTensorCopy, 64, kReadsSbuf), loaded);
  const BenchRun run = run_bench(std::move(builder).finish());
  EXPECT_EQ(run.engine(Engine::kVector)[0].begin, run.ring(Ring::kWeights)[1].end);
}

TEST(DmaEngines, BusyTimeIsTheShareOfTheEngines) {
  const BenchRun all = run_bench(one_ring({load(16, 4096)}));
  EXPECT_EQ(all.cores[0].dma_busy, descriptor_ticks(4096));
  const BenchRun quarter = run_bench(one_ring({load(4, 4096)}));
  EXPECT_EQ(quarter.cores[0].dma_busy, descriptor_ticks(4096) / 4);
}

TEST(DmaEngines, OnChipTransfersDoNotTouchTheHbm) {
  const BenchRun run = run_bench(one_ring({transfer(TransferDirection::kOnChip, 128, 4096)}));
  EXPECT_EQ(duration(run.ring(Ring::kWeights)[0]), 8 * descriptor_ticks(4096));
  EXPECT_EQ(run.hbm_read + run.hbm_written, 0U);
  EXPECT_EQ(run.cores[0].loaded_bytes + run.cores[0].stored_bytes, 0U);
}

// --- HBM ---------------------------------------------------------------------------------------

Bench with_hbm(BytesPerSecond bandwidth, Seconds latency = Seconds(0)) {
  Bench bench;
  bench.device.hbm.bandwidth = bandwidth;
  bench.device.hbm.latency = latency;
  return bench;
}

TEST(Hbm, ASlowOneDecidesAndAFastOneDoesNot) {
  const double bytes = 128 * 4096;
  EXPECT_EQ(duration(executed({load(128, 4096)}, with_hbm(820.0_GBps))[0]),
            8 * descriptor_ticks(4096));
  EXPECT_EQ(duration(executed({load(128, 4096)}, with_hbm(100.0_GBps))[0]),
            to_ticks(Bytes(bytes) / 100.0_GBps));
}

TEST(Hbm, ItsLatencyCountsWhereTheMemoryIsTheSlowerOne) {
  const Ticks bare = duration(executed({load(128, 4096)}, with_hbm(100.0_GBps))[0]);
  EXPECT_EQ(duration(executed({load(128, 4096)}, with_hbm(100.0_GBps, 200.0_ns))[0]),
            bare + to_ticks(200.0_ns));
}

TEST(Hbm, CountsWhatPassesIt) {
  ProgramBuilder builder("count");
  builder.emit(Ring::kWeights, load(128, 4096), {});
  builder.emit(Ring::kOutputs, store(100, 300), {});
  const BenchRun run = run_bench(std::move(builder).finish());
  EXPECT_EQ(run.hbm_read, 128U * 4096U);
  EXPECT_EQ(run.hbm_written, 100U * 300U);
  EXPECT_EQ(run.cores[0].loaded_bytes, run.hbm_read);
  EXPECT_EQ(run.cores[0].stored_bytes, run.hbm_written);
}

TEST(Hbm, ATransferBeyond32BitsKeepsItsLength) {
  const Transfer huge = load(5000, 1000000);  // 5 GB
  const BenchRun run = run_bench(one_ring({huge}), with_hbm(100.0_GBps));
  EXPECT_EQ(run.hbm_read, huge.bytes());
  EXPECT_NEAR(to_seconds(duration(run.ring(Ring::kWeights)[0])).value(), 0.05, 1e-6);
}

// --- Another memory in place of the HBM ----------------------------------------------------------

// A foreign target: every access takes the same time, and it looks at what it
// is given.
class FixedLatencyMemory : public sc_core::sc_module {
 public:
  explicit FixedLatencyMemory(const sc_core::sc_module_name& name, Ticks latency)
      : sc_module(name), socket("socket"), latency_(latency) {
    socket.register_b_transport(this, &FixedLatencyMemory::b_transport);
  }

  tlm_utils::simple_target_socket<FixedLatencyMemory> socket;
  std::vector<std::uint64_t> addresses;
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  bool well_formed = true;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    addresses.push_back(payload.get_address());
    well_formed = well_formed && payload.get_data_ptr() != nullptr &&
                  payload.get_streaming_width() == payload.get_data_length() &&
                  payload.get_byte_enable_ptr() == nullptr;
    (payload.is_read() ? read : written) += payload.get_data_length();
    if (payload.is_read()) payload.get_data_ptr()[payload.get_data_length() - 1] = 0xA5;
    delay += to_sc_time(latency_);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  Ticks latency_;
};

struct OwnMemoryRun {
  std::vector<EntryTimes> ring;
  std::vector<std::uint64_t> addresses;
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  bool well_formed = false;
};

OwnMemoryRun run_on_own_memory(const Program& program, Ticks latency) {
  const NeuronCoreSpec spec = exemplar_inf2().device.core;
  SimulationContext context;
  NeuronCore core("core", spec, {}, program, {});
  FixedLatencyMemory memory("memory", latency);
  core.dma().hbm.bind(memory.socket);
  core.start();
  context.run();
  EXPECT_TRUE(core.finished());
  return {core.execution().entries[kEngineCount], memory.addresses, memory.read, memory.written,
          memory.well_formed};
}

TEST(Tlm, AnotherMemoryTakesTheHbmsPlace) {
  Transfer in = load(16, 4096);
  in.hbm_address = 0x1000;
  Transfer out = store(16, 2048);
  out.hbm_address = 0x9000;
  const OwnMemoryRun run = run_on_own_memory(one_ring({in, out}), to_ticks(10.0_us));
  EXPECT_TRUE(run.well_formed);
  EXPECT_THAT(run.addresses, ::testing::ElementsAre(0x1000, 0x9000));
  EXPECT_EQ(run.read, 16U * 4096U);
  EXPECT_EQ(run.written, 16U * 2048U);
  EXPECT_EQ(duration(run.ring[0]), to_ticks(10.0_us));
  EXPECT_EQ(run.ring[1].begin, run.ring[0].end);
  EXPECT_EQ(duration(run.ring[1]), to_ticks(10.0_us));
}

TEST(Tlm, AMemoryFasterThanTheEnginesDoesNotShow) {
  const OwnMemoryRun run = run_on_own_memory(one_ring({load(16, 4096)}), to_ticks(1.0_ns));
  EXPECT_EQ(duration(run.ring[0]), descriptor_ticks(4096));
}

}  // namespace
}  // namespace foretell
