#include "calib/fit/cpu_fit.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "hw/spec/cpu/cpu_catalog.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

Measurement measurement(const std::string& op, const std::string& dtype,
                        std::vector<std::pair<std::string, std::int64_t>> shape, int threads) {
  Measurement record;
  record.device = "test";
  record.op = op;
  record.dtype = dtype;
  record.shape = std::move(shape);
  record.latency_us = 1;
  record.repeats = 11;
  record.states = {{"cache", "warm"}, {"threads", std::to_string(threads)}};
  record.readings = {{"foreign_load", 0.0}};
  record.provenance = {"test", "a machine", "2026-01-31", "a library"};
  return record;
}

// Shapes from the first cache to memory, of every operator.
std::vector<Measurement> measurements() {
  std::vector<Measurement> all;
  for (const int threads : {1, 2}) {
    for (const char* dtype : {"fp32", "bf16", "int8"}) {
      for (const std::int64_t n : {48, 768, 3072}) {
        for (const std::int64_t m : {1, 128}) {
          all.push_back(measurement("gemm", dtype, {{"m", m}, {"n", n}, {"k", 768}}, threads));
        }
      }
      for (const std::int64_t f : {64, 256}) {
        all.push_back(measurement("conv", dtype,
                                  {{"b", 1},
                                   {"channels", f},
                                   {"height", 28},
                                   {"width", 28},
                                   {"filters", f},
                                   {"kernel", 3},
                                   {"stride", 1},
                                   {"padding", 1}},
                                  threads));
      }
    }
    for (const char* dtype : {"fp32", "bf16"}) {
      for (const char* op : {"softmax", "layer_norm", "reduce", "add", "gelu", "copy", "convert"}) {
        for (const std::int64_t rows : {16, 4096}) {
          for (const std::int64_t cols : {64, 768}) {
            all.push_back(measurement(op, dtype, {{"rows", rows}, {"cols", cols}}, threads));
          }
        }
      }
      for (const std::int64_t m : {64, 128, 256}) {
        all.push_back(measurement("batched_gemm", dtype, {{"b", 12}, {"m", m}, {"n", m}, {"k", 64}},
                                  threads));
      }
    }
    for (const std::int64_t mib : {1, 8, 128, 512}) {
      all.push_back(measurement("stream_read", "fp32", {{"bytes", mib << 20}}, threads));
    }
  }
  all.push_back(measurement("fork_join", "fp32", {{"count", 2}}, 2));
  return all;
}

CpuFactors truth() {
  CpuFactors factors = ideal_cpu_factors();
  factors.product_efficiency = {{"fp32", 0.97}, {"bf16", 0.9}, {"int8", 0.85}};
  factors.convolution_efficiency = {{"fp32", 0.8}, {"bf16", 0.75}, {"int8", 0.6}};
  factors.tile = Cycles(90);
  factors.l2_efficiency = 0.6;
  factors.l3_efficiency = 0.5;
  factors.core_dram = 4;
  factors.stages_ahead = 2.1;
  factors.call = Seconds(0.7e-6);
  factors.fork_join = 0.35;
  factors.softmax = 31;
  factors.split = 6;
  factors.gelu = 17;
  factors.norm = 9;
  return factors;
}

const CpuSystemSpec& machine() {
  static const CpuSystemSpec kSpec = CpuCatalog().load("c7a.xlarge").spec;
  return kSpec;
}

CpuPrior no_neighbour() { return cpu_prior(machine(), "a test", {"/nowhere", "/nowhere"}); }

std::vector<Measurement> measured_by(const CpuFactors& factors) {
  std::vector<Measurement> all = measurements();
  const std::vector<CpuRow> rows = cpu_rows_of(all).rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].latency_us = predicted_us(machine(), factors, rows[i]);
  }
  return all;
}

TEST(CpuFit, FindsTheFactorsThatMadeTheRows) {
  const std::vector<CpuRow> rows = cpu_rows_of(measured_by(truth())).rows;
  CpuFitOptions options;
  options.starts = 1;
  options.resamples = 20;
  const CpuFit fit = fit_cpu(machine(), rows, options, no_neighbour());
  const auto close = std::count_if(rows.begin(), rows.end(), [&](const CpuRow& row) {
    return std::abs(predicted_us(machine(), fit.factors, row) / row.measured_us - 1) < 0.08;
  });
  EXPECT_GT(static_cast<double>(close), 0.7 * static_cast<double>(rows.size()));
  EXPECT_NEAR(fit.factors.product_efficiency.at("int8"), 0.85, 0.03);
  // What a vector of softmax takes trades off against what a row and a second thread take more.
  int of_softmax = 0;
  int near = 0;
  for (const CpuRow& row : rows) {
    if (row.op.op != "softmax") continue;
    ++of_softmax;
    near += std::abs(predicted_us(machine(), fit.factors, row) / row.measured_us - 1) < 0.1 ? 1 : 0;
  }
  EXPECT_GE(near, of_softmax * 2 / 3);
  EXPECT_NEAR(fit.factors.softmax, 31, 8);
  EXPECT_NEAR(fit.factors.call.value(), 0.7e-6, 0.15e-6);
  EXPECT_NEAR(fit.factors.fork_join, 0.35, 0.05);
  EXPECT_NEAR(fit.factors.core_dram, 4, 0.4);
}

