#include "model/timing/gpu/gemm_timing.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "model/base/errors.hpp"
#include "model/testing/gpu_exemplar.hpp"
#include "model/timing/shared/closed_network.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

// One kind of tile and no split, so that every number can be worked out by hand.
GemmLibrary one_tile() {
  GemmLibrary library;
  library.tiles = {{128, 128}};
  library.max_split = 1;
  return library;
}

TEST(GemmTiming, TheLoopOverKIsBoundByTheMatrixPipe) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  const GemmLibrary library = one_tile();
  const GemmTiming timing(gpu, gemm_type("bf16"), library, exemplar_gemm_factors());
  const GemmTimes times = timing.fastest({1280, 1280, 6400}, {});
  EXPECT_EQ(times.thread_blocks, 100);
  EXPECT_EQ(times.waves, 1);
  // 100 stages of 2 x 128 x 128 x 64 FLOP at 1 TFLOP/s x 0.8 per SM, prologue of 500 cycles that
  // fills them all,
  // 128 x 128 x 2 bytes out at 32 B/cycle; 1 GHz.
  EXPECT_NEAR(times.compute.value(), 0.5e-6 + 100 * 2 * 128 * 128 * 64 / 0.8e12 + 1.024e-6, 1e-12);
}

TEST(GemmTiming, AStageIsNeverShorterThanThePipeline) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  GemmLibrary library = one_tile();
  library.tiles = {{16, 16}};
  const GemmTiming timing(gpu, gemm_type("bf16"), library, exemplar_gemm_factors());
  const GemmTimes times = timing.fastest({16, 16, 64 * 1000}, {});
  EXPECT_NEAR(times.compute.value(), 0.5e-6 + 1000 * 0.1e-6 + 16 * 16 * 2 / 32e9, 1e-12);
}

TEST(GemmTiming, WeightsThatStayInL2AreNotReadAgain) {
  const GpuDeviceSpec gpu = exemplar_gpu();  // 10 MB of L2
  const GemmLibrary library = one_tile();
  const GemmTiming timing(gpu, gemm_type("bf16"), library, exemplar_gemm_factors());
  const GemmShape shape{16, 1024, 1024};  // 2 MB of weights
  const double results = 16 * 1024 * 2;
  EXPECT_EQ(timing.fastest(shape, {1, false}).dram, Bytes(results));
  const Bytes rotated = timing.fastest(shape, {20, false}).dram;
  EXPECT_EQ(rotated, Bytes(results + 2.0 * 1024 * 1024));  // the activations stay
  EXPECT_GT(timing.fastest(shape, {20, false}).memory, timing.fastest(shape, {1, false}).memory);
}

TEST(GemmTiming, SplittingKFillsIdleSms) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  GemmLibrary library = one_tile();
  const GemmTiming alone(gpu, gemm_type("bf16"), library, exemplar_gemm_factors());
  const GemmTimes whole = alone.fastest({128, 128, 65536}, {});
  library.max_split = 8;
  const GemmTiming with_split(gpu, gemm_type("bf16"), library, exemplar_gemm_factors());
  const GemmTimes split = with_split.fastest({128, 128, 65536}, {});
  EXPECT_EQ(whole.split, 1);
  EXPECT_GT(split.split, 1);
  EXPECT_LT(split.total, whole.total);
}

TEST(GemmTiming, ALibraryThatDispatchesByRowsDoesSo) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  GemmLibrary library = one_tile();
  library.dispatch = {{64, {{64, 64}}}, {128, {{64, 128}}}, {1 << 20, {{128, 128}}}};
  const GemmTiming timing(gpu, gemm_type("bf16"), library, exemplar_gemm_factors());
  EXPECT_EQ(timing.fastest({64, 512, 512}, {}).tile.n, 64);
  EXPECT_EQ(timing.fastest({65, 512, 512}, {}).tile.m, 64);
  EXPECT_EQ(timing.fastest({128, 512, 512}, {}).tile.n, 128);
  EXPECT_EQ(timing.fastest({129, 512, 512}, {}).tile.m, 128);
}

