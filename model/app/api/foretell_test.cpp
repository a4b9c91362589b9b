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
