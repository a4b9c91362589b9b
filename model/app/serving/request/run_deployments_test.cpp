#include "model/app/serving/request/run_deployments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/app/serving/request/served_runs.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

// A row of MLPerf: neither lengths nor how its GPUs divide a copy.
ServedCells benchmark_row() {
  return {{"gpu", "H100-SXM"},
          {"n_gpus", "8"},
          {"framework", "TensorRT 10.2.0"},
          {"model", "llama2-70b-99"},
          {"dtype_weights", "fp16"},
          {"load_kind", "offline"},
          {"request_rate", "inf"},
          {"dataset", "OpenOrca 24576 samples, max in 1024"},
          {"measured_kind", "output_tokens_per_s"}};
}

std::string refusal_of(const ServedCells& cells) {
  try {
    ServedRuns::load().request_of(cells);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(RunDeployments, SayWhatARowLeavesOut) {
  const ServeRequest request = ServedRuns::load().request_of(benchmark_row());
  EXPECT_EQ(request.machine.system, "h100-sxm-x8");
  EXPECT_EQ(request.machine.dtype, "fp8");
  EXPECT_EQ(request.machine.tp, 2);
  EXPECT_EQ(request.dp, 4);
  EXPECT_EQ(request.offline, 24576);
  EXPECT_EQ(request.requests, 0);
  EXPECT_EQ(request.max_batch, 896);
  EXPECT_THAT(request.input_len, HasSubstr("list:"));
  EXPECT_EQ(request.engine, "trtllm@0.12.0");
}

TEST(RunDeployments, DependOnTheLoadAndOnTheNumberOfGpus) {
  ServedCells cells = benchmark_row();
  cells["load_kind"] = "rate";
  cells["request_rate"] = "70";
  cells["n_gpus"] = "16";
  const ServeRequest request = ServedRuns::load().request_of(cells);
  EXPECT_EQ(request.machine.system, "h100-sxm-x16");
  EXPECT_EQ(request.dp, 8);
  EXPECT_EQ(request.max_batch, 1024);
  EXPECT_EQ(request.rate, 70);
  EXPECT_EQ(request.requests, 24576);
  cells["max_batch"] = "100";
  EXPECT_EQ(ServedRuns::load().request_of(cells).max_batch, 100);
}

TEST(RunDeployments, RefuseWhatNoRowOfThemIsAbout) {
  ServedCells cells = benchmark_row();
  cells["gpu"] = "H200-SXM";
  EXPECT_THAT(refusal_of(cells), HasSubstr("how GPUs divide a copy is not known"));
  cells = benchmark_row();
  cells["n_gpus"] = "7";
  EXPECT_THAT(refusal_of(cells), HasSubstr("no multiple of the 2 of a copy"));
  cells["n_gpus"] = "many";
  EXPECT_THAT(refusal_of(cells), HasSubstr("n_gpus"));
  cells = benchmark_row();
  cells["dataset"] = "another";
  EXPECT_THAT(refusal_of(cells), HasSubstr("isl"));
}

}  // namespace
}  // namespace foretell
