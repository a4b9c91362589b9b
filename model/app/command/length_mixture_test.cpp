// Lengths that vary from call to call: expected values, percentiles and the cost of padding,
// against a stand-in whose calls take a microsecond per token.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/app/command/testing/command_runner.hpp"
#include "model/app/request/length_cases.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/study/what_if/study_request.hpp"
#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

constexpr double kPerToken = 1e-6;

RunRecord call_per_token(const Request& request) {
  RunRecord record = fake_predict(request);
  RunSummary& summary = record.summary;
  const double call = kPerToken * static_cast<double>(request.seq_len);
  summary.throughput *= summary.call_s / call;
  summary.latency_s *= call / summary.call_s;
  summary.call_s = call;
  summary.interval80 = {{"call_s", {0.8 * call, 1.2 * call}}};
  return record;
}

Request request_for(const std::string& lengths, const std::string& shapes) {
  Request request;
  request.system = "inf2.xlarge";
  request.workload = "bert-base-uncased";
  request.shapes = shapes;
  set_length(request, request_field("seq"), "--seq", lengths);
  return request;
}

RunSummary mixed(const std::string& lengths, const std::string& shapes, int jobs = 1) {
  return predict_in_parallel(call_per_token, request_for(lengths, shapes), jobs, {}).summary;
}

TEST(LengthMixture, EveryLengthAsItIsHasTheMeanOfTheLengths) {
  const RunSummary summary = mixed("uniform:16..512:16", "dynamic");
  EXPECT_NEAR(summary.call_s, 264 * kPerToken, 1e-12);
  EXPECT_NEAR(summary.throughput, 1 / (264 * kPerToken), 1e-6);
  EXPECT_NEAR(summary.interval80.at("call_s").high, 1.2 * 264 * kPerToken, 1e-12);
  ASSERT_TRUE(summary.distribution);
  EXPECT_DOUBLE_EQ(summary.distribution->latency_s.p50, 256 * kPerToken);
  EXPECT_DOUBLE_EQ(summary.distribution->latency_s.p90, 464 * kPerToken);  // 29 of 32 lengths
  EXPECT_DOUBLE_EQ(summary.distribution->latency_s.p99, 512 * kPerToken);
  EXPECT_EQ(summary.distribution->outcomes.size(), 32U);
}

TEST(LengthMixture, PaddingToBucketsCostsTheSameInBothModes) {
  const double padded = (8 * 128 + 8 * 256 + 16 * 512) / 32.0;
  for (const char* shapes : {"buckets", "buckets:128,256,512", "dynamic"}) {
    const RunSummary summary = mixed("uniform:16..512:16", shapes);
    ASSERT_EQ(summary.distribution->padding.size(), 1U);
    const PaddingRecord& padding = summary.distribution->padding.front();
    EXPECT_THAT(padding.buckets.at("seq"), testing::ElementsAre(128, 256, 512));
    EXPECT_NEAR(padding.overhead, padded / 264, 1e-9) << shapes;
    EXPECT_NEAR(padding.padding_share, 1 - 264 / padded, 1e-9) << shapes;
    const bool pads = std::string(shapes) != "dynamic";
    EXPECT_NEAR(summary.call_s, kPerToken * (pads ? padded : 264), 1e-12) << shapes;
  }
  const RunSummary one = mixed("uniform:16..512:16", "buckets:512");
  EXPECT_DOUBLE_EQ(one.distribution->latency_s.p50, one.distribution->latency_s.p99);
}

TEST(LengthMixture, LengthsThatTheNetworkDoesNotTakeAreRefusedBeforeAnyWork) {
  int calls = 0;
  const Predictor counted = [&calls](const Request& request) {
    ++calls;
    return call_per_token(request);
  };
  const auto message = [&](const char* lengths, const char* shapes) {
    return message_of<UserError>(
        [&] { predict_in_parallel(counted, request_for(lengths, shapes), 1, {}); });
  };
  EXPECT_THAT(message("uniform:16..600", "dynamic"), HasSubstr("seq is 600; it must be from 1"));
  EXPECT_THAT(message("uniform:16..100", "buckets:1024"), HasSubstr("seq is 1024"));
  EXPECT_EQ(calls, 0);
}

TEST(LengthMixture, OneLengthInItsOwnBucketCostsNothing) {
  const RunSummary summary = mixed("128", "buckets:64,128");
  EXPECT_DOUBLE_EQ(summary.distribution->padding.front().overhead, 1);
  EXPECT_DOUBLE_EQ(summary.call_s, 128 * kPerToken);
  EXPECT_DOUBLE_EQ(mixed("100", "buckets:64,128").distribution->padding.front().overhead, 1.28);
}

TEST(LengthMixture, HistogramsWeighTheirLengths) {
  const TemporaryFolder folder;
  const std::string file = folder.write("lengths.csv", "length,weight\n100,3\n300,1\n");
  const RunSummary summary = mixed("histogram:" + file, "dynamic");
  EXPECT_NEAR(summary.call_s, 150 * kPerToken, 1e-12);
  EXPECT_DOUBLE_EQ(summary.distribution->latency_s.p50, 100 * kPerToken);
  EXPECT_DOUBLE_EQ(summary.distribution->latency_s.p90, 300 * kPerToken);
}

