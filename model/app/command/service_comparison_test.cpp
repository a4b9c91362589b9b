// Services in `compare` and `explain`: the same numbers as `serve` gives, side by side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> with(std::vector<std::string> line, const std::vector<std::string>& more) {
  line.insert(line.end(), more.begin(), more.end());
  return line;
}

const std::vector<std::string> kAsked = {
    "--workload", "Llama-3.1-8B", "--dtype", "bf16",       "--input-len",
    "64",         "--output-len", "8",       "--requests", "12"};

std::vector<json> records_of(const std::vector<std::string>& line) {
  const CommandResult outcome = run_command(with(line, {"--format", "json"}), predict);
  EXPECT_EQ(outcome.code, 0) << outcome.messages;
  std::vector<json> records;
  std::istringstream lines(outcome.result);
  for (std::string one; std::getline(lines, one);) records.push_back(json::parse(one));
  return records;
}

TEST(ServiceComparison, HasARowForEachSystemLoadAndEngineAsServeGivesIt) {
  const auto compared = records_of(with(
      {"compare", "--on", "h100-sxm,h200-sxm", "--concurrency", "2,4", "--engine", "vllm,sglang"},
      kAsked));
  ASSERT_EQ(compared.size(), 8U);
  const auto alone = records_of(
      with({"serve", "--on", "h200-sxm", "--concurrency", "4", "--engine", "sglang"}, kAsked));
  json first = compared.back()["summary"];
  json second = alone.front()["summary"];
  // Services that are compared share machines, and with them the calls that these simulated.
  for (json* one : {&first, &second}) one->erase("executed_steps");
  EXPECT_EQ(first, second);
  const CommandResult table =
      run_command(with({"compare", "--on", "h100-sxm,h200-sxm", "--concurrency", "2"}, kAsked));
  EXPECT_THAT(table.result, HasSubstr("h200-sxm  2 users"));
}

