// Products whose thread blocks share the stages of all tiles: laws, and that simulated kernels
// agree with the formula.
#include <gtest/gtest.h>

#include <cmath>

#include "model/mapping/gpu/gemm.hpp"
#include "model/testing/gpu_exemplar.hpp"
#include "model/timing/gpu/attention_timing.hpp"
#include "model/timing/gpu/gemm_timing.hpp"

namespace foretell {
namespace {

// 100 SMs, one tile, nothing but the loop over k unless a test says so.
class StreamKGemm : public ::testing::Test {
 protected:
  StreamKGemm() : gpu_(exemplar_gpu()), factors_(exemplar_gemm_factors()) {
    library_.tiles = {{128, 128}};
    library_.max_split = 1;
    factors_.l2_feed = BytesPerCycle(1e4);  // memory is no matter here
    factors_.dram_efficiency = 2;
    factors_.l2_share = 2;
    gpu_.l2.capacity = Bytes(1e12);
  }

  GemmTimes time(const GemmShape& shape, double fixup) {
    factors_.fixup = Cycles(fixup);
    return GemmTiming(gpu_, gemm_type("bf16"), library_, factors_).fastest(shape, {});
  }
  // `tiles` in a row, of `stages` stages.
  static GemmShape shape_of(std::int64_t tiles, std::int64_t stages) {
    return {128, 128 * tiles, 64 * stages};
  }

