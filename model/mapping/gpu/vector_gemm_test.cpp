// Products on the vector pipe: laws of the formula, and that simulated kernels agree with it.
#include <gtest/gtest.h>

#include "model/mapping/gpu/gemm.hpp"
#include "model/testing/gpu_exemplar.hpp"
#include "model/timing/gpu/attention_timing.hpp"
#include "model/timing/gpu/gemm_timing.hpp"

namespace foretell {
namespace {

GpuDeviceSpec vector_gpu() {
  GpuDeviceSpec gpu = exemplar_gpu();
  gpu.vector_rate = {{"fp32", 10e12}};
  return gpu;
}

TEST(VectorGemm, ThreadBlocksAsScheduledTakeWhatTheFormulaSays) {
  const GpuDeviceSpec gpu = vector_gpu();
  for (const bool batched : {false, true}) {
    for (const char* architecture : {"pascal", "volta", "turing", "ampere"}) {
      const GemmLibrary library = vector_library(architecture, batched);
      const GemmTiming timing(gpu, gemm_type("fp32"), library, exemplar_gemm_factors());
      for (const std::int64_t m : {1, 100, 1000}) {
        for (const std::int64_t k : {7, 300, 20000}) {
          const GemmShape shape{m, 333, k, batched ? 17 : 1};
          const GemmTimes times = timing.fastest(shape, {});
          EXPECT_NEAR(program_time(gemm_program(timing, shape, times), gpu) / times.total, 1, 1e-6)
              << architecture << ' ' << m << ' ' << k;
        }
      }
    }
  }
}

TEST(VectorGemm, ABatchIsNeverFasterThanOneAndNeverSlowerThanOneAfterTheOther) {
  const GpuDeviceSpec gpu = vector_gpu();
  const GemmLibrary library = vector_library("volta", true);
  const GemmTiming timing(gpu, gemm_type("fp32"), library, exemplar_gemm_factors());
  for (const std::int64_t side : {16, 100, 500}) {
    const Seconds one = timing.fastest({side, side, side, 1}, {}).total;
    const Seconds many = timing.fastest({side, side, side, 64}, {}).total;
    EXPECT_GE(many, one);
    EXPECT_LE(many, one * 64);
  }
}

TEST(VectorGemm, NeverAboveThePublishedRate) {
  const GpuDeviceSpec gpu = vector_gpu();
  const GemmLibrary library = vector_library("ampere", false);
  GemmFactors factors = exemplar_gemm_factors();
  factors.mma_efficiency = 2;  // of the loop without its operands
  const GemmTiming timing(gpu, gemm_type("fp32"), library, factors);
  const double flops = 2.0 * 8192 * 8192 * 8192;
  EXPECT_GE(timing.fastest({8192, 8192, 8192}, {}).total.value(), flops / 10e12);
}

TEST(VectorGemm, ThePowerLimitSlowsLongProductsMoreThanShortOnes) {
  const GpuDeviceSpec gpu = vector_gpu();
  GpuDeviceSpec limited = gpu;
  limited.vector_limit = 0.4;
  const GemmLibrary library = vector_library("turing", false);
  const GemmTiming free(gpu, gemm_type("fp32"), library, exemplar_gemm_factors());
  const GemmTiming held(limited, gemm_type("fp32"), library, exemplar_gemm_factors());
  const auto slowdown = [&](const GemmShape& shape) {
    return held.fastest(shape, {}).total / free.fastest(shape, {}).total;
  };
  const GemmShape small{1024, 1024, 1024};
  const GemmShape large{8192, 8192, 8192};
  EXPECT_GT(slowdown(small), 1);
  EXPECT_GT(slowdown(large), slowdown(small));
}

TEST(VectorGemm, LongRowsOfOperandsCostWhereTheyComeFromDram) {
  const GpuDeviceSpec gpu = vector_gpu();
  const GemmLibrary library = vector_library("volta", true);
  GemmFactors factors = exemplar_gemm_factors();
  const GemmShape shape{512, 16, 1024, 512};  // bound by reading A
  const GemmTiming plain(gpu, gemm_type("fp32"), library, factors);
  factors.long_rows = 0.5;
  const GemmTiming paged(gpu, gemm_type("fp32"), library, factors);
  EXPECT_GT(paged.fastest(shape, {}).total, plain.fastest(shape, {}).total);
  const GemmShape narrow{512, 16, 64, 512};
  EXPECT_EQ(paged.fastest(narrow, {}).total, plain.fastest(narrow, {}).total);
}

}  // namespace
}  // namespace foretell
