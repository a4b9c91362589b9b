// `validate` of records of a CPU.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "calib/measurements/measurement.hpp"
#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

Measurement measured(const std::string& op, const std::string& dtype, std::int64_t rows) {
  Measurement record;
  record.device = "amd-epyc";
  record.op = op;
  record.dtype = dtype;
  if (op == "gemm") {
    record.shape = {{"m", rows}, {"n", 768}, {"k", 768}};
  } else {
    record.shape = {{"rows", rows}, {"cols", 768}};
  }
  record.latency_us = 100 * static_cast<double>(rows);
  record.repeats = 9;
  record.states = {{"cache", "warm"}, {"threads", "1"}};
  record.provenance = {"test", "a machine", "2026-01-31", "a library"};
  return record;
}

class CpuRecordsTest : public ::testing::Test {
 protected:
  CommandResult validate(const std::string& file, std::vector<std::string> more) {
    std::vector<std::string> line = {"validate", file, "--on", "c7a.xlarge"};
    line.insert(line.end(), more.begin(), more.end());
    return run_command(line);
  }

  std::string records() const {
    return to_line(measured("gemm", "fp32", 8)) + "\n" + to_line(measured("gemm", "bf16", 8)) +
           "\n" + to_line(measured("softmax", "fp32", 64)) + "\n";
  }

  TemporaryFolder folder_;
};

TEST_F(CpuRecordsTest, AreComparedByOperatorAndTypeWithWhereTheTimeGoes) {
  const std::string file = folder_.write("m.jsonl", records());
  const CommandResult outcome = validate(file, {"--by", "op,dtype", "--format", "json"});
  ASSERT_EQ(outcome.code, kSuccess) << outcome.messages;
  const auto report = nlohmann::json::parse(outcome.result);
  EXPECT_EQ(report.at("overall").at(0).at("n"), 3);
  ASSERT_EQ(report.at("groups").size(), 3U);
  EXPECT_EQ(report.at("groups").at(0).at("group").at(1), "bf16");
  EXPECT_THAT(report.at("worst").at(0).at("parts").get<std::string>(), HasSubstr("arithmetic"));
  EXPECT_EQ(validate(file, {"--max-mape", "1"}).code, kOutsideTolerance);
  EXPECT_THAT(validate(file, {"--where", "op=softmax"}).result, HasSubstr("1 rows, 0 without"));
}

// A table that `import` makes of records says the same as the records.
TEST_F(CpuRecordsTest, ATableOfThemSaysTheSame) {
  const std::string file = folder_.write("m.jsonl", records());
  const std::string table = folder_.file("m.csv");
  const CommandResult imported =
      run_command({"calibrate", "import", file, "-o", table, "--min-rows", "1"});
  ASSERT_EQ(imported.code, kSuccess) << imported.messages;
  const std::vector<std::string> options = {"--by", "dtype", "--format", "csv"};
  const CommandResult of_records = validate(file, options);
  std::string written = table;
  for (const char* name : {"m.csv", "m.operator.csv", "m.operator.warm.csv"}) {
    if (std::filesystem::exists(folder_.file(name))) written = folder_.file(name);
  }
  const CommandResult of_table = validate(written, options);
  ASSERT_EQ(of_table.code, kSuccess) << of_table.messages;
  EXPECT_EQ(of_table.result, of_records.result);
}

TEST_F(CpuRecordsTest, WhatCannotBeComparedIsRefused) {
  Measurement of_gpu = measured("gemm", "fp32", 8);
  of_gpu.device = "h200-sxm";
  EXPECT_THAT(validate(folder_.write("gpu.jsonl", to_line(of_gpu) + "\n"), {}).messages,
              HasSubstr("calibrate import"));
  Measurement there = measured("gemm", "fp32", 8);
  there.provenance.machine = "A CPU (of-tomorrow), 7 cores, avx2";
  const std::string elsewhere = folder_.write("there.jsonl", to_line(there) + "\n");
  EXPECT_THAT(run_command({"validate", elsewhere}).messages,
              HasSubstr("--on, of `calibrate fit` --device"));
  EXPECT_EQ(validate(elsewhere, {}).code, kSuccess);
  const std::string anonymous = folder_.write(
      "t.csv", "system,op,dtype,threads,m,n,k,latency_us\nx,gemm,fp32,1,8,768,768,100\n");
  EXPECT_THAT(validate(anonymous, {}).messages, HasSubstr("no provenance"));
  const std::string networks = folder_.write("n.csv", "system,workload\ninf2.xlarge,gpt2\n");
  EXPECT_THAT(validate(networks, {}).messages, HasSubstr("name their systems"));
}

}  // namespace
}  // namespace foretell