  GpuDeviceSpec gpu_;
  GemmFactors factors_;
  GemmLibrary library_;
};

// The same of a product after a quantising pass with a thread block for each row.
TEST_F(StreamKGemm, ThePassOverTheActivationsSimulatesAsItsFormulaSays) {
  factors_.quantise_launch = Seconds(2e-6);
  factors_.quantise_passes = 1.5;
  factors_.quantise_row = Cycles(1000);
  factors_.dram_efficiency = 0.8;
  const GemmTiming timing(gpu_, gemm_type("fp8"), library_, factors_);
  for (const GemmShape& shape : {GemmShape{1, 128, 128}, {1000, 128, 64}, {30000, 256, 8192}}) {
    const GemmTimes times = timing.fastest(shape, {});
    const Seconds simulated = program_time(gemm_program(timing, shape, times), gpu_);
    EXPECT_NEAR(simulated / times.total, 1, 1e-9) << shape.m;
  }
}

TEST_F(StreamKGemm, OneTileMoreThanAWaveCostsHardlyMore) {
  const GemmTimes wave = time(shape_of(100, 1000), 1000);
  const GemmTimes alone = time(shape_of(101, 1000), 0);
  const GemmTimes shared = time(shape_of(101, 1000), 1000);
  EXPECT_FALSE(alone.stream_k);
  EXPECT_TRUE(shared.stream_k);
  EXPECT_NEAR(alone.compute / wave.compute, 2, 0.01);
  EXPECT_LT(shared.compute / wave.compute, 1.03);
}

TEST_F(StreamKGemm, TheTimeApproachesAllStagesOverAllSms) {
  const double stage = 2.0 * 128 * 128 * 64 / 0.8e12;
  double before = 2;
  for (const std::int64_t stages : {100, 1000, 10000}) {
    const GemmTimes times = time(shape_of(130, stages), 1000);
    ASSERT_TRUE(times.stream_k);
    const double ideal = 130.0 * static_cast<double>(stages) / 100 * stage;
    const double above = times.compute.value() / ideal;
    EXPECT_GE(above, 1);
    EXPECT_LT(above, before);
    before = above;
  }
  EXPECT_LT(before, 1.005);
}

TEST_F(StreamKGemm, WhereTilesDivideEvenlyItIsDataParallel) {
  for (const std::int64_t tiles : {100, 300}) {
    const GemmTimes times = time(shape_of(tiles, 50), 1);
    EXPECT_FALSE(times.stream_k);
    EXPECT_EQ(times.total, time(shape_of(tiles, 50), 0).total);
  }
}

TEST_F(StreamKGemm, ALibraryThatHasItIsNeverSlower) {
  for (const std::int64_t tiles : {1, 7, 99, 101, 150, 199, 250, 1001}) {
    for (const std::int64_t stages : {1, 9, 200}) {
      for (const double fixup : {100.0, 3000.0, 1e6}) {
        EXPECT_LE(time(shape_of(tiles, stages), fixup).total,
                  time(shape_of(tiles, stages), 0).total)
            << tiles << ' ' << stages << ' ' << fixup;
      }
    }
  }
}

// A thread block has at most two pieces of shared tiles more than a wave of whole tiles has, hands
// one over and takes over those of one tile.
TEST_F(StreamKGemm, EvenWhereItIsTakenForNothingOnlyTheFixUpIsLost) {
  factors_.fixup = Cycles(1000);
  const GemmTiming timing(gpu_, gemm_type("bf16"), library_, factors_);
  const double partial = 128 * 128 * 4 / 32e9;
  for (const std::int64_t tiles : {101, 130, 150, 199, 250, 1001}) {
    const GemmShape shape = shape_of(tiles, 64);
    GemmTimes chosen;
    chosen.tile = {128, 128};
    chosen.stream_k = true;
    chosen.thread_blocks = 100;
    factors_.fixup = Cycles(0);
    const Seconds whole = time(shape, 0).compute;
    for (std::int64_t block = 0; block < 100; ++block) {
      EXPECT_LE(timing.stream_k_block(shape, chosen, block).value(),
                whole.value() + 2 * 0.5e-6 + 2 * partial + 1e-6)
          << tiles << ' ' << block;
    }
  }
}

TEST_F(StreamKGemm, ThreadBlocksAsScheduledTakeWhatTheFormulaSays) {
  factors_.fixup = Cycles(500);
  library_.tiles = {{128, 128}, {64, 128}};
  const GemmTiming timing(gpu_, gemm_type("bf16"), library_, factors_);
  int shared = 0;
  for (const std::int64_t tiles : {3, 101, 150, 777}) {
    for (const std::int64_t stages : {40, 500}) {
      const GemmShape shape = shape_of(tiles, stages);
      const GemmTimes times = timing.fastest(shape, {});
      shared += times.stream_k ? 1 : 0;
      EXPECT_NEAR(program_time(gemm_program(timing, shape, times), gpu_) / times.total, 1, 1e-6);
    }
  }
  EXPECT_GT(shared, 4);
}

TEST_F(StreamKGemm, ADearerFixUpIsNeverFaster) {
  const GemmShape shape = shape_of(130, 100);
  Seconds before(0);
  for (const double fixup : {1.0, 100.0, 1e4, 1e6}) {
    const Seconds total = time(shape, fixup).total;
    EXPECT_GE(total, before);
    before = total;
  }
}

// The end of a tile hides under the loop of the next one.
TEST(PersistentGemm, ThreadBlocksAsScheduledTakeWhatTheFormulaSays) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  GemmLibrary library;
  library.tiles = {{128, 128}};
  library.max_split = 1;
  const GemmTiming apart(gpu, gemm_type("bf16"), library, exemplar_gemm_factors());
  GemmLibrary hiding = library;
  hiding.persistent = true;
  const GemmTiming timing(gpu, gemm_type("bf16"), hiding, exemplar_gemm_factors());
  for (const std::int64_t tiles : {1, 100, 250, 1000}) {
    const GemmShape shape{128, 128 * tiles, 640};
    const GemmTimes times = timing.fastest(shape, {});
    EXPECT_NEAR(program_time(gemm_program(timing, shape, times), gpu) / times.total, 1, 1e-6);
    const Seconds without = apart.fastest(shape, {}).compute;
    if (tiles <= 100) {
      EXPECT_EQ(times.compute, without);
    } else {
      EXPECT_LT(times.compute, without);
    }
  }
}

TEST(GemvKernel, AsScheduledTakesWhatTheFormulaSays) {
  GpuDeviceSpec gpu = exemplar_gpu();
  gpu.vector_rate = {{"fp32", 10e12}};
  GemmLibrary library;
  library.tiles = {{128, 128}};
  library.gemv_rows = 8;
  GemmFactors factors = exemplar_gemm_factors();
  factors.gemv_launch = Seconds(3e-6);
  factors.gemv_step = Cycles(0.5);
  factors.gemv_efficiency = 0.5;
  factors.gemv_column = Cycles(40);
  const GemmTiming timing(gpu, gemm_type("bf16"), library, factors);
  for (const std::int64_t m : {1, 8}) {
    const GemmShape shape{m, 4096, 2048};
    const GemmTimes times = timing.fastest(shape, {20, false});
    ASSERT_TRUE(times.gemv);
    EXPECT_NEAR(program_time(gemm_program(timing, shape, times), gpu) / times.total, 1, 1e-6);
  }
}

}  // namespace
}  // namespace foretell
