#include "model/app/serving/request/served_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

ServedCells offline_row() {
  return {{"gpu", "H100-SXM"},
          {"framework", "TensorRT-LLM"},
          {"framework_version", "0.17.0"},
          {"model", "LLaMA v3.1 70B"},
          {"dtype_weights", "fp8"},
          {"dtype_kv", "fp8"},
          {"tp", "4.0"},
          {"load_kind", "offline"},
          {"num_requests", "3000.0"},
          {"isl", "128.0"},
          {"osl", "2048.0"},
          {"isl_std", "0.0"},
          {"measured_kind", "output_tokens_per_s"}};
}

std::string refusal_with(const char* column, const char* value) {
  ServedCells cells = offline_row();
  cells[column] = value;
  try {
    ServedRuns::load().request_of(cells);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(ServedRuns, ReadsWhatARowAsksFor) {
  const ServeRequest request = ServedRuns::load().request_of(offline_row());
  EXPECT_EQ(request.machine.system, "h100-sxm-x8");
  EXPECT_EQ(request.machine.workload, "Llama-3.1-70B");
  EXPECT_EQ(request.machine.tp, 4);
  EXPECT_EQ(request.machine.ep, Request().ep);
  EXPECT_EQ(request.engine, "trtllm@0.17.0");
  EXPECT_EQ(request.offline, 3000);
  EXPECT_EQ(request.input_len, "128");
  EXPECT_EQ(request.output_len, "2048");
}

TEST(ServedRuns, OwnNamesAreTakenAsTheyAre) {
  ServedCells cells = offline_row();
  cells["framework"] = "vLLM 0.10.0";
  cells["model"] = "meta-llama/Llama-3.1-8B-Instruct";
  cells["gpu"] = "h200-sxm-x8";
  cells["dtype_weights"] = "fp8-block";
  const ServeRequest request = ServedRuns::load().request_of(cells);
  EXPECT_EQ(request.engine, "vllm@0.10.0");
  EXPECT_EQ(request.machine.workload, "meta-llama/Llama-3.1-8B-Instruct");
  EXPECT_EQ(request.machine.system, "h200-sxm-x8");
  EXPECT_EQ(request.machine.dtype, "fp8-block");
  cells["framework"] = "SGLang";
  EXPECT_EQ(ServedRuns::load().request_of(cells).engine, "sglang@0.17.0");
  cells["framework_version"] = "";
  EXPECT_EQ(ServedRuns::load().request_of(cells).engine, "sglang");
}

TEST(ServedRuns, CellsSetWhatTheySayOfTheEngine) {
  ServedCells cells = offline_row();
  const std::vector<std::string> of_the_release = {"engine.schedule.chunking=yes",
                                                   "engine.limits.tuned=yes"};
  EXPECT_EQ(ServedRuns::load().request_of(cells).machine.set, of_the_release);
  cells["framework_version"] = "0.10.0";
  EXPECT_TRUE(ServedRuns::load().request_of(cells).machine.set.empty());
  cells["chunked_prefill"] = "yes";
  cells["notes"] = "gptManagerBenchmark, MAX_UTILIZATION, streaming";
  EXPECT_THAT(
      ServedRuns::load().request_of(cells).machine.set,
      ::testing::ElementsAre("engine.schedule.chunking=yes", "engine.schedule.admission=none",
                             "engine.schedule.preemption=last-to-head"));
}

// What the benchmark builds an engine with, by network, GPUs and length; none where a row states
// it.
TEST(ServedRuns, ReleasesWhoseLimitsArePublishedByNetworkTakeThem) {
  ServedCells cells = offline_row();
  cells["framework_version"] = "0.12.0";
  cells["model"] = "LLaMA v3.1 70B";
  const ServeRequest plain = ServedRuns::load().request_of(cells);
  EXPECT_EQ(plain.max_batch, 2048);
  EXPECT_EQ(plain.max_tokens, 1024);
  cells["tp"] = "2.0";
  EXPECT_EQ(ServedRuns::load().request_of(cells).max_batch, 256);
  cells["osl"] = "3968";  // with the prompt of 128 a length that the table names
  EXPECT_EQ(ServedRuns::load().request_of(cells).max_batch, 2048);
  cells["model"] = "LLaMA v3.1 405B";
  EXPECT_EQ(ServedRuns::load().request_of(cells).max_batch, 0);
}

TEST(ServedRuns, GpusWithAttentionOfTheirOwnShareTheExperts) {
  ServedCells cells = offline_row();
  cells["model"] = "Llama 4 Scout";
  cells["notes"] = "PyTorch backend; attention data parallel, EP (ep_size not given)";
  cells["pp"] = "2";
  const ServeRequest request = ServedRuns::load().request_of(cells);
  EXPECT_EQ(request.machine.tp, 1);
  EXPECT_EQ(request.attention_dp, 4);
  EXPECT_EQ(request.machine.ep, 4);
  EXPECT_EQ(request.machine.pp, 2);
  cells["notes"] = "";
  cells["ep"] = "2";
  EXPECT_EQ(ServedRuns::load().request_of(cells).machine.tp, 4);
  EXPECT_EQ(ServedRuns::load().request_of(cells).machine.ep, 2);
}

TEST(ServedRuns, AFileOfAnotherFormatIsAnotherWorkload) {
  ServedCells cells = offline_row();
  cells["model"] = "DeepSeek R1";
  EXPECT_EQ(ServedRuns::load().request_of(cells).machine.workload, "DeepSeek-R1");
  cells["dtype_weights"] = "fp4";
  EXPECT_EQ(ServedRuns::load().request_of(cells).machine.workload, "DeepSeek-R1-0528-NVFP4");
}

TEST(ServedRuns, ComparesTheFigureOfTheRow) {
  ServeSummary summary;
  summary.output_tokens_per_s = 100;
  summary.ttft_s.p99 = 0.5;
  summary.interval80["output_tokens_per_s"] = {90, 110};
  ServedCells cells = offline_row();
  EXPECT_DOUBLE_EQ(ServedRuns::figure_of(cells, summary).value, 100);
  EXPECT_DOUBLE_EQ(ServedRuns::figure_of(cells, summary).interval80.low, 90);
  cells["measured_kind"] = "total_tokens_per_s";
  EXPECT_DOUBLE_EQ(ServedRuns::figure_of(cells, summary).value, 100 * (128 + 2048) / 2048.0);
  cells["measured_kind"] = "ttft_ms";
  cells["percentile"] = "p99";
  EXPECT_DOUBLE_EQ(ServedRuns::figure_of(cells, summary).value, 500);
}

TEST(ServedRuns, SayWhatIsWrong) {
  EXPECT_THAT(refusal_with("framework", "vLMM"), HasSubstr("unknown framework 'vLMM'; nearest is"));
  EXPECT_THAT(refusal_with("notes", "fused speculative decoding"), HasSubstr("not published"));
  EXPECT_THAT(refusal_with("num_requests", ""), HasSubstr("num_requests: is empty"));
  EXPECT_THAT(refusal_with("isl", "12.5"), HasSubstr("isl"));
  EXPECT_THAT(refusal_with("osl", "0.3"), HasSubstr("osl: '0.3' is less than one token"));
  EXPECT_THAT(refusal_with("isl_std", "80.0"), HasSubstr("drawn from a data set"));
  EXPECT_THAT(refusal_with("load_kind", "burst"), HasSubstr("unknown load_kind"));
  EXPECT_THAT(refusal_with("measured_kind", "watts"), HasSubstr("unknown measured_kind"));
}

}  // namespace
}  // namespace foretell
