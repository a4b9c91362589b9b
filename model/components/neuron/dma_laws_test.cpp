// What holds for every stream of transfers: peak rate, contention, conservation.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "model/components/shared/core_test_bench.hpp"

namespace foretell {
namespace {

using namespace literals;

const NeuronDeviceSpec kDevice = exemplar_inf2().device;
const double kPeak = kDevice.core.dma.engine_rate.value() * kDevice.core.dma.engines;

// `count` transfers of 128 rows; the rate from the first begin to the last end.
struct Stream {
  double rate = 0;  // bytes per second of core 0
  BenchRun run;
};

Stream stream(int count, std::uint32_t row_bytes, const Bench& bench = {}) {
  ProgramBuilder builder("stream");
  for (int i = 0; i < count; ++i) builder.emit(Ring::kWeights, load(128, row_bytes), {});
  Stream result;
  result.run = run_bench(std::move(builder).finish(), bench);
  const auto& ring = result.run.ring(Ring::kWeights);
  const double bytes = 128.0 * row_bytes * count;
  result.rate = bytes / to_seconds(ring.back().end - ring.front().begin).value();
  return result;
}

TEST(DmaLaws, ALongStreamReachesThePeakAndNeverBeatsIt) {
  EXPECT_GT(stream(64, 65536).rate, 0.995 * kPeak);
  for (const std::uint32_t row : {1U, 64U, 512U, 2345U, 2346U, 2347U, 4096U, 65536U, 1048576U}) {
    EXPECT_LE(stream(4, row).rate, kPeak) << row;
  }
}

TEST(DmaLaws, LongerRowsAreNeverLessEfficient) {
  double last = 0;
  for (std::uint32_t row = 32; row <= (1U << 20U); row *= 2) {
    const double rate = stream(4, row).rate;
    EXPECT_GE(rate, last * (1 - 1e-12)) << row;
    last = rate;
  }
}

TEST(DmaLaws, MoreBytesAreNeverFaster) {
  Ticks last = 0;
  for (std::uint32_t row = 2000; row < 3000; row += 50) {
    const Ticks end = stream(2, row).run.cores[0].end;
    EXPECT_GE(end, last) << row;
    last = end;
  }
}

TEST(DmaLaws, MoreOrFasterEnginesAreNeverSlower) {
  std::mt19937 random(11);
  ProgramBuilder builder("mixed");
  for (int i = 0; i < 200; ++i) {
    const auto rows = static_cast<std::uint32_t>(1 + random() % 128);
    const auto bytes = static_cast<std::uint32_t>(1 + random() % 20000);
    builder.emit(random() % 2 == 0 ? Ring::kWeights : Ring::kInputs, load(rows, bytes), {});
  }
  const Program program = std::move(builder).finish();
  Ticks last = 0;
  for (const int engines : {32, 16, 8, 4, 1}) {
    Bench bench;
    bench.device.core.dma.engines = engines;
    const Ticks end = run_bench(program, bench).cores[0].end;
    EXPECT_GE(end, last) << engines;
    last = end;
  }
  last = 0;
  for (const double rate : {40e9, 17e9, 10e9}) {
    Bench bench;
    bench.device.core.dma.engine_rate = BytesPerSecond(rate);
    const Ticks end = run_bench(program, bench).cores[0].end;
    EXPECT_GE(end, last) << rate;
    last = end;
  }
}

// --- Two cores on one HBM ------------------------------------------------------------------------

Bench two_cores(BytesPerSecond hbm) {
  Bench bench;
  bench.cores = 2;
  bench.device.hbm.bandwidth = hbm;
  return bench;
}

TEST(DmaLaws, TwoCoresDoNotDisturbEachOtherWhileTheHbmHasRoom) {
  // 2 x 272 GB/s of DMA against 820 GB/s of HBM.
  const Stream alone = stream(64, 65536);
  const Stream both = stream(64, 65536, two_cores(kDevice.hbm.bandwidth));
  EXPECT_NEAR(both.rate / alone.rate, 1, 1e-3);
}

TEST(DmaLaws, TwoCoresHalveTheBandwidthWhereTheHbmIsTheLimit) {
  Bench one;
  one.device.hbm.bandwidth = 200.0_GBps;
  const Stream alone = stream(64, 65536, one);
  const Stream both = stream(64, 65536, two_cores(200.0_GBps));
  EXPECT_NEAR(alone.rate, 200e9, 200e9 * 1e-6);
  EXPECT_NEAR(both.rate, 100e9, 100e9 * 0.02);
  const Ticks end = std::max(both.run.cores[0].end, both.run.cores[1].end);
  const Ticks begin = both.run.ring(Ring::kWeights).front().begin;
  EXPECT_EQ(both.run.hbm_busy, end - begin);  // it never idles
}

TEST(DmaLaws, TogetherTheCoresNeverBeatTheHbm) {
  for (const double gbps : {100.0, 300.0, 500.0, 544.0, 600.0}) {
    const Stream both = stream(16, 65536, two_cores(BytesPerSecond(gbps * 1e9)));
    const Ticks end = std::max(both.run.cores[0].end, both.run.cores[1].end);
    const Ticks begin = both.run.ring(Ring::kWeights).front().begin;
    const double rate = static_cast<double>(both.run.hbm_read) / to_seconds(end - begin).value();
    EXPECT_LE(rate, std::min(gbps * 1e9, 2 * kPeak) * (1 + 1e-9)) << gbps;
    EXPECT_LE(both.run.hbm_busy, end - begin) << gbps;
  }
}

TEST(DmaLaws, BytesIntoTheCoresAreBytesOutOfTheHbm) {
  std::mt19937 random(3);
  ProgramBuilder builder("random");
  for (int i = 0; i < 100; ++i) {
    const auto rows = static_cast<std::uint32_t>(1 + random() % 200);
    const auto bytes = static_cast<std::uint32_t>(1 + random() % 9000);
    if (random() % 3 == 0) {
      builder.emit(Ring::kOutputs, store(rows, bytes), {});
    } else {
      builder.emit(Ring::kWeights, load(rows, bytes), {});
    }
  }
  const Program program = std::move(builder).finish();
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  for (const Transfer& t : program.transfers()) {
    (t.direction == TransferDirection::kLoad ? loads : stores) += t.bytes();
  }
  const BenchRun run = run_bench(program, two_cores(300.0_GBps));
  for (const ProgramExecution& core : run.cores) {
    EXPECT_EQ(core.loaded_bytes, loads);
    EXPECT_EQ(core.stored_bytes, stores);
  }
  EXPECT_EQ(run.hbm_read, 2 * loads);
  EXPECT_EQ(run.hbm_written, 2 * stores);
}

}  // namespace
}  // namespace foretell
