#include "calib/fit/gemm_fit.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "model/base/errors.hpp"
#include "model/testing/gpu_exemplar.hpp"

namespace foretell {
namespace {

const char* const kPlan = FORETELL_SOURCE_DIR "/calib/fit/gpu_gemm_plan.yaml";

std::vector<GemmSample> made_up_rows(const GemmTiming& timing) {
  std::vector<GemmSample> samples;
  for (std::int64_t m = 1; m <= 4096; m *= 2) {
    for (std::int64_t n = 128; n <= 16384; n *= 2) {
      for (std::int64_t k = 128; k <= 16384; k *= 2) {
        const GemmL2State l2{3, false};
        samples.push_back({{m, n, k}, l2, timing.fastest({m, n, k}, l2).total});
      }
    }
  }
  return samples;
}

// Rows that the model itself made: the search has to come back to the factors that made them.
TEST(GemmFit, FindsTheFactorsThatMadeTheRows) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  const GemmType& type = gemm_type("bf16");
  GemmLibrary library;
  library.tiles = {{128, 128}, {64, 64}, {256, 128}};
  const GemmFactors truth = exemplar_gemm_factors();
  const GemmTiming timing(gpu, type, library, truth);
  GemmStart start;
  start.factors = truth;
  start.factors.mma_efficiency = 0.6;
  start.factors.dram_efficiency = 0.95;
  start.factors.launch = Seconds(3e-6);
  start.fixed = {"step", "sm_feed", "l2_share", "prologue", "stages_ahead", "split"};
  GemmFitOptions options;
  options.rows = 400;
  const GemmFitResult result = fit_gemm(gpu, type, library, start, made_up_rows(timing), options);
  EXPECT_LT(result.loss, 0.005);
  EXPECT_NEAR(result.factors.mma_efficiency, truth.mma_efficiency, 0.02);
  EXPECT_NEAR(result.factors.dram_efficiency, truth.dram_efficiency, 0.02);
  EXPECT_NEAR(result.factors.launch.value(), truth.launch.value(), 0.1e-6);
  EXPECT_EQ(result.factors.prologue, truth.prologue);  // fixed
  EXPECT_EQ(result.factors.padded_row, Cycles(0));     // does not apply
}

TEST(GemmFit, AboutAQuarterOfTheFamiliesIsHeldOut) {
  int held_out = 0;
  int all = 0;
  for (std::int64_t n = 32; n <= 65536; n += 32 * (1 + n / 1024)) {
    for (std::int64_t k = 32; k <= 65536; k += 32 * (1 + k / 1024)) {
      held_out += is_held_out_family(n, k) ? 1 : 0;
      ++all;
    }
  }
  EXPECT_NEAR(held_out / static_cast<double>(all), 0.25, 0.02);
}

TEST(GemmFit, NoTypeHasMoreThanTwelveFreeFactors) {
  for (const char* architecture : {"ampere", "hopper", "blackwell"}) {
    for (const char* type : {"bf16", "int8_sq", "int8_wo"}) {
      GemmStart start = load_gemm_start(kPlan, architecture, std::string("trtllm ") + type);
      FieldList list;
      fields(list, start.factors);
      std::size_t above_zero = 0;
      for (const Field& field : list.all()) {
        if (field.number() > 0) ++above_zero;
      }
      EXPECT_LE(above_zero - start.fixed.size(), 12U) << architecture << " " << type;
    }
  }
}

TEST(GemmFit, AnArchitectureWithoutAStartIsNamed) {
  try {
    load_gemm_start(kPlan, "volta", "trtllm bf16");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("no start for trtllm bf16 on volta"));
  }
}

}  // namespace
}  // namespace foretell