TEST(GemmTiming, MoreOfAnythingIsNeverFaster) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  const GemmLibrary library = gemm_library("hopper", "trtllm", "bf16");
  const GemmTiming timing(gpu, gemm_type("bf16"), library, exemplar_gemm_factors());
  for (const std::int64_t m : {1, 16, 100, 128, 500, 2048}) {
    for (const std::int64_t n : {64, 1000, 4096}) {
      for (const std::int64_t k : {64, 1024, 8192}) {
        const Seconds time = timing.fastest({m, n, k}, {5, false}).total;
        EXPECT_GE(timing.fastest({m, n, 2 * k}, {5, false}).total, time) << m << " " << n;
        EXPECT_GE(timing.fastest({2 * m, n, k}, {5, false}).total, time) << m << " " << n;
      }
    }
  }
}

TEST(GemmTiming, QuantisedTypesPayForThePassOverTheActivations) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  const GemmLibrary library = one_tile();
  GemmFactors factors = exemplar_gemm_factors();
  factors.quantise_launch = Seconds(4e-6);
  factors.quantise_passes = 2;
  const GemmTiming timing(gpu, gemm_type("fp8"), library, factors);
  const GemmTimes times = timing.fastest({1024, 128, 4096}, {});
  EXPECT_NEAR(times.quantise.value(), 4e-6 + 1024.0 * 4096 * 3 * 2 / 0.8e12, 1e-12);
}

TEST(GemmTiming, APassWithAThreadBlockForEachRowCostsByTheRowUntilRowsAreLong) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  const GemmLibrary library = one_tile();
  GemmFactors factors = exemplar_gemm_factors();
  factors.quantise_passes = 1;
  factors.quantise_row = Cycles(1000);  // 1 us; 100 SMs
  const GemmTiming timing(gpu, gemm_type("fp8"), library, factors);
  const auto pass = [&](std::int64_t m, std::int64_t k) {
    return timing.fastest({m, 128, k}, {}).quantise.value();
  };
  EXPECT_NEAR(pass(10000, 32), 100e-6, 0.1e-6);
  EXPECT_NEAR(pass(20000, 64), 200e-6, 0.1e-6);
  EXPECT_EQ(pass(10001, 32) > 1.009 * pass(10000, 32), true) << "one row more is a wave more";
  EXPECT_NEAR(pass(10000, 65536),
              closed_network_time(100e-6, 10000.0 * 65536 * 3 / 0.8e12, factors.common.pass_stages),
              1e-9);
}

TEST(GemmTiming, ATypeThatTheChipLacksNamesTheOthers) {
  try {
    GpuDeviceSpec gpu = exemplar_gpu();
    const GemmLibrary library = one_tile();
    GemmTiming(gpu, gemm_type("nvfp4"), library, exemplar_gemm_factors());
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no pipe for fp4; it has: bf16"));
  }
}

TEST(GemmLibrary, TheCollectorRotatesAsManyCopiesAsItSays) {
  const double l2 = 50e6;
  EXPECT_EQ(collector_l2_state("trtllm", "1.3.0rc20", "bf16", l2, 20e6).weight_copies, 3);
  EXPECT_EQ(collector_l2_state("trtllm", "1.3.0rc20", "bf16", l2, 200e6).weight_copies, 1);
  EXPECT_EQ(collector_l2_state("trtllm", "1.3.0rc20", "bf16", l2, 1e3).weight_copies, 5);
  EXPECT_EQ(collector_l2_state("trtllm", "1.0.0", "bf16", l2, 200e6).weight_copies, 5);
  EXPECT_TRUE(collector_l2_state("sglang", "0.5.14", "bf16", l2, 1e3).own_activations);
  EXPECT_FALSE(collector_l2_state("vllm", "0.24.0", "bf16", l2, 1e3).own_activations);
}

}  // namespace
}  // namespace foretell
