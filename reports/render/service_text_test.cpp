// Services for people: sums that survive thinning, what is said of promises, and reading back.
#include "reports/render/service_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal_of_service(const std::string& text) {
  try {
    serve_record_from_json(text, "x.json:1");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

ServeRecord service_at(const std::string& rate, double tokens, bool keeps) {
  ServeRecord record;
  record.context.system = "made-up";
  record.context.workload = "network";
  record.context.engine = "engine-1";
  record.context.scenario = {{"rate", rate}, {"input_len", "128"}, {"requests", rate + "00"}};
  record.summary.output_tokens_per_s = tokens;
  record.summary.ttft_s = {0.2, 0.1, 0.3, 0.35, 0.4};
  record.summary.tpot_s = {0.02, 0.01, 0.03, 0.035, 0.04};
  record.summary.e2e_s = {2, 1, 3, 3.5, 4};
  record.summary.slo = "tpot.p99<=50ms";
  record.summary.promises = {{"tpot", "p99", 0.05}};
  record.summary.keeps_slo = keeps;
  record.summary.goodput_per_s = 1.5;
  record.summary.cost_usd_per_million = 0.25;
  record.summary.binds = "decode bandwidth";
  record.summary.interval80["output_tokens_per_s"] = {0.9 * tokens, 1.1 * tokens};
  for (int second = 0; second < 47; ++second) {
    record.timeline.push_back(
        {static_cast<double>(second), second * 2.0, 46.0 - second, 0.5, second * 10.0, 3.0});
  }
  for (std::size_t i = 0; i < serve_shares().size(); ++i)
    record.distributions["ttft_s"].push_back(0.01 * static_cast<double>(i));
  return record;
}

TEST(ServiceText, TheFastestLoadThatKeepsItsPromiseIsTheAnswer) {
  const std::vector<ServeRecord> loads = {service_at("1", 100, true), service_at("2", 200, true),
                                          service_at("4", 300, false)};
  const std::string answer = services_answer(loads).front();
  EXPECT_THAT(answer, HasSubstr("2 of 3 loads keep their promise"));
  EXPECT_THAT(answer, HasSubstr("under 2 requests/s: 200 output tokens/s"));
  const std::string none = services_answer({service_at("1", 100, false), loads[2]}).front();
  EXPECT_THAT(none, HasSubstr("No load of 2 keeps its promise"));
}

TEST(ServiceText, WhatAllLoadsShareStandsAboveTheTable) {
  const std::string text = services_text({service_at("1", 1, true), service_at("2", 2, false)}, 0);
  EXPECT_THAT(text, HasSubstr("input_len 128"));
  EXPECT_THAT(text, HasSubstr("1 requests/s"));
  EXPECT_THAT(text, HasSubstr("broken"));
  EXPECT_THAT(text, Not(HasSubstr("J/token")));  // the energy is not known
  EXPECT_THAT(services_markdown("A <b>", {service_at("1", 1, true)}), HasSubstr("# A \\<b"));
}

TEST(ServiceText, ThinnedTimelinesKeepTheirMeans) {
  const std::vector<ServeSecond> all = service_at("1", 1, true).timeline;
  for (const std::size_t most : {1U, 7U, 20U, 47U, 100U}) {
    const std::vector<ServeSecond> few = thinned(all, most);
    EXPECT_LE(few.size(), std::max<std::size_t>(most, all.size()));
    EXPECT_LE(few.size(), most < all.size() ? most : all.size());
    double sum = 0;
    double width = 0;
    for (std::size_t i = 0; i < few.size(); ++i) {
      const double until = i + 1 < few.size() ? few[i + 1].second : 47;
      sum += few[i].running * (until - few[i].second);
      width += until - few[i].second;
    }
    EXPECT_DOUBLE_EQ(width, 47);
    EXPECT_NEAR(sum, 47 * 46, 1e-9);  // 0 + 2 + … + 92
  }
  EXPECT_TRUE(thinned({}, 5).empty());
}

TEST(ServeRecordRead, ReadsBackWhatWasWritten) {
  const ServeRecord record = service_at("3", 123.456, true);
  const std::string text = to_json(record);
  EXPECT_EQ(to_json(serve_record_from_json(text, "test")), text);
}

TEST(ServeRecordRead, RefusesWhatIsNoService) {
  const std::string good = to_json(service_at("3", 1, true));
  const auto changed = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  EXPECT_THAT(refusal_of_service(good.substr(0, good.size() / 2)),
              HasSubstr("x.json:1: the result of a serv"));
  EXPECT_THAT(refusal_of_service(changed("serve/1", "serve/9")), HasSubstr("foretell.serve/9"));
  EXPECT_THAT(refusal_of_service(changed("\"ttft_s\":{\"mean\":0.2", "\"ttft_s\":{\"mean\":-1.0")),
              HasSubstr("not negative"));
  EXPECT_THAT(refusal_of_service(changed("\"kv_used_share\":0.5", "\"kv_used_share\":5.5")),
              HasSubstr("a share is 0 to 1"));
  EXPECT_THAT(refusal_of_service(changed("\"engine\":", "\"motor\":")),
              HasSubstr("no field 'engine'"));
  EXPECT_THAT(refusal_of_service(changed("\"rate\":\"3\"", "\"rate\":3")), HasSubstr("wrong type"));
  EXPECT_THAT(refusal_of_service(changed("\"ttft_s\":[0.0,0.01", "\"ttft_s\":[0.5,0.01")),
              HasSubstr("times that grow"));
}

}  // namespace
}  // namespace foretell
