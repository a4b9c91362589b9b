#include "model/app/api/foretell.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace foretell::api {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> bert(const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {
      "run",   "--on", "inf2.xlarge", "--workload", "bert-base-uncased",
      "--seq", "128",  "--format",    "json"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Api, ARequestGivesARecordAgainAndAgain) {
  const std::string first = result(bert());
  EXPECT_THAT(first, StartsWith("{\"schema\":\"foretell.run/1\""));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(result(bert()), first);
  EXPECT_NE(result(bert({"--batch", "8"})), first);
}

TEST(Api, ATypedRequestGivesTheRecordOfTheCommandLine) {
  Request request;
  request.systems = {"inf2.xlarge"};
  request.workloads = {"bert-base-uncased"};
  request.values["seq"] = {"128"};
  const Record record = run(request);
  EXPECT_EQ(record.json() + "\n", result(bert()));
  EXPECT_GT(record.number("latency_s").value_or(0), 0);
  EXPECT_EQ(record.number("ttft_s"), std::nullopt);
  EXPECT_FALSE(record.bottleneck().empty());
  EXPECT_THROW(record.number("latency_ms"), Error);
}

TEST(Api, AWrongRequestIsAnError) {
  Request request;
  request.systems = {"h900"};
  request.workloads = {"gpt2"};
  EXPECT_THROW(run(request), Error);
  request.systems = {"inf2.xlarge"};
  request.dtypes = {"bf16", "fp32"};
  try {
    run(request);
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), 2);
    EXPECT_THAT(error.what(), HasSubstr("2 combinations"));
  }
}

TEST(Api, AMistakeIsAnExceptionWithTheTextOfTheCommandLine) {
  try {
    result(bert({"--dtype", "int7"}));
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), 2);
    EXPECT_THAT(error.what(), StartsWith("unknown data type or precision policy 'int7'"));
  }
  EXPECT_EQ(result(bert()), result(bert()));  // and the next request is answered
}

TEST(Api, ThreadsTakeTurns) {
  const std::string alone = result(bert());
  std::vector<std::string> results(4);
  std::vector<std::thread> threads;
  for (std::string& each : results) threads.emplace_back([&each] { each = result(bert()); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& each : results) EXPECT_EQ(each, alone);
}

TEST(Api, ListsAndShows) {
  EXPECT_THAT(result({"list", "systems", "--format", "json"}), HasSubstr("\"inf2.xlarge\""));
  EXPECT_THAT(result({"show", "inf2.xlarge", "--format", "json"}),
              HasSubstr("\"path\":\"device.hbm.bandwidth\""));
  EXPECT_THAT(version(), StartsWith("0."));
}

}  // namespace
}  // namespace foretell::api