TEST(ServiceComparison, DeliversTheOthersWhenOneHasNoRoom) {
  const CommandResult outcome =
      run_command({"compare", "--on", "t4,h100-sxm", "--workload", "Llama-3.1-8B", "--dtype",
                   "fp16", "--concurrency", "2", "--input-len", "64", "--output-len", "4"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.messages, HasSubstr("Llama-3.1-8B on t4"));
  EXPECT_THAT(outcome.messages, HasSubstr("no room for KV blocks"));
  EXPECT_THAT(outcome.result, HasSubstr("on h100-sxm"));
}

TEST(ServiceComparison, FindsMistakesBeforeItServes) {
  const struct {
    std::vector<std::string> line;
    const char* message;
  } wrong[] = {
      {{"compare", "--on", "h100-sxm", "--slo", "ttft.p99<=1s"}, "no load"},
      {{"compare", "--on", "h100-sxm", "--concurrency", "2", "--batch", "4"}, "says nothing"},
      {{"compare", "--on", "h100-sxm", "--concurrency", "2,2"}, "stands twice"},
      {{"compare", "--on", "h100-sxm", "--concurrency", "2", "--store", "x"}, "--store"},
      {{"compare", "--on", "h100-smx", "--concurrency", "2"}, "nearest is"},
      {{"explain", "--on", "h100-sxm", "--rate", "0"}, "--rate"},
      {{"serve", "--concurrency", "2"}, "no system; name one with --on"},
      {{"serve", "--on", "h100-sxm,h200-sxm", "--concurrency", "2"},
       "`foretell compare` takes several"},
      {{"serve", "--on", "h100-sxm-x9"}, "join up to 8 GPUs"},
      {{"serve", "--on", "h100-smx"}, "nearest is 'h100-sxm'"},
  };
  for (const auto& one : wrong) {
    const CommandResult outcome = run_command(with(one.line, kAsked));
    EXPECT_EQ(outcome.code, 2) << one.message;
    EXPECT_THAT(outcome.messages, HasSubstr(one.message));
  }
}

// The narrow type has a note of its own, whatever the load.
TEST(ServiceComparison, NotesSayOfWhichServicesTheyAre) {
  const CommandResult outcome = run_command(
      {"compare", "--on", "h100-sxm", "--workload", "Llama-3.1-8B", "--dtype", "fp8,bf16",
       "--concurrency", "2,4", "--input-len", "64", "--output-len", "4", "--requests", "8"});
  EXPECT_EQ(outcome.code, 0) << outcome.messages;
  EXPECT_THAT(outcome.result, HasSubstr("note: fp8: the KV cache is in bf16"));
  EXPECT_THAT(outcome.result, Not(HasSubstr("users: the KV cache")));
}

// What binds a service is the memory here: twice its rate has to help most, and as much as a
// service on such a machine says.
TEST(ServiceComparison, ExplainsWhatWouldHelpAService) {
  const auto explained =
      records_of(with({"explain", "--on", "h100-sxm", "--concurrency", "2"}, kAsked)).front();
  const json& best = explained["explanation"]["what_would_help"][0];
  EXPECT_THAT(best["set"].get<std::string>(), HasSubstr("device.hbm.bandwidth"));
  const auto faster = records_of(with({"serve", "--on", "h100-sxm", "--concurrency", "2", "--set",
                                       best["set"].get<std::string>()},
                                      kAsked))
                          .front();
  EXPECT_NEAR(best["call_s"].get<double>(), faster["summary"]["e2e_s"]["mean"].get<double>(), 1e-9);
  EXPECT_NEAR(
      best["gain"].get<double>(),
      1 - best["call_s"].get<double>() / explained["summary"]["e2e_s"]["mean"].get<double>(), 1e-6);
  const CommandResult text =
      run_command(with({"explain", "--on", "h100-sxm", "--concurrency", "2"}, kAsked));
  EXPECT_THAT(text.result, HasSubstr("binds: decode weights"));
  EXPECT_THAT(text.result, HasSubstr("the same service with one part changed"));
  EXPECT_THAT(text.result, Not(HasSubstr("Longest operators")));
}

// --energy belongs to every command that predicts.
TEST(EnergyOption, TablesSayWhereTheJoulesGo) {
  const std::vector<std::string> encoder = {
      "--on", "inf2.xlarge", "--workload", "bert-base-uncased", "--dtype", "bf16", "--energy"};
  for (const char* command : {"run", "explain"}) {
    const CommandResult outcome = run_command(with({command}, encoder), predict);
    EXPECT_EQ(outcome.code, 0) << outcome.messages;
    EXPECT_THAT(outcome.result, HasSubstr("Energy of a call by kind of work")) << command;
    EXPECT_THAT(outcome.result, HasSubstr("matrix 16 bit")) << command;
  }
  EXPECT_THAT(run_command(with({"compare"}, encoder), predict).result, HasSubstr("J per sample"));
  const std::vector<std::string> load = {"--on", "h100-sxm", "--concurrency", "2", "--energy"};
  for (const char* command : {"serve", "compare", "explain"}) {
    EXPECT_THAT(run_command(with(with({command}, load), kAsked)).result, HasSubstr("by steps"))
        << command;
  }
}

TEST(EnergyOption, TablesOfModelsGetItsColumns) {
  const TemporaryFolder folder;
  const std::string table = folder.write(
      "t.csv",
      "system,workload,batch,seq_len,compute_dtype\ninf2.xlarge,bert-base-uncased,8,128,bf16\n");
  const CommandResult outcome =
      run_command({"predict", table, "--energy", "--format", "json"}, predict);
  ASSERT_EQ(outcome.code, 0) << outcome.messages;
  const json row = json::parse(outcome.result);
  const json run = records_of({"run", "--on", "inf2.xlarge", "--workload", "bert-base-uncased",
                               "--batch", "8", "--seq", "128", "--dtype", "bf16"})
                       .front();
  EXPECT_EQ(row["pred_watts"], run["summary"]["watts"]);
  EXPECT_EQ(row["pred_joules_per_request"], run["summary"]["joules_per_request"]);
  for (const char* field : {"watts", "wall_watts", "joules_per_request"}) {
    const std::string column = std::string("pred_") + field;
    EXPECT_LT(row[column + "_lo"], row[column]) << field;
    EXPECT_GT(row[column + "_hi"], row[column]) << field;
  }
  EXPECT_THAT(run_command({"predict", table}).result, Not(HasSubstr("pred_watts")));
}

}  // namespace
}  // namespace foretell
