// `calibrate intervals --kind serving`, from a table to the file that it writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/app/command/testing/command_runner.hpp"
#include "model/app/request/record/intervals.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

constexpr const char* kServedHeader =
    "gpu,model,framework,precision,mode,concurrency,isl,osl,tp,ttft_ms,tpot_ms\n";

std::string row(const char* gpu, const char* framework, int concurrency, double ttft_ms,
                double tpot_ms) {
  return std::string(gpu) + ",Llama-3.1-8B," + framework + ",bf16,agg," +
         std::to_string(concurrency) + ",128,16,1," + std::to_string(ttft_ms) + "," +
         std::to_string(tpot_ms) + "\n";
}

class ServedIntervals : public ::testing::Test {
 protected:
  CommandResult run(const std::string& table, const std::vector<std::string>& more = {}) {
    std::vector<std::string> line = {
        "calibrate", "intervals", "--kind", "serving", "--table", folder.write("points.csv", table),
        "-o",        output,      "--jobs", "1"};
    line.insert(line.end(), more.begin(), more.end());
    return run_command(line, predict);
  }

  TemporaryFolder folder;
  std::string output = folder.file("made.yaml");
};

// Families of the fit part (one of H200, one of B200), and one of the judge part that is far off.
std::string table_with_judge(double judge_tpot_ms) {
  return kServedHeader + row("h200_sxm", "vllm", 1, 30, 7) + row("h200_sxm", "vllm", 2, 40, 8) +
         row("b200_sxm", "trtllm", 1, 20, 5) + row("b200_sxm", "trtllm", 2, 25, 6) +
         row("h100_sxm", "trtllm", 1, 20, judge_tpot_ms);
}

TEST_F(ServedIntervals, AreMadeOfTheFitPartAlone) {
  const CommandResult first = run(table_with_judge(10));
  ASSERT_EQ(first.code, 0) << first.messages;
  EXPECT_THAT(first.messages, HasSubstr("4 rows of 2 families"));
  const std::string made = folder.read("made.yaml");
  ASSERT_EQ(run(table_with_judge(1000)).code, 0);
  EXPECT_EQ(folder.read("made.yaml"), made);
}

TEST_F(ServedIntervals, AreReadAgainAndWiderWhereMeasurementsAreFarther) {
  ASSERT_EQ(run(table_with_judge(10)).code, 0);
  const auto tpot = [this] {
    return IntervalTable::load(output)
        .choose(served_device(false), served_interval_family(false), "any", IntervalQuantity::kTpot)
        .ratio;
  };
  const Interval before = tpot();
  EXPECT_NEAR(before.low * before.high, 1, 1e-3);
  ASSERT_EQ(
      run(kServedHeader + row("h200_sxm", "vllm", 1, 30, 9) + row("h200_sxm", "vllm", 2, 40, 30) +
          row("b200_sxm", "trtllm", 1, 20, 2) + row("b200_sxm", "trtllm", 2, 25, 18))
          .code,
      0);
  EXPECT_GT(tpot().high, before.high);
}

// Runs whose requests are all there at once; those in FP16 are of the judge part.
std::string run_row(const char* gpu, const char* types, const char* kind, double value) {
  return std::string(gpu) + ",Llama 3.1 8B,TensorRT-LLM,1.0," + types + ",1,offline,8,128,16," +
         kind + "," + std::to_string(value) + "\n";
}

TEST_F(ServedIntervals, OfRunsAreOfThroughputs) {
  const std::string header =
      "gpu,model,framework,framework_version,dtype_weights,tp,load_kind,num_requests,isl,osl,"
      "measured_kind,value\n";
  const CommandResult result = run(header + run_row("H200-SXM", "fp8", "output_tokens_per_s", 900) +
                                   run_row("H200-SXM", "bf16", "output_tokens_per_s", 900) +
                                   run_row("H200-SXM", "bf16", "ttft_ms", 900) +
                                   run_row("H200-SXM", "fp16", "output_tokens_per_s", 9));
  ASSERT_EQ(result.code, 0) << result.messages;
  EXPECT_THAT(result.messages, HasSubstr("call of networks without experts, served offline: 2 rows "
                                         "of 2 families"));
  const Interval made =
      IntervalTable::load(output)
          .choose(kServedOffline, served_interval_family(false), "any", IntervalQuantity::kCall)
          .ratio;
  EXPECT_NEAR(made.low * made.high, 1, 1e-3);
}

TEST_F(ServedIntervals, RefuseWhatMakesNone) {
  const std::string one = kServedHeader + row("h200_sxm", "vllm", 1, 30, 7);
  EXPECT_EQ(run(one).code, 2);
  EXPECT_THAT(run(one).messages, HasSubstr("an interval needs two"));
  EXPECT_THAT(run(one, {"--device", "h200"}).messages,
              HasSubstr("--device: is of --kind networks"));
  EXPECT_THAT(run(one, {"--where", "gpu=h300"}).messages, HasSubstr("gpu=h300"));
  EXPECT_THAT(run(kServedHeader + row("h100_sxm", "trtllm", 1, 20, 9)).messages,
              HasSubstr("no row is of the fit part"));
  EXPECT_THAT(run("system,workload,call_ms\ninf2.xlarge,bert-base-uncased,3\n").messages,
              HasSubstr("expected a table of served points"));
  const CommandResult kind = run_command(
      {"calibrate", "intervals", "--kind", "served", "--table", folder.write("t.csv", one)},
      predict);
  EXPECT_EQ(kind.code, 2);
  EXPECT_THAT(kind.messages, HasSubstr("there are: networks, serving"));
}

}  // namespace
}  // namespace foretell
