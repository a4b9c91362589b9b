#include "calib/fit/measured_gemm_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/base/errors.hpp"
#include "model/testing/gpu_exemplar.hpp"

namespace foretell {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Rows that the model itself made with factors that are known.
class MeasuredGemmFitTest : public testing::Test {
 protected:
  MeasuredGemmFitTest() {
    library.tiles = {{128, 128}, {64, 64}, {256, 128}};
    options.starts = 2;
    options.resamples = 40;
    options.rows = 200;
  }

  std::vector<GemmSample> rows(const std::vector<std::int64_t>& sizes) const {
    const GemmTiming timing(gpu, type, library, truth);
    std::vector<GemmSample> samples;
    for (const std::int64_t m : {1, 64, 512, 4096}) {
      for (const std::int64_t n : sizes) {
        for (const std::int64_t k : sizes) {
          const GemmL2State l2{3, false};
          samples.push_back({{m, n, k}, l2, timing.fastest({m, n, k}, l2).total});
        }
      }
    }
    return samples;
  }

  GemmFactors off_by_a_third() const {
    GemmFactors prior = truth;
    prior.mma_efficiency *= 0.75;
    prior.dram_efficiency *= 0.8;
    prior.launch = prior.launch * 1.3;
    return prior;
  }

  GpuDeviceSpec gpu = exemplar_gpu();
  const GemmType& type = gemm_type("bf16");
  GemmLibrary library;
  GemmFactors truth = exemplar_gemm_factors();
  MeasuredGemmOptions options;
};

const FactorInterval& interval_of(const FitEvidence& evidence, const std::string& factor) {
  return *std::find_if(evidence.interval80.begin(), evidence.interval80.end(),
                       [&](const FactorInterval& interval) { return interval.factor == factor; });
}

TEST_F(MeasuredGemmFitTest, FindsTheFactorsThatMadeTheRowsInSpiteOfOutliers) {
  std::vector<GemmSample> samples = rows({256, 1024, 4096, 16384});
  for (std::size_t i = 0; i < samples.size(); i += 20) {
    samples[i].measured = samples[i].measured * 4;  // somebody else used the GPU
  }
  const MeasuredGemmFit fit =
      fit_measured_gemm(gpu, type, library, off_by_a_third(), samples, options);
  EXPECT_NEAR(fit.factors.mma_efficiency, truth.mma_efficiency, 0.03 * truth.mma_efficiency);
  EXPECT_NEAR(fit.factors.dram_efficiency, truth.dram_efficiency, 0.03 * truth.dram_efficiency);
  EXPECT_EQ(fit.rows, samples.size());
  EXPECT_EQ(fit.families, 16U);
  const FactorInterval& interval = interval_of(fit.evidence, "mma_efficiency");
  EXPECT_LE(std::stod(interval.low), fit.factors.mma_efficiency * 1.001);
  EXPECT_GE(std::stod(interval.high), fit.factors.mma_efficiency * 0.999);
}

TEST_F(MeasuredGemmFitTest, TheSameRowsGiveTheSameFactors) {
  const std::vector<GemmSample> samples = rows({256, 1024, 4096, 16384});
  const MeasuredGemmFit first =
      fit_measured_gemm(gpu, type, library, off_by_a_third(), samples, options);
  const MeasuredGemmFit again =
      fit_measured_gemm(gpu, type, library, off_by_a_third(), samples, options);
  EXPECT_EQ(first.factors.mma_efficiency, again.factors.mma_efficiency);
  EXPECT_EQ(interval_of(first.evidence, "launch").low, interval_of(again.evidence, "launch").low);
}

// Tiny products say nothing about DRAM: its factor stays with the neighbour and is named.
TEST_F(MeasuredGemmFitTest, WhatTheRowsDoNotDetermineStaysWithTheNeighbour) {
  const GemmFactors prior = off_by_a_third();
  std::vector<GemmSample> tiny;
  for (const GemmSample& sample : rows({32, 64, 96, 128})) {
    if (sample.shape.m == 1) tiny.push_back(sample);
  }
  const MeasuredGemmFit fit = fit_measured_gemm(gpu, type, library, prior, tiny, options);
  EXPECT_THAT(fit.evidence.not_identified, Contains("dram_efficiency"));
  EXPECT_NEAR(fit.factors.dram_efficiency, prior.dram_efficiency, 1e-6);
}

TEST_F(MeasuredGemmFitTest, TooFewFamiliesAreRefused) {
  EXPECT_THAT(
      [&] {
        fit_measured_gemm(gpu, type, library, truth, rows({256, 1024}), options);
      },
      ThrowsMessage<UserError>(HasSubstr("bf16: 4 families of equal (n, k) cannot "
                                         "identify")));
}

TEST_F(MeasuredGemmFitTest, IntervalsAroundAKnownResultHoldIt) {
  const std::vector<std::string> free = {"mma_efficiency", "dram_efficiency", "launch"};
  const FitEvidence evidence =
      evidence_around(gpu, type, library, truth, free, rows({256, 1024, 4096, 16384}), options);
  ASSERT_EQ(evidence.interval80.size(), 3U);
  const FactorInterval& interval = interval_of(evidence, "dram_efficiency");
  EXPECT_LE(std::stod(interval.low), truth.dram_efficiency);
  EXPECT_GE(std::stod(interval.high), truth.dram_efficiency);
  EXPECT_LT(std::stod(interval.high) / std::stod(interval.low), 1.2);
}

TEST(FitEvidenceText, ReadsBackWhatItWrites) {
  FitEvidence evidence;
  evidence.provenance = "a \"chip\"";
  evidence.interval80 = {{"step", "150 cycles", "171 cycles"}};
  evidence.not_identified = {"l2_share", "stages_ahead"};
  evidence.trade_offs = {"step and prologue: -0.91"};
  evidence.residuals = {"up to 16 rows: n 3, MAPE 4.1 %"};
  const std::string text = fit_evidence_text(evidence, "");
  const FitEvidence read =
      read_fit_evidence(parse_document(text, "t.yaml").required("evidence", ""));
  EXPECT_EQ(fit_evidence_text(read, ""), text);
  EXPECT_EQ(fit_evidence_text(FitEvidence{}, ""), "");
  EXPECT_THAT([] { read_fit_evidence(parse_document("interval80: {step: 3}\n", "t.yaml")); },
              ThrowsMessage<UserError>(HasSubstr("step: expected two values")));
}

}  // namespace
}  // namespace foretell
