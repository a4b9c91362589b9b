#include "model/app/study/what_if/sensitivity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/app/command/explain_output.hpp"
#include "model/app/request/testing/fake_predictor.hpp"
#include "model/app/study/what_if/study_request.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/testing/message_of.hpp"
#include "reports/render/output_format.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kBandwidth = "device.hbm.bandwidth";

// A machine whose memory alone matters: 10 ms at the 820 GB/s that are published.
RunRecord memory_bound(const Request& request) {
  double bandwidth = 820e9;
  for (const std::string& assignment : request.set) {
    const std::string prefix = std::string(kBandwidth) + "=";
    if (starts_with(assignment, prefix))
      bandwidth = parse_any_quantity(assignment.substr(prefix.size()))->value;
  }
  RunRecord record = fake_predict(request);
  record.summary.latency_s = record.summary.call_s = 8.2e9 / bandwidth;
  record.summary.throughput = 1 / record.summary.latency_s;
  return record;
}

Request request() {
  Request request;
  request.system = "inf2.xlarge";
  request.workload = "bert-base-uncased";
  return request;
}

TEST(Sensitivity, OnlyWhatMattersIsShown) {
  const PointMetrics unchanged = point_metrics(memory_bound(request()).summary);
  const auto rows = sensitivities(memory_bound, request(), unchanged, 2, {});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].path, kBandwidth);
  EXPECT_NEAR(rows[0].latency_less, 1 / 0.9, 1e-5);
  EXPECT_NEAR(rows[0].latency_more, 1 / 1.1, 1e-5);
  EXPECT_NEAR(rows[0].latency_twice, 0.5, 1e-5);
  EXPECT_NEAR(rows[0].throughput_twice, 2, 1e-5);
  const Table table = tornado_table(rows, 10);
  EXPECT_EQ(table.rows[0][2], "+11.1 %");
  EXPECT_EQ(table.rows[0].back(), "############|###");
}

TEST(Sensitivity, TheUsersOwnChangeIsTheStartingPoint) {
  Request faster = request();
  faster.set = {std::string(kBandwidth) + "=1.64 TB/s"};
  const PointMetrics unchanged = point_metrics(memory_bound(faster).summary);
  const auto rows = sensitivities(memory_bound, faster, unchanged, 2, {});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].value, "1.64 TB/s");
  EXPECT_NEAR(rows[0].latency_twice, 0.5, 1e-5);
}

// Areas have no unit that a parameter could have: they are plain numbers.
TEST(Sensitivity, EveryMetricCanBeATarget) {
  for (const SummaryMetric& metric : summary_metrics()) {
    const bool is_plain = point_metrics(example_summary()).at(metric.name).dimension == Dimension{};
    const std::string unit = is_plain ? "" : " " + std::string(metric.unit);
    const Target target = parse_target(std::string(metric.name) + "=2" + unit);
    EXPECT_DOUBLE_EQ(target.value.number, 2) << metric.name;
    EXPECT_THAT(target_text(target, {{metric.name, target.value}}, {}, 0),
                HasSubstr("reached as it is"));
  }
}

TEST(Sensitivity, TheSmallestChangeThatReachesATarget) {
  const PointMetrics unchanged = point_metrics(memory_bound(request()).summary);
  const Target target = parse_target("latency=5 ms");
  const auto changes = changes_that_reach(memory_bound, request(), unchanged, target, 2, {});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].path, kBandwidth);
  EXPECT_GE(changes[0].factor, 2);
  EXPECT_LE(changes[0].factor, 2.02);
  EXPECT_LE(changes[0].reached.number, 0.005);
  EXPECT_THAT(target_text(target, unchanged, changes, 0),
              AllOf(HasSubstr("latency of at most 5.00 ms, now 10.0 ms"), HasSubstr(kBandwidth)));

  const Target far = parse_target("throughput=1e6");
  const auto nearest = changes_that_reach(memory_bound, request(), unchanged, far, 2, {});
  ASSERT_EQ(nearest.size(), 1U);
  EXPECT_FALSE(nearest[0].reaches);
  EXPECT_NEAR(nearest[0].reached.number, 1600, 1);  // 16 times the bandwidth
  EXPECT_THAT(target_text(far, unchanged, nearest, 0),
              AllOf(HasSubstr("no single parameter reaches it"),
                    HasSubstr("Nearest: 1600 with device.hbm.bandwidth, 820 GB/s to 13.12 TB/s")));
  const auto constant = [](const Request& any) { return fake_predict(any); };
  EXPECT_TRUE(changes_that_reach(constant, request(),
                                 point_metrics(fake_predict(request()).summary), far, 2, {})
                  .empty());
  const Target near = parse_target("latency=1 s");
  EXPECT_THAT(target_text(near, unchanged, {}, 0), HasSubstr("reached as it is"));
}

