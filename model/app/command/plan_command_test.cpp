// `foretell plan` as it is typed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "model/app/command/testing/command_runner.hpp"
#include "reports/record/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

CommandResult plan_for(const std::string& slo, const std::vector<std::string>& more) {
  std::vector<std::string> line = {"plan",
                                   "--on=g6.xlarge,g6e.xlarge",
                                   "--workload=Llama-3.1-8B",
                                   "--rate=20",
                                   "--input-len=256",
                                   "--output-len=32",
                                   "--dtype=fp8",
                                   "--requests=200",
                                   "--slo=" + slo};
  line.insert(line.end(), more.begin(), more.end());
  return run_command(line);
}

CommandResult plan_with(const std::vector<std::string>& more) {
  return plan_for("ttft.p99<=500ms,tpot.mean<=60ms", more);
}

TEST(PlanCommand, NamesTheCheapestAndHowToStartIt) {
  const CommandResult outcome = plan_with({});
  ASSERT_EQ(outcome.code, 0) << outcome.messages;
  EXPECT_THAT(outcome.result, HasSubstr("cheapest: "));
  EXPECT_THAT(outcome.result, HasSubstr("foretell serve --on g6"));
  EXPECT_THAT(outcome.result, HasSubstr("vllm serve meta-llama/Llama-3.1-8B"));
}

TEST(PlanCommand, GivesTheSameBytesOnAnyNumberOfWorkers) {
  const std::string one = plan_with({"--format", "json", "--jobs", "1"}).result;
  EXPECT_EQ(plan_with({"--format", "json", "--jobs", "2"}).result, one);
  const auto record = nlohmann::json::parse(one);
  EXPECT_EQ(record["schema"], "foretell.plan/1");
  EXPECT_EQ(record["systems"].size(), 2U);
  EXPECT_GE(record["best"]["probability"], 0.8);
}

TEST(PlanCommand, GoesOnFromItsStore) {
  const TemporaryFolder folder;
  const std::string store = folder.file("plan.store");
  const std::string first = plan_with({"--store", store, "--format", "json"}).result;
  const auto size = std::filesystem::file_size(store);
  const CommandResult again = plan_with({"--store", store, "--format", "json"});
  EXPECT_EQ(again.result, first);
  EXPECT_EQ(std::filesystem::file_size(store), size);
  EXPECT_THAT(again.messages, HasSubstr("2 of 2 systems are in the store already"));
}

TEST(PlanCommand, SaysWhatWouldKeepAPromiseThatNothingKeeps) {
  const CommandResult outcome = plan_for("tpot.mean<=10us", {});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.result, HasSubstr("no system keeps it"));
  EXPECT_THAT(outcome.result, HasSubstr("keeps --slo 'tpot.mean<="));
}

TEST(PlanCommand, WrongOptionsSayWhatToType) {
  EXPECT_THAT(plan_with({"--probability", "80"}).messages, HasSubstr("--probability"));
  EXPECT_THAT(plan_with({"--workers", "apart"}).messages, HasSubstr("together"));
  EXPECT_THAT(plan_with({"--engine", "vlm"}).messages, HasSubstr("nearest is 'vllm'"));
  EXPECT_THAT(plan_with({"--concurrency", "3"}).messages, HasSubstr("several loads"));
  for (const char* option : {"--probability", "--workers", "--engine"}) {
    EXPECT_EQ(plan_with({option, "nothing"}).code, 2) << option;
  }
}

}  // namespace
}  // namespace foretell
