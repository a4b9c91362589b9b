#include "calib/fit/evidence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "calib/fitted/gpu/gemm_factors.hpp"
#include "calib/fitted/gpu/link_factors.hpp"
#include "model/base/errors.hpp"
#include "model/testing/gpu_exemplar.hpp"
#include "model/timing/gpu/gemm_timing.hpp"

namespace foretell {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr GemmL2State kL2{3, false};

// Rows of products that the closed form itself made with factors that are known.
class EvidenceTest : public testing::Test {
 protected:
  EvidenceTest() {
    library.tiles = {{128, 128}, {64, 64}, {256, 128}};
    options.starts = 2;
    options.resamples = 40;
    fields(list, factors);
    free = positive_fields(list);
  }

  void measure(const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& sizes) {
    const GemmTiming timing(gpu, type, library, truth);
    for (const std::int64_t m : rows) {
      for (const std::int64_t n : sizes) {
        for (const std::int64_t k : sizes) {
          shapes.push_back({m, n, k});
          observations.push_back({"all", std::to_string(n) + "x" + std::to_string(k),
                                  timing.fastest(shapes.back(), kL2).total.value()});
        }
      }
    }
  }

  std::vector<double> predict() const {
    const GemmTiming timing(gpu, type, library, factors);
    std::vector<double> seconds;
    for (const GemmShape& shape : shapes) {
      seconds.push_back(timing.fastest(shape, kL2).total.value());
    }
    return seconds;
  }

  void start_a_third_off() {
    factors.mma_efficiency *= 0.75;
    factors.dram_efficiency *= 0.8;
    factors.launch = factors.launch * 1.3;
  }

  void fit_rows() {
    fit_around(
        list, free, observations, [this] { return predict(); }, options);
  }
  FitEvidence evidence() {
    return evidence_around(list, free, observations, [this] { return predict(); }, {40, 1});
  }

  GpuDeviceSpec gpu = exemplar_gpu();
  const GemmType& type = gemm_type("bf16");
  GemmLibrary library;
  GemmFactors truth = exemplar_gemm_factors();
  GemmFactors factors = truth;  // that the fields hold
  FieldList list;
  std::vector<std::string> free;
  std::vector<GemmShape> shapes;
  std::vector<Observation> observations;
  FitOptions options;
};

const std::vector<std::int64_t> kRows = {1, 64, 512, 4096};
const std::vector<std::int64_t> kSizes = {256, 1024, 4096, 16384};

TEST_F(EvidenceTest, ASearchFindsTheFactorsThatMadeTheRowsInSpiteOfOutliers) {
  measure(kRows, kSizes);
  for (std::size_t i = 0; i < observations.size(); i += 20) {
    observations[i].measured *= 4;  // the GPU had other work, too
  }
  start_a_third_off();
  fit_rows();
  EXPECT_NEAR(factors.mma_efficiency, truth.mma_efficiency, 0.03 * truth.mma_efficiency);
  EXPECT_NEAR(factors.dram_efficiency, truth.dram_efficiency, 0.03 * truth.dram_efficiency);
}

TEST_F(EvidenceTest, TheSameRowsGiveTheSameFactors) {
  measure(kRows, kSizes);
  start_a_third_off();
  const GemmFactors start = factors;
  fit_rows();
  const GemmFactors first = factors;
  factors = start;
  fit_rows();
  EXPECT_EQ(first.mma_efficiency, factors.mma_efficiency);
  EXPECT_EQ(first.launch, factors.launch);
}

// Tiny products say nothing about DRAM: its factor stays where it was and is named.
TEST_F(EvidenceTest, WhatTheRowsDoNotDetermineStaysWhereItWas) {
  measure({1}, {32, 64, 96, 128});
  start_a_third_off();
  const double before = factors.dram_efficiency;
  fit_rows();
  EXPECT_NEAR(factors.dram_efficiency, before, 1e-6);
  for (const FactorInterval& interval : evidence().interval80) {
    EXPECT_FALSE(interval.factor == "dram_efficiency" && interval.is_identified);
  }
}

TEST_F(EvidenceTest, FewerFamiliesThanFactorsAreRefused) {
  measure(kRows, {256, 1024});
  EXPECT_THROW(fit_rows(), UserError);
}

TEST_F(EvidenceTest, IntervalsAroundAKnownResultHoldItAndLeaveTheFactors) {
  measure(kRows, kSizes);
  free = {"mma_efficiency", "dram_efficiency", "launch"};
  const FitEvidence known = evidence();
  ASSERT_EQ(known.interval80.size(), 3U);
  const FactorInterval& interval = known.interval80[1];
  EXPECT_EQ(interval.factor, "dram_efficiency");
  EXPECT_LE(std::stod(interval.low), truth.dram_efficiency);
  EXPECT_GE(std::stod(interval.high), truth.dram_efficiency);
  EXPECT_LT(std::stod(interval.high) / std::stod(interval.low), 1.2);
  EXPECT_NEAR(factors.dram_efficiency, truth.dram_efficiency, 1e-6);
}

TEST(FitWithoutBelief, FindsTheFactorsThatMadeTheTimesAndLeavesTheFixedOnes) {
  LinkFactors factors;
  factors.launch = Seconds(3e-6);
  factors.local_rate = BytesPerSecond(3e11);
  factors.peer = Seconds(1e-6);
  FieldList list;
  fields(list, factors);
  const auto time = [](Seconds launch, BytesPerSecond rate, double bytes) {
    return (launch + Bytes(bytes) / rate).value();
  };
  std::vector<Observation> observations;
  std::vector<double> sizes;
  for (double bytes = 1e3; bytes < 1e9; bytes *= 3) {
    sizes.push_back(bytes);
    observations.push_back({"all", "one", time(Seconds(5e-6), BytesPerSecond(8e11), bytes)});
  }
  FitOptions options;
  options.starts = 1;
  options.evaluations = 2000;
  const auto forecast = [&] {
    std::vector<double> seconds;
    for (const double bytes : sizes) {
      seconds.push_back(time(factors.launch, factors.local_rate, bytes));
    }
    return seconds;
  };
  const double loss =
      fit_around(list, {"launch", "local_rate"}, observations, forecast, options, kNoBelief);
  EXPECT_LT(loss, 1e-3);
  EXPECT_NEAR(factors.launch.value(), 5e-6, 5e-8);
  EXPECT_NEAR(factors.local_rate.value(), 8e11, 8e9);
  EXPECT_DOUBLE_EQ(factors.peer.value(), 1e-6);
}

}  // namespace
}  // namespace foretell