// A clock has a range that ends before 16 times its value: it was left out without a word.
TEST(Sensitivity, AParameterWhoseRangeEndsEarlyIsStillFound) {
  const auto limited = [](const Request& any) {
    RunRecord record = memory_bound(any);
    if (record.summary.latency_s < 0.010 / 3) throw UserError("820 GB/s .. 2.46 TB/s");
    return record;
  };
  const PointMetrics unchanged = point_metrics(memory_bound(request()).summary);
  const auto changes =
      changes_that_reach(limited, request(), unchanged, parse_target("latency=4 ms"), 2, {});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].path, kBandwidth);
  EXPECT_NEAR(changes[0].factor, 2.5, 0.03);
  // What comes nearest lies at the end of the range.
  const auto nearest =
      changes_that_reach(limited, request(), unchanged, parse_target("latency=1 ms"), 2, {});
  ASSERT_EQ(nearest.size(), 1U);
  EXPECT_FALSE(nearest[0].reaches);
  EXPECT_NEAR(nearest[0].factor, 3, 0.1);
}

TEST(Sensitivity, MachinesGetTheSameNumbersAsJsonAndCsv) {
  const RunRecord record = memory_bound(request());
  const auto rows = sensitivities(memory_bound, request(), point_metrics(record.summary), 2, {});
  const Target target = parse_target("latency=5 ms");
  const ReachedTarget reached{
      target,
      changes_that_reach(memory_bound, request(), point_metrics(record.summary), target, 2, {})};
  const auto record_json = nlohmann::json::parse(explain_json(record, {{}, rows, reached}));
  EXPECT_EQ(record_json.at("schema"), "foretell.run/1");
  const auto& json = record_json.at("explanation");
  EXPECT_EQ(json.at("sensitivity").at(0).at("path"), kBandwidth);
  EXPECT_NEAR(json.at("sensitivity").at(0).at("latency").at("twice").get<double>(), 0.5, 1e-5);
  EXPECT_LE(json.at("target").at("changes").at(0).at("reached").get<double>(), 0.005);
  EXPECT_TRUE(
      nlohmann::json::parse(explain_json(record, {})).at("explanation").at("target").is_null());
  EXPECT_THAT(
      rows_text(sensitivity_rows(rows), Format::kCsv),
      AllOf(HasSubstr("path,value,latency_less"), HasSubstr(std::string("\n") + kBandwidth + ",")));
  EXPECT_THAT(rows_text(target_rows(reached), Format::kCsv),
              HasSubstr("path,from,to,factor,latency\n"));
}

TEST(Sensitivity, MistakesInATarget) {
  const auto mistake = [](const std::string& text) {
    return message_of<UserError>([&] { parse_target(text); });
  };
  EXPECT_THAT(mistake("tpot"), HasSubstr("METRIC=VALUE"));
  EXPECT_THAT(mistake("tpt=1ms"), HasSubstr("nearest is 'tpot'"));
  EXPECT_THAT(mistake("tpot=20"), HasSubstr("has no unit"));
  EXPECT_THAT(mistake("tpot=20 GB/s"), HasSubstr("expected a time"));
  EXPECT_THAT(mistake("latency=-1ms"), HasSubstr("'-1ms' is not above zero"));
  EXPECT_THAT(message_of<UserError>([] {
                changes_that_reach(memory_bound, request(),
                                   point_metrics(memory_bound(request()).summary),
                                   parse_target("tpot=20ms"), 1, {});
              }),
              HasSubstr("tpot does not apply"));
}

}  // namespace
}  // namespace foretell
