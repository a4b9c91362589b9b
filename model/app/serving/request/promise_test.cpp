#include "model/app/serving/request/promise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

std::string slo_refusal(const char* text) {
  try {
    parse_promises(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Promise, ReadsMetricsStatisticsAndUnits) {
  const auto promises = parse_promises("ttft.p99<=1s,tpot.mean<=40 ms,e2e.p95<=9s");
  ASSERT_EQ(promises.size(), 3U);
  EXPECT_EQ(promises[0].metric, "ttft");
  EXPECT_EQ(promises[0].statistic, "p99");
  EXPECT_DOUBLE_EQ(promises[0].limit.value(), 1);
  EXPECT_DOUBLE_EQ(promises[1].limit.value(), 0.04);
}

TEST(Promise, SaysWhatIsWrong) {
  using ::testing::HasSubstr;
  EXPECT_THAT(slo_refusal("ttfb.p99<=1s"), HasSubstr("nearest is 'ttft'"));
  EXPECT_THAT(slo_refusal("ttft.p98<=1s"), HasSubstr("unknown statistic 'p98'"));
  EXPECT_THAT(slo_refusal("ttft.p99<1s"), HasSubstr("looks like ttft.p99<=1s"));
  EXPECT_THAT(slo_refusal("ttft.p99<=1"), HasSubstr("--slo 'ttft.p99<=1'"));
  EXPECT_THAT(slo_refusal("ttft.p99<=-1s"), HasSubstr("above 0"));
  EXPECT_THAT(slo_refusal(""), HasSubstr("looks like"));
}

TEST(Promise, GoodputCountsAnswersThatKeepAllLimits) {
  ServiceResult result;
  for (int i = 0; i < 10; ++i) {
    ServedRequest request;
    request.first_s = i < 5 ? 0.5F : 2.0F;
    request.end_s = 10;
    request.output = 11;
    result.requests.push_back(request);
  }
  EXPECT_DOUBLE_EQ(requests_per_s(result), 1);
  EXPECT_DOUBLE_EQ(goodput_of(result, parse_promises("ttft.p99<=1s")), 0.5);
  EXPECT_DOUBLE_EQ(goodput_of(result, parse_promises("ttft.p99<=1s"), {2.1, 1, 1}), 0);
  EXPECT_DOUBLE_EQ(goodput_of(result, parse_promises("ttft.p99<=1s"), {1, 9, 2}), 0.25);
  EXPECT_DOUBLE_EQ(goodput_of(result, parse_promises("ttft.p99<=1s"), {0.5, 1, 0.5}), 2);
  EXPECT_FALSE(keeps(result, parse_promises("ttft.p99<=1s")));
  EXPECT_TRUE(keeps(result, parse_promises("ttft.p50<=1s,e2e.mean<=11s")));
}

}  // namespace
}  // namespace foretell
