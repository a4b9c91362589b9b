// calibrate fit --measurements, from records to the factor file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calib/fitted/gpu/gemm_factors_choice.hpp"
#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "calib/import/read_measurements.hpp"
#include "calib/measurements/testing/example_measurement.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"
#include "model/timing/gpu/gemm_timing.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

constexpr double kSlower = 1.3;  // in DRAM than the factors that the project has

// Records of an L40S, of which the project has no measurements, made by the model with known
// factors.
class CalibrateMeasured : public testing::Test {
 protected:
  CalibrateMeasured() {
    device = GpuCatalog().load("l40s").spec.device;
    truth =
        choose_gemm(KernelFactorsLibrary(kernel_factors_folder("gemm")), device, "trtllm", "bf16")
            .set.factors;
    truth.dram_efficiency /= kSlower;
  }

  std::string records(int families) const {
    const GemmLibrary library = gemm_library(device.architecture, "cublaslt", "bf16");
    const GemmTiming timing(device, gemm_type("bf16"), library, truth);
    std::string text;
    for (int family = 0; family < families; ++family) {
      for (const std::int64_t m : {1, 64, 2048}) {
        const GemmShape shape{m, 512 * (1 + family % 8), 1024 * (1 + family / 3)};
        Measurement record = example_measurement();
        record.device = "l40s";
        record.shape = {{"m", shape.m}, {"n", shape.n}, {"k", shape.k}};
        record.latency_us = timing.fastest(shape, {3, false}).total.value() * 1e6;
        record.readings["copies"] = 3;
        text += to_line(record) + "\n";
      }
    }
    return text;
  }

  CommandResult fit(const std::string& text) const {
    return run_command({"calibrate", "fit", "--device", "l40s", "--measurements",
                        folder.write("m.jsonl", text), "-o", folder.file("factors")});
  }

  GpuDeviceSpec device;
  GemmFactors truth;
  TemporaryFolder folder;
};

TEST_F(CalibrateMeasured, WritesFactorsWithIntervalsAndWhereTheyAreFrom) {
  const CommandResult result = fit(records(32));
  ASSERT_EQ(result.code, kSuccess) << result.messages;
  const std::string written = folder.read("factors/gpu/gemm/l40s.yaml");
  const FactorFile file = parse_kernel_factors(written, "l40s.yaml");
  EXPECT_EQ(factor_file_text(file), written);
  ASSERT_EQ(file.tables.size(), 1U);
  const FactorTable& set = file.tables[0];
  EXPECT_EQ(set.table, "cublaslt bf16");
  GemmFactors factors;
  FieldList list;
  fields(list, factors);
  read_factor_set(set, list);
  EXPECT_NEAR(factors.dram_efficiency, truth.dram_efficiency, 0.05 * truth.dram_efficiency);
  EXPECT_THAT(set.evidence.provenance, HasSubstr("NVIDIA H200, by a test, 2026-01-31"));
  EXPECT_THAT(set.evidence.prior, HasSubstr("factors of trtllm bf16 on "));
  EXPECT_FALSE(set.evidence.interval80.empty());
  EXPECT_THAT(result.result, HasSubstr("up to 16 rows, fitted on: "));
  EXPECT_THAT(result.result, HasSubstr("up to 16 rows, held out: "));
}

TEST_F(CalibrateMeasured, TooFewShapesAreRefused) {
  const CommandResult result = fit(records(4));
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("families of equal (n, k) cannot identify"));
}

TEST_F(CalibrateMeasured, WhatCannotBeIsRefused) {
  Measurement record = example_measurement();
  record.device = "l40s";
  record.shape = {{"m", 8192}, {"n", 8192}, {"k", 8192}};
  CommandResult result = fit(records(32) + to_line(record) + "\n");
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("m.jsonl:97: latency_us: 12.5 us cannot be"));
  record.shape = {{"m", 1}, {"n", 64}, {"k", 64}};
  Measurement slower = record;
  slower.latency_us *= 2;
  result = fit(records(32) + to_line(record) + "\n" + to_line(slower) + "\n");
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("m.jsonl:98: latency_us: 25 contradicts line 97"));
}

TEST_F(CalibrateMeasured, RowsOfOtherDevicesAreNotFittedOn) {
  const CommandResult result = fit(to_line(example_measurement()) + "\n");
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("no product of matrices of l40s"));
}

TEST_F(CalibrateMeasured, ATableWithoutProvenanceIsRefused) {
  const CommandResult result = fit("gpu,dtype,m,n,k,latency_us\nl40s,bf16,1,64,64,5\n");
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("no provenance"));
}

// Passes over memory that take a launch and their bytes at a rate, 3 % off by turns.
std::string operator_records() {
  std::string text;
  for (const std::int64_t rows : {16, 64, 256, 1024, 4096, 8192}) {
    for (const std::int64_t cols : {256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192}) {
      Measurement record = example_measurement();
      record.device = "l40s";
      record.op = "add";
      record.shape = {{"rows", rows}, {"cols", cols}};
      const double noise = (rows / 16 + cols / 256) % 2 == 0 ? 1.03 : 0.97;
      record.latency_us = (3 + 6.0 * static_cast<double>(rows * cols) / 0.7e6) * noise;
      text += to_line(record) + "\n";
    }
  }
  return text;
}

TEST_F(CalibrateMeasured, OperatorsAreFittedFromRecords) {
  const CommandResult result = fit(operator_records());
  ASSERT_EQ(result.code, kSuccess) << result.messages;
  const FactorFile file =
      parse_kernel_factors(folder.read("factors/gpu/operator/l40s.yaml"), "l40s.yaml");
  ASSERT_EQ(file.tables.size(), 1U);
  EXPECT_EQ(file.tables[0].table, "cuda element-wise bf16");
  const std::string& judged = file.tables[0].held_out;
  const std::string name = "MAPE ";
  ASSERT_NE(judged.find(name), std::string::npos);
  EXPECT_LT(std::stod(judged.substr(judged.find(name) + name.size())), 8) << judged;
}

TEST_F(CalibrateMeasured, TooFewRowsOfAnOperatorAreNamed) {
  const std::string text = operator_records();
  const CommandResult result = fit(text.substr(0, text.find('\n') + 1));
  EXPECT_THAT(result.messages, HasSubstr("1 rows to fit on; fewer than 20 determine no factor"));
}

TEST_F(CalibrateMeasured, OnlyForGpus) {
  const CommandResult result =
      run_command({"calibrate", "fit", "--device", "inferentia2", "--measurements", "m.jsonl"});
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("--measurements"));
}

}  // namespace
}  // namespace foretell