TEST(LengthMixture, ListsHoldEquallyLikelyLengths) {
  const RunSummary summary = mixed("list:100/100/100/300", "dynamic");
  EXPECT_NEAR(summary.call_s, 150 * kPerToken, 1e-12);
  EXPECT_DOUBLE_EQ(summary.distribution->latency_s.p50, 100 * kPerToken);
  EXPECT_DOUBLE_EQ(mixed("list:128", "dynamic").call_s, mixed("128", "dynamic").call_s);
}

TEST(LengthMixture, TheNumberOfProcessesDoesNotShow) {
  const Request request = request_for("uniform:1..40:3", "buckets");
  EXPECT_EQ(to_json(predict_in_parallel(call_per_token, request, 1, {})),
            to_json(predict_in_parallel(call_per_token, request, 3, {})));
}

TEST(LengthMixture, RecordsComeBackAsTheyWere) {
  const RunRecord record =
      predict_in_parallel(call_per_token, request_for("uniform:1..9", "buckets"), 1, {});
  EXPECT_EQ(to_json(run_record_from_json(to_json(record), "test")), to_json(record));
  EXPECT_EQ(record.context.scenario.seq_len, 0);
  EXPECT_EQ(record.context.scenario.distributions.at("seq"), "uniform:1..9");
}

TEST(LengthMixture, StudiesTakeDistributionsAsValues) {
  const Request request = study_request({{"on", "inf2.xlarge"},
                                         {"workload", "gpt2"},
                                         {"input_len", "uniform:16..64"},
                                         {"output_len", "32"},
                                         {"shapes", "buckets:64"}});
  EXPECT_EQ(request.input_len, 64);
  EXPECT_EQ(request.distributions.at("input-len"), "uniform:16..64");
  EXPECT_THAT(request_json(request), HasSubstr("\"input_len\":\"uniform:16..64\""));
  const LengthCases cases = length_cases(request, {true, 128});
  EXPECT_EQ(cases.dynamic.size(), 49U);
  ASSERT_EQ(cases.padded.size(), 1U);  // answers are as long as they are
  EXPECT_EQ(cases.padded.front().lengths.at("input-len"), 64);
}

TEST(LengthMixture, DimensionsOfFilesVaryToo) {
  Request request = request_for("128", "");
  request.seq_len = 0;
  add_dimension(request, "tokens=uniform:1..4");
  add_dimension(request, "width=8");
  const LengthCases cases = length_cases(request, {false, 128});
  ASSERT_EQ(cases.of_mode().size(), 4U);
  const Request first = with_lengths(request, cases.of_mode().front());
  EXPECT_EQ(first.dimensions.at("tokens"), 1);
  EXPECT_EQ(first.dimensions.at("width"), 8);
  EXPECT_TRUE(first.distributions.empty());
  EXPECT_THROW(add_dimension(request, "width=9"), UserError);
}

TEST(LengthMixture, BadInputSaysWhatWouldBeRight) {
  const TemporaryFolder folder;
  const auto message = [](const std::string& lengths, const std::string& shapes = "") {
    return message_of<UserError>([&] { mixed(lengths, shapes); });
  };
  EXPECT_THAT(message("uniform:-5..10"), HasSubstr("'-5' is not allowed; it must be a whole"));
  EXPECT_THAT(message("uniform:10..5"), HasSubstr("10 is above 5, swap them"));
  EXPECT_THAT(message("uniform:10"), HasSubstr("uniform:LOW..HIGH"));
  EXPECT_THAT(message("list:8/x"), HasSubstr("'x' is not allowed; it must be a whole"));
  EXPECT_THAT(message("list:"), HasSubstr("'' is not allowed; it must be a whole"));
  EXPECT_THAT(message("normal:10..20"), HasSubstr("histogram:FILE"));
  EXPECT_THAT(message("uniform:1..999999"), HasSubstr("uniform:LOW..HIGH:STEP"));
  EXPECT_THAT(message("uniform:1..9", "round"), HasSubstr("unknown shapes 'round'"));
  EXPECT_THAT(message("uniform:1..9", "buckets:"), HasSubstr("buckets:64,128,512"));
  EXPECT_THAT(message("uniform:1..9", "dynamic:8"), HasSubstr("is not allowed"));
  EXPECT_THAT(message("uniform:1..9", "buckets:8"), HasSubstr("seq goes up to 9; add it"));
  EXPECT_THAT(message("uniform:1..9", "buckets:0,9"), HasSubstr("'0' is not allowed"));
  const auto histogram = [&](const std::string& text) {
    return message("histogram:" + folder.write("h.csv", text));
  };
  EXPECT_THAT(histogram("length,weight\n"), HasSubstr("the histogram has no rows"));
  EXPECT_THAT(histogram("length,weight\n4,0\n"), HasSubstr("the weights sum to 0"));
  EXPECT_THAT(histogram("length,weight\n4,-1\n"), HasSubstr("h.csv:2: weight '-1'"));
  EXPECT_THAT(histogram("length,weight\n0,1\n"), HasSubstr("length: '0' is not allowed"));
  EXPECT_THAT(histogram("length,share\n4,1\n"), HasSubstr("the columns length and weight"));
}

}  // namespace
}  // namespace foretell
