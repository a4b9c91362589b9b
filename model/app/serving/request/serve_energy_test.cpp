// Energy of a service: conservation, idle time, power limits and bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/app/serving/request/serve.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr double kIdleWatts = 128;  // of the board, hw/energy
constexpr double kBoardWatts = 700;

ServeRequest closed_loop(std::int64_t clients) {
  ServeRequest request;
  request.machine.system = "h200-sxm";
  request.machine.workload = "Llama-3.1-8B";
  request.machine.dtype = "bf16";
  request.concurrency = clients;
  request.input_len = "256";
  request.output_len = "32";
  request.requests = 2 * clients;
  return request;
}

ServeOutcome outcome_of(const ServeRequest& request) {
  MachinePool pool(predict);
  return serve(pool, request);
}

ServeSummary summary_of(const ServeRequest& request) { return outcome_of(request).record.summary; }

TEST(ServeEnergy, JoulesOfTokensAndRequestsAreWattsTimesTime) {
  const ServeSummary summary = summary_of(closed_loop(8));
  ASSERT_TRUE(summary.watts && summary.joules_per_token && summary.joules_per_request);
  const double joules = *summary.watts * summary.duration_s;
  EXPECT_NEAR(*summary.joules_per_request * 16, joules, 1e-6 * joules);
  EXPECT_NEAR(*summary.joules_per_token * 16 * 32, joules, 1e-6 * joules);
  EXPECT_GT(*summary.watts, kIdleWatts);
  EXPECT_LT(*summary.watts, kBoardWatts);
  EXPECT_GT(*summary.wall_watts, *summary.watts);
  EXPECT_GT(summary.interval80.at("watts").high, *summary.watts);
}

TEST(ServeEnergy, RecordsHaveTheNamesOfEveryRecord) {
  const ServeRecord record = outcome_of(closed_loop(8)).record;
  const nlohmann::json json = nlohmann::json::parse(to_json(record));
  const nlohmann::json& summary = json.at("summary");
  const double joules = *record.summary.watts * record.summary.duration_s;
  EXPECT_NEAR(summary.at("energy_j").get<double>(), joules, 1e-6 * joules);
  EXPECT_EQ(summary.at("watts_mean"), summary.at("watts"));
  EXPECT_EQ(summary.at("joules_per_unit"), summary.at("joules_per_token"));
  const nlohmann::json& energy = json.at("energy");
  EXPECT_NEAR(energy.at("steps_j").get<double>() + energy.at("idle_j").get<double>(), joules,
              1e-6 * joules);
  const Interval band = record.summary.interval80.at("joules_per_token");
  EXPECT_LT(band.low, *record.summary.joules_per_token);
  EXPECT_GT(band.high, *record.summary.joules_per_token);
}

// What a measured board draws more, the wall does, too; what the host draws on its own stays.
TEST(ServeEnergy, EveryFigureHasItsInterval) {
  const ServeSummary summary = summary_of(closed_loop(8));
  const auto band = [&summary](const char* name) { return summary.interval80.at(name); };
  const Interval watts = band("watts");
  const Interval wall = band("wall_watts");
  EXPECT_LT(watts.low, *summary.watts);
  EXPECT_GT((*summary.wall_watts - wall.low) / (*summary.watts - watts.low), 1);
  EXPECT_NEAR((*summary.wall_watts - wall.low) / (*summary.watts - watts.low),
              (wall.high - *summary.wall_watts) / (watts.high - *summary.watts), 1e-9);
  const Interval token = band("joules_per_token");
  const Interval request = band("joules_per_request");
  EXPECT_NEAR(request.low / token.low, *summary.joules_per_request / *summary.joules_per_token,
              1e-9);
  EXPECT_NEAR(request.high / token.high, *summary.joules_per_request / *summary.joules_per_token,
              1e-9);
}

TEST(ServeEnergy, AServiceThatWaitsDrawsActiveIdle) {
  ServeRequest rare = closed_loop(1);
  rare.concurrency = 0;
  rare.rate = 0.01;
  rare.requests = 3;
  const ServeSummary summary = summary_of(rare);
  EXPECT_NEAR(*summary.watts / kIdleWatts, 1, 0.02);
  EXPECT_LT(*summary.busy_energy_share, 0.02);
}

TEST(ServeEnergy, LargerBatchesTakeFewerJoulesForAToken) {
  EXPECT_LT(*summary_of(closed_loop(32)).joules_per_token,
            *summary_of(closed_loop(4)).joules_per_token);
}

TEST(ServeEnergy, APowerLimitIsKeptAndTakesTime) {
  ServeRequest request = closed_loop(64);
  const ServeSummary free = summary_of(request);
  request.machine.power_limit = "350W";
  const ServeSummary limited = summary_of(request);
  EXPECT_LE(*limited.watts, 350);
  EXPECT_GT(*free.watts, *limited.watts);
  EXPECT_GT(limited.duration_s, free.duration_s);
  request.machine.power_limit = "";
  request.machine.clock = "900MHz";
  const ServeSummary slow = summary_of(request);
  EXPECT_GT(slow.duration_s, free.duration_s);
  EXPECT_LT(*slow.watts, *free.watts);
}

TEST(ServeEnergy, ALimitThatIsNotKeptIsSaid) {
  ServeRequest request = closed_loop(64);
  request.machine.power_limit = "350W";
  EXPECT_THAT(outcome_of(request).record.context.notes, Not(Contains(HasSubstr("is not kept"))));
  request.machine.power_limit = "131W";
  EXPECT_THAT(outcome_of(request).record.context.notes, Contains(HasSubstr("is not kept")));
}

TEST(ServeEnergy, CountersOfATimelineStayBetweenIdleAndTheLimit) {
  ServeRequest request = closed_loop(4);
  request.slices = 1000;
  const std::string trace = outcome_of(request).trace_json;
  const std::string key = R"("args":{"watts":)";
  std::size_t counters = 0;
  for (std::size_t at = trace.find(key); at != std::string::npos; at = trace.find(key, at + 1)) {
    const double watts = std::stod(trace.substr(at + key.size()));
    EXPECT_GE(watts, kIdleWatts * 0.999);
    EXPECT_LE(watts, kBoardWatts);
    ++counters;
  }
  EXPECT_GT(counters, 10U);
}

TEST(ServeEnergy, EnergyCostsWhatTheWallDraws) {
  ServeRequest request = closed_loop(4);
  request.machine.usd_per_kwh = 0.1;
  request.machine.pue = 1.5;
  const ServeSummary summary = summary_of(request);
  const double kwh = *summary.joules_per_token * *summary.wall_watts / *summary.watts / 3.6e6;
  EXPECT_NEAR(*summary.energy_usd_per_million, kwh * 1.5 * 0.1 * 1e6,
              1e-6 * *summary.energy_usd_per_million);
}

TEST(ServeEnergy, WhatCannotBeSaysWhatCan) {
  const auto refusal = [](const char* limit, const char* clock) {
    ServeRequest request = closed_loop(1);
    request.machine.power_limit = limit;
    request.machine.clock = clock;
    try {
      summary_of(request);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal("50W", ""), HasSubstr("takes 130 to 700 W, not 50 W"));
  EXPECT_THAT(refusal("1e99W", ""), HasSubstr("not 1e+99 W"));
  EXPECT_THAT(refusal("", "9GHz"), HasSubstr("not at 9000 MHz"));
  EXPECT_THAT(refusal("warm", ""), HasSubstr("write 500W"));
}

}  // namespace
}  // namespace foretell
