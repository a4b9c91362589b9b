// Points of a study that are services: what they come to, and what is refused.
#include "model/app/study/what_if/served_point.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/app/study/what_if/study_request.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

PointValues served_values(PointValues more = {}) {
  PointValues values = {{"on", "h100-sxm"},  {"workload", "Llama-3.1-8B"}, {"dtype", "bf16"},
                        {"input_len", "64"}, {"output_len", "16"},         {"requests", "20"}};
  for (auto& [key, value] : more) values[key] = value;
  return values;
}

std::string refusal_of_point(const PointValues& values) {
  try {
    study_request(values);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(ServedPoint, IsWhatServePredicts) {
  const Request request =
      study_request(served_values({{"rate", "4"}, {"slo", "tpot.p99<=1s"}, {"max_batch", "8"}}));
  const Predictor predictor = with_services([](const Request& one) { return predict(one); });
  const RunRecord record = predictor(request);
  ServeRequest asked;
  asked.machine.system = "h100-sxm";
  asked.machine.workload = "Llama-3.1-8B";
  asked.machine.dtype = "bf16";
  asked.input_len = "64";
  asked.output_len = "16";
  asked.requests = 20;
  asked.rate = 4;
  asked.slo = "tpot.p99<=1s";
  asked.max_batch = 8;
  MachinePool pool([](const Request& one) { return predict(one); });
  const ServeSummary served = serve(pool, asked).record.summary;
  EXPECT_DOUBLE_EQ(record.summary.throughput, served.output_tokens_per_s);
  EXPECT_DOUBLE_EQ(*record.summary.ttft_p99_s, served.ttft_s.p99);
  EXPECT_DOUBLE_EQ(*record.summary.tpot_p99_s, served.tpot_s.p99);
  EXPECT_DOUBLE_EQ(record.summary.latency_s, served.e2e_s.mean);
  EXPECT_DOUBLE_EQ(*record.summary.goodput_per_s, *served.goodput_per_s);
  EXPECT_DOUBLE_EQ(*record.summary.watts, *served.watts);
  EXPECT_EQ(record.context.scenario.service.at("rate"), "4");
  EXPECT_EQ(to_json(run_record_from_json(to_json(record), "test")), to_json(record));
}

TEST(ServedPoint, KeepsHowLongRequestsTakeAndWhatWasPromised) {
  const Request request = study_request(
      served_values({{"rate", "4"}, {"requests", "200"}, {"slo", "ttft.p90<=1s,tpot.p99<=40ms"}}));
  const RunRecord record = with_services([](const Request& one) { return predict(one); })(request);
  ASSERT_TRUE(record.summary.served.has_value());
  const ServedTimes& served = *record.summary.served;
  ASSERT_EQ(served.promises.size(), 2U);
  EXPECT_EQ(served.promises[1].metric, "tpot");
  EXPECT_DOUBLE_EQ(served.promises[1].limit_s, 0.04);
  EXPECT_EQ(served.shares.front(), 0);
  EXPECT_EQ(served.shares.back(), 1);
  EXPECT_TRUE(std::is_sorted(served.shares.begin(), served.shares.end()));
  ASSERT_EQ(served.times_s.size(), 3U);
  for (const auto& [name, times] : served.times_s) {
    EXPECT_EQ(times.size(), served.shares.size()) << name;
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end())) << name;
  }
  const auto p99 = std::find(served.shares.begin(), served.shares.end(), 0.99);
  ASSERT_NE(p99, served.shares.end());
  const auto at = static_cast<std::size_t>(p99 - served.shares.begin());
  EXPECT_NEAR(served.times_s.at("ttft_s")[at], *record.summary.ttft_p99_s,
              0.02 * *record.summary.ttft_p99_s);
  EXPECT_EQ(to_json(run_record_from_json(to_json(record), "test")), to_json(record));
}

TEST(ServedPoint, ALoadChangesWhatThePointIsKnownBy) {
  const std::string one = request_json(study_request(served_values({{"rate", "1"}})));
  EXPECT_NE(one, request_json(study_request(served_values({{"rate", "2"}}))));
  EXPECT_NE(one, request_json(study_request(served_values({{"concurrency", "1"}}))));
}

TEST(ServedPoint, OtherPointsGoToThePredictor) {
  Request seen;
  const Predictor predictor = with_services([&seen](const Request& request) {
    seen = request;
    return RunRecord();
  });
  predictor(study_request({{"on", "inf2.xlarge"}, {"workload", "gpt2"}, {"batch", "4"}}));
  EXPECT_EQ(seen.batch, 4);
}

TEST(ServedPoint, TakesWhatServeTakesOfTheMachine) {
  const ServeRequest request = served_request(study_request(served_values(
      {{"rate", "1"}, {"experts", "balanced"}, {"library", "vllm"}, {"tp", "2"}, {"ep", "2"}})));
  EXPECT_EQ(request.machine.experts, "balanced");
  EXPECT_EQ(request.machine.library, "vllm");
  EXPECT_EQ(request.machine.ep, 2);
}

TEST(ServedPoint, RefusesWhatAServiceCannotBe) {
  EXPECT_THAT(refusal_of_point(served_values()), HasSubstr("no load"));
  EXPECT_THAT(refusal_of_point(served_values({{"rate", "1"}, {"offline", "5"}})),
              HasSubstr("several loads"));
  EXPECT_THAT(refusal_of_point(served_values({{"rate", "1"}, {"batch", "8"}})),
              HasSubstr("batch: says nothing about a service"));
  EXPECT_THAT(refusal_of_point(served_values({{"rate", "fast"}})), HasSubstr("rate: 'fast'"));
  EXPECT_THAT(refusal_of_point(served_values({{"rate", "1"}, {"warm_up", "20"}})),
              HasSubstr("leaves none"));
  EXPECT_THAT(refusal_of_point(served_values({{"rate", "1"}, {"every", "2"}})),
              HasSubstr("every: takes some of the requests of a trace"));
  EXPECT_THAT(refusal_of_point(served_values({{"concurrency", "1"}, {"start", "slowly"}})),
              HasSubstr("start"));
}

}  // namespace
}  // namespace foretell