TEST(CpuFit, BlocksAndAQuarterOfTheFamiliesAreHeldOut) {
  std::vector<Measurement> all = measurements();
  all.push_back(measurement("bert_layer", "fp32", {{"b", 1}, {"seq", 128}}, 1));
  const std::vector<CpuRow> rows = cpu_rows_of(all).rows;
  EXPECT_TRUE(rows.back().held_out);
  const auto held_out =
      std::count_if(rows.begin(), rows.end(), [](const CpuRow& row) { return row.held_out; });
  EXPECT_GT(held_out, static_cast<std::ptrdiff_t>(rows.size() / 10));
  EXPECT_LT(held_out, static_cast<std::ptrdiff_t>(rows.size() / 2));
  // A family is on one side, whatever the threads and the rows.
  std::map<std::pair<std::int64_t, std::int64_t>, bool> sides;
  for (const CpuRow& row : rows) {
    if (row.op.op != "gemm") continue;
    const auto [known, is_new] =
        sides.emplace(std::pair(row.op.sizes.at("n"), row.op.sizes.at("k")), row.held_out);
    EXPECT_EQ(known->second, row.held_out);
  }
}

std::string refusal_of(const std::vector<Measurement>& all) {
  try {
    const CpuRowTable table = cpu_rows_of(all);
    CpuFitOptions options;
    options.starts = 1;
    fit_cpu(machine(), table.rows, options, no_neighbour());
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(CpuFit, NamesWhatCannotBeFitted) {
  const Measurement one = measurement("gemm", "fp32", {{"m", 8}, {"n", 64}, {"k", 64}}, 1);
  EXPECT_THAT(refusal_of({}), HasSubstr("no measurement"));
  EXPECT_THAT(refusal_of({one}), HasSubstr("cannot identify"));
  Measurement other = one;
  other.latency_us = 3 * one.latency_us;
  EXPECT_THAT(refusal_of({one, other}), HasSubstr("measured twice"));
  other = one;
  other.shape[0].second = 9;
  other.provenance.machine = "another machine";
  EXPECT_THAT(refusal_of({one, other}), HasSubstr("2 machines"));
  std::vector<Measurement> loaded = {one};
  loaded[0].readings["foreign_load"] = 0.5;
  EXPECT_THAT(refusal_of(loaded), HasSubstr("others used the processors"));
}

TEST(CpuFit, FewPointsUnderLoadOrWithWideRepeatsAreLeftOutAndCounted) {
  std::vector<Measurement> all = measured_by(truth());
  all[0].readings["foreign_load"] = 0.5;
  all[1].spread = 0.5;
  const CpuRowTable table = cpu_rows_of(all);
  EXPECT_EQ(table.rows.size(), all.size() - 2);
  EXPECT_EQ(table.left_out.size(), 2U);
}

TEST(CpuFit, OfTheRoundsOfAPointTheShortestCounts) {
  Measurement first = measurement("gemm", "fp32", {{"m", 8}, {"n", 64}, {"k", 64}}, 1);
  first.states["round"] = "1";
  first.latency_us = 15;
  Measurement second = first;
  second.states["round"] = "2";
  second.latency_us = 10;
  const CpuRowTable table = cpu_rows_of({first, second});
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows.front().measured_us, 10);
  EXPECT_EQ(table.disagreeing, 1);
  second.states["round"] = "1";
  EXPECT_THAT(refusal_of({first, second}), HasSubstr("measured twice"));
}

TEST(CpuFit, AnUnknownOperatorIsNamedWithTheNearest) {
  const CpuRow row =
      cpu_rows_of({measurement("sofmax", "fp32", {{"rows", 8}, {"cols", 64}}, 1)}).rows.front();
  try {
    predicted_us(machine(), truth(), row);
    FAIL() << "there is no such operator";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("softmax"));
  }
}

}  // namespace
}  // namespace foretell
