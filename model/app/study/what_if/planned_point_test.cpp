// Points of a study that are plans: what they come to, and what is refused.
#include "model/app/study/what_if/planned_point.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/app/study/what_if/served_point.hpp"
#include "model/app/study/what_if/study_request.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

PointValues planned_values(PointValues more = {}) {
  PointValues values = {{"on", "g6e.xlarge"},      {"workload", "Llama-3.1-8B"}, {"dtype", "fp8"},
                        {"input_len", "512"},      {"output_len", "64"},         {"rate", "20"},
                        {"slo", "tpot.p99<=30ms"}, {"plan", "together"}};
  for (auto& [key, value] : more) values[key] = value;
  return values;
}

RunRecord predicted(const PointValues& values) {
  return with_services([](const Request& one) { return predict(one); })(study_request(values));
}

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(PlannedPoint, IsWhatPlanFinds) {
  const RunRecord record = predicted(planned_values());
  PlanRequest asked;
  asked.service.machine.workload = "Llama-3.1-8B";
  asked.service.input_len = "512";
  asked.service.output_len = "64";
  asked.service.rate = 20;
  asked.service.slo = "tpot.p99<=30ms";
  asked.dtypes = {"fp8"};
  asked.workers = "together";
  const SystemPlan plan = plan_system(predict, asked, "g6e.xlarge");
  ASSERT_FALSE(plan.deployments.empty());
  const PlannedDeployment& best = plan.deployments.front();
  EXPECT_DOUBLE_EQ(*record.summary.cost_usd_per_million, best.usd_per_million);
  EXPECT_DOUBLE_EQ(record.summary.throughput, 20 * 64);
  EXPECT_DOUBLE_EQ(*record.summary.tpot_p99_s, best.tpot_s.p99);
  EXPECT_LE(*record.summary.tpot_p99_s, 0.03);
  EXPECT_THAT(record.context.scenario.label, HasSubstr("x g6e.xlarge, fp8, tp 1"));
  EXPECT_THAT(record.context.notes, testing::Contains(HasSubstr(best.simulate)));
  EXPECT_EQ(to_json(run_record_from_json(to_json(record), "test")), to_json(record));
}

// Hardware that is faster never takes more of it.
TEST(PlannedPoint, MoreBandwidthIsNeverDearer) {
  const auto usd = [](const char* bandwidth) {
    return *predicted(planned_values({{"device.hbm.bandwidth", bandwidth}, {"rate", "60"}}))
                .summary.cost_usd_per_million;
  };
  EXPECT_LE(usd("1.7 TB/s"), usd("864 GB/s"));
}

TEST(PlannedPoint, PromisesThatNothingKeepsNameTheNearest) {
  const std::string message = error_of([] {
    predicted(planned_values({{"slo", "tpot.p99<=1ms"}}));
  });
  EXPECT_THAT(message, HasSubstr("no deployment on g6e.xlarge keeps tpot.p99<=1ms"));
  EXPECT_THAT(message, HasSubstr("nearest is --slo 'tpot.p99<="));
}

TEST(PlannedPoint, WhatAPointStatesIsNotSearched) {
  const RunRecord two = predicted(planned_values({{"on", "g6e.12xlarge"}, {"tp", "2"}}));
  EXPECT_THAT(two.context.scenario.label, HasSubstr("tp 2"));
  const RunRecord parted = predicted(planned_values({{"on", "g6e.12xlarge"},
                                                     {"plan", "both"},
                                                     {"prefill", "tp=1,workers=1"},
                                                     {"decode", "tp=1,workers=3"}}));
  EXPECT_THAT(parted.context.scenario.label, HasSubstr("decode tp=1,workers=3"));
}

// Less power is never cheaper, and energy that has a price never makes a plan cheaper.
TEST(PlannedPoint, PowerAndItsPriceCount) {
  const auto usd = [](PointValues more) {
    return *predicted(planned_values(std::move(more))).summary.cost_usd_per_million;
  };
  const double plain = usd({});
  EXPECT_GE(usd({{"power_limit", "150W"}}), plain);
  EXPECT_GT(usd({{"usd_per_kwh", "0.2"}}), plain);
}

TEST(PlannedPoint, RefusesWhatAPlanDoesNotTake) {
  const auto refusal = [](const PointValues& more) {
    return error_of([&] { study_request(planned_values(more)); });
  };
  EXPECT_THAT(refusal({{"cores", "4"}}), HasSubstr("cores: says nothing about a service"));
  EXPECT_THAT(refusal({{"prefill", "tp=1"}}), HasSubstr("belong together"));
  EXPECT_THAT(refusal({{"plan", "apart"}}), HasSubstr("separate"));
  EXPECT_THAT(refusal({{"slo", "ttfb.p99<=1s"}}), HasSubstr("nearest is 'ttft'"));
  EXPECT_THAT(refusal({{"concurrency", "4"}}), HasSubstr("several loads"));
  PointValues no_promise = planned_values();
  no_promise.erase("slo");
  EXPECT_THAT(error_of([&] { study_request(no_promise); }), HasSubstr("no promise"));
  EXPECT_THAT(error_of([] {
                predicted(planned_values({{"on", "h100-sxm"}}));
              }),
              HasSubstr("no price"));
}

}  // namespace
}  // namespace foretell
