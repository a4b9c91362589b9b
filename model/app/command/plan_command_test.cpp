// `foretell plan` as it is typed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

CommandResult plan_on(const std::string& systems, const std::string& slo,
                      const std::vector<std::string>& more) {
  std::vector<std::string> line = {"plan",        "--on=" + systems, "--workload=Llama-3.1-8B",
                                   "--rate=20",   "--input-len=256", "--output-len=32",
                                   "--dtype=fp8", "--requests=200",  "--slo=" + slo};
  line.insert(line.end(), more.begin(), more.end());
  return run_command(line);
}

CommandResult plan_for(const std::string& slo, const std::vector<std::string>& more) {
  return plan_on("g6.xlarge,g6e.xlarge", slo, more);
}

CommandResult plan_with(const std::vector<std::string>& more) {
  return plan_for("ttft.p99<=500ms,tpot.mean<=60ms", more);
}

TEST(PlanCommand, NamesTheCheapestAndHowToStartIt) {
  const CommandResult outcome = plan_with({});
  ASSERT_EQ(outcome.code, 0) << outcome.messages;
  EXPECT_THAT(outcome.result, HasSubstr("cheapest: "));
  EXPECT_THAT(outcome.result, HasSubstr("foretell serve --on g6"));
  EXPECT_THAT(outcome.result, HasSubstr(" meta-llama/Llama-3.1-8B"));
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

// Cut off in the middle of the second system: it is searched again.
TEST(PlanCommand, AnInterruptedPlanEndsWithTheSameBytes) {
  const TemporaryFolder folder;
  const std::string store = folder.file("plan.store");
  const std::string whole = plan_with({"--store", store, "--format", "json", "--jobs", "1"}).result;
  std::filesystem::resize_file(store, std::filesystem::file_size(store) - 100);
  const CommandResult again = plan_with({"--store", store, "--format", "json", "--jobs", "2"});
  EXPECT_EQ(again.result, whole);
  EXPECT_THAT(again.messages, HasSubstr("1 of 2 systems are in the store already"));
}

// "a 'b c' d" as the shell reads it.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : command) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

TEST(PlanCommand, TheAnswerIsThatOfTheCommandThatItPrints) {
  for (const std::string workers : {"together", "separate"}) {
    const auto plan =
        nlohmann::json::parse(plan_on("g6e.12xlarge", "ttft.p99<=500ms,tpot.mean<=60ms",
                                      {"--format", "json", "--workers", workers})
                                  .result);
    const auto& best = plan["best"];
    ASSERT_FALSE(best.is_null()) << workers;
    std::vector<std::string> words = words_of(best["simulate"]);
    ASSERT_EQ(words.front(), "foretell");
    words.erase(words.begin());
    words.insert(words.end(), {"--format", "json"});
    const CommandResult served = run_command(words);
    ASSERT_EQ(served.code, 0) << served.messages;
    const auto summary = nlohmann::json::parse(served.result)["summary"];
    for (const char* metric : {"ttft_s", "tpot_s", "e2e_s"}) {
      EXPECT_EQ(summary[metric], best[metric]) << workers << " " << metric;
    }
    EXPECT_EQ(summary["binds"], best["binds"]);
  }
}

TEST(PlanCommand, WhatIsStatedIsInTheCommandThatItPrints) {
  const CommandResult outcome =
      plan_on("g6e.12xlarge", "ttft.p99<=1s,tpot.mean<=60ms",
              {"--tp", "2", "--dp", "1", "--kv-fraction", "0.8", "--chunk", "1024", "--speculate",
               "2,acceptance=0.6", "--clock", "1500MHz", "--usd-per-kwh", "0.1", "--pue", "1.2",
               "--energy", "--workers", "together"});
  ASSERT_EQ(outcome.code, 0) << outcome.messages;
  for (const char* option :
       {"--tp 2 --dp 1", "--kv-fraction 0.8", "--chunk 1024", "--speculate 2,acceptance=0.6",
        "--clock 1500MHz", "--usd-per-kwh 0.1", "--pue 1.2"}) {
    EXPECT_THAT(outcome.result, HasSubstr(option));
  }
  EXPECT_THAT(outcome.result, HasSubstr("Energy of the best of every system"));
}

TEST(PlanCommand, StatedWorkersAreTheOnesThatItFinds) {
  const CommandResult outcome =
      plan_on("g6e.12xlarge", "ttft.p99<=1s,tpot.mean<=60ms",
              {"--prefill", "tp=1,workers=1", "--decode", "tp=2,workers=1"});
  ASSERT_EQ(outcome.code, 0) << outcome.messages;
  EXPECT_THAT(outcome.result, HasSubstr("--prefill tp=1,workers=1 --decode tp=2,workers=1"));
  EXPECT_THAT(plan_on("g6e.12xlarge", "ttft.p99<=1s",
                      {"--prefill", "tp=4,workers=1", "--decode", "tp=2,workers=1"})
                  .result,
              HasSubstr("need 6 devices, g6e.12xlarge has 4"));
}

TEST(PlanCommand, ListsOfEnginesAndBatchesAreSearched) {
  const CommandResult outcome =
      plan_with({"--engine", "vllm,sglang", "--max-batch", "8,32", "--format", "csv"});
  ASSERT_EQ(outcome.code, 0) << outcome.messages;
  EXPECT_THAT(outcome.result, ::testing::ContainsRegex(",(8|32),"));
  EXPECT_THAT(plan_with({"--engine", "all,vllm"}).messages, HasSubstr("'all' stands alone"));
  EXPECT_THAT(plan_with({"--max-batch", "8,none"}).messages, HasSubstr("--max-batch"));
}

TEST(PlanCommand, NamesASystemThatHoldsANetworkThatNoneOfThoseAskedHolds) {
  const CommandResult outcome =
      run_command({"plan", "--on=g6.xlarge", "--workload=Llama-3.1-70B", "--rate=1",
                   "--input-len=128", "--output-len=32", "--dtype=fp8", "--slo=ttft.p99<=1s"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.result, HasSubstr("g6.xlarge: too little memory, for example: Llama"));
  EXPECT_THAT(outcome.result, HasSubstr("the cheapest instance that holds the network: "));
  EXPECT_THAT(outcome.result, HasSubstr("with fp8 and tp "));
}

TEST(PlanCommand, SaysWhatWouldKeepAPromiseThatNothingKeeps) {
  const CommandResult outcome = plan_for("tpot.mean<=10us", {});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.result, HasSubstr("no system keeps it"));
  EXPECT_THAT(outcome.result, HasSubstr("keeps --slo 'tpot.mean<="));
}

TEST(PlanCommand, TheHostTimeOfTheEngineCounts) {
  const CommandResult slow = plan_with({"--set", "engine.host.per_step=80 ms", "--format", "csv"});
  EXPECT_EQ(slow.code, 1) << slow.result;  // no token in 60 ms
  EXPECT_EQ(plan_with({"--set", "engine.host.per_step=1 ms"}).code, 0);
}

TEST(PlanCommand, WrongOptionsSayWhatToType) {
  EXPECT_THAT(plan_with({"--probability", "80"}).messages, HasSubstr("--probability"));
  EXPECT_THAT(plan_with({"--workers", "apart"}).messages, HasSubstr("together"));
  EXPECT_THAT(plan_with({"--kv-dtype", "fp9"}).messages, HasSubstr("nearest is 'fp8'"));
  EXPECT_THAT(plan_with({"--engine", "vlm"}).messages, HasSubstr("nearest is 'vllm'"));
  EXPECT_THAT(plan_with({"--router", "nearest"}).messages, HasSubstr("unknown router 'nearest'"));
  EXPECT_THAT(plan_with({"--offline", "3"}).messages, HasSubstr("a plan needs requests over time"));
  EXPECT_THAT(plan_with({"--concurrency", "3"}).messages, HasSubstr("several loads"));
  EXPECT_THAT(plan_with({"--set", "device.hmb.bandwidth=1 TB/s"}).messages,
              HasSubstr("device.hbm.bandwidth"));
  EXPECT_EQ(plan_with({"--set", "device.hmb.bandwidth=1 TB/s"}).code, 2);
  EXPECT_EQ(plan_with({"--set", "engine.host.per_stp=1 ms"}).code, 2);
  for (const char* option : {"--probability", "--workers", "--engine"}) {
    EXPECT_EQ(plan_with({option, "nothing"}).code, 2) << option;
  }
}

}  // namespace
}  // namespace foretell
