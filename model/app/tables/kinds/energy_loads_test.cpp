// What a benchmark of energy sends: lengths around a mean, and how many requests.
#include "model/app/tables/kinds/energy_loads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/app/request/resolve/distribution_text.hpp"
#include "model/base/errors.hpp"
#include "model/base/looked_up.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

constexpr const char* kLoads = R"(
chat:
  prompt: {tokens: 634, shares: [1, 3]}
  cached: {value: 0.31}
  answers: {shares: [1, 1, 4]}
  requests: {number: 100, repeats: {64: 1, 128: 2}}
)";

std::map<std::string, EnergyLoad> loads_of(const std::string& text) {
  return read_energy_loads(parse_document(text, "loads.yaml"));
}

TEST(EnergyLoads, AnswersKeepTheMeanOfTheRow) {
  const auto loads = loads_of(kLoads);
  ServeRequest request;
  looked_up(loads, "scenario", "chat").ask(600, 8, 1, request);
  const Distribution lengths = parse_distribution("lengths", request.output_len, 1, 1'000'000);
  EXPECT_NEAR(lengths.mean(), 600, 1);
  EXPECT_EQ(lengths.lowest(), 300);
  EXPECT_EQ(lengths.highest(), 1200);
  EXPECT_EQ(request.input_len, "list:317/951");
  EXPECT_DOUBLE_EQ(request.prefix_share, 0.31);
  looked_up(loads, "scenario", "chat").ask(1, 8, 1, request);  // no answer is empty
  EXPECT_GE(parse_distribution("lengths", request.output_len, 1, 10).lowest(), 1);
}

TEST(EnergyLoads, ManyPlacesNeedTheDataSetSeveralTimes) {
  const auto loads = loads_of(kLoads);
  const auto asked = [&](std::int64_t places, int ranks) {
    ServeRequest request;
    looked_up(loads, "scenario", "chat").ask(100, places, ranks, request);
    return request;
  };
  EXPECT_EQ(asked(64, 1).offline, 100);
  EXPECT_EQ(asked(65, 1).offline, 200);
  EXPECT_EQ(asked(4096, 1).offline, 200);
  EXPECT_EQ(asked(64, 1).max_batch, 64);
  EXPECT_EQ(asked(64, 4).max_batch, 16);  // of each rank
  EXPECT_EQ(asked(64, 4).full_places, 64);
  // Copies of a prompt that are served beside one another are computed once.
  EXPECT_DOUBLE_EQ(asked(99, 1).prefix_share, 0.31);
  EXPECT_DOUBLE_EQ(asked(100, 1).prefix_share, 1 - 0.69 / 2);
}

TEST(EnergyLoads, WhatIsWrongIsSaid) {
  EXPECT_THAT(message_of<UserError>([] { looked_up(loads_of(kLoads), "scenario", "chats"); }),
              HasSubstr("chat"));
  const auto message = [](const std::string& old, const std::string& now) {
    std::string text = kLoads;
    text.replace(text.find(old), old.size(), now);
    return message_of<UserError>([&] { loads_of(text); });
  };
  EXPECT_THAT(message("[1, 1, 4]", "[]"), HasSubstr("loads.yaml:5: answers: holds no lengths"));
  EXPECT_THAT(message("[1, 1, 4]", "[1, -1]"), HasSubstr("loads.yaml:5"));
  EXPECT_THAT(message("{64: 1, 128: 2}", "{}"), HasSubstr("write {256: 1, 1024: 2}"));
  EXPECT_THAT(message("{64: 1", "{many: 1"), HasSubstr("'many' is not allowed"));
  EXPECT_THAT(message("value: 0.31", "value: 1.31"), HasSubstr("loads.yaml:4"));
  EXPECT_THAT(message("cached", "cache"), HasSubstr("cached"));
}

}  // namespace
}  // namespace foretell
