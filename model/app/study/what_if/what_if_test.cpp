#include "model/app/study/what_if/what_if.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/app/study/what_if/study_request.hpp"
#include "model/app/study/what_if/study_table.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

TEST(WhatIf, ScalesTheNumberAndKeepsTheUnit) {
  EXPECT_EQ(scaled_value("820 GB/s", 2), "1640 GB/s");
  EXPECT_EQ(scaled_value("225 us", 0.5), "112.5 us");
  EXPECT_THROW(scaled_value("none", 2), UserError);
}

TEST(WhatIf, LeavesOutWhatIsZeroOrNotThere) {
  Parameter rate;
  rate.path = "device.hbm.bandwidth";
  rate.value = "820 GB/s";
  Parameter zero;
  zero.path = "factors.call_overhead";
  zero.value = "0 s";
  const auto changes = what_ifs({rate, zero}, neuron_family().improved_parts({}));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].change, "HBM bandwidth x 2");
  EXPECT_EQ(changes[0].override, "device.hbm.bandwidth=1640 GB/s");
}

TEST(WhatIf, SaysWhatHidesTheChangesThatGainNothing) {
  const std::vector<ImprovedCall> calls = {
      {{"tensor engine clock x 2", "core.tensor.clock=5.6 GHz"}, 0.006, 0.4, "HBM bandwidth"},
      {{"HBM bandwidth x 2", "device.hbm.bandwidth=1640 GB/s"}, 0.00995, 0.005, "tensor engine"},
      {{"vector engine clock x 2", "core.vector.clock=2.24 GHz"}, 0.01, 0, "tensor engine"}};
  EXPECT_EQ(hidden_text(calls),
            "Hidden, as the call is bound by tensor engine: HBM bandwidth x 2, vector engine clock "
            "x 2.\n");
  EXPECT_EQ(hidden_text({calls[0]}), "");
}

// The law of the answer: on a network bound by the array, twice the HBM is hidden by it.
TEST(WhatIf, TheBottleneckOfTheImprovedCallIsThatOfItsPrediction) {
  Request request;
  request.system = "inf2.xlarge";
  request.workload = "bert-base-uncased";
  request.dtype = "bf16";
  request.seq_len = 128;
  const RunSummary unchanged = predict(request).summary;
  for (const ImprovedCall& call : improved_calls(predict, request, unchanged, 1)) {
    Request changed = request;
    changed.set.push_back(call.what.override);
    const RunSummary alone = predict(changed).summary;
    EXPECT_EQ(call.bottleneck, alone.bottleneck) << call.what.override;
    EXPECT_DOUBLE_EQ(call.call_s, alone.call_s);
  }
}

// A service whose host takes longer than its GPU is bound by it, and half of it helps most.
TEST(WhatIf, TheHostOfAServiceIsAPart) {
  Request request;
  request.system = "h100-sxm";
  request.workload = "gpt2";
  request.dtype = "bf16";
  request.input_len = 64;
  request.output_len = 16;
  request.service = {{"concurrency", "1"}, {"requests", "2"}};
  const Predictor served = with_services(predict);
  const RunSummary unchanged = served(request).summary;
  EXPECT_EQ(unchanged.bottleneck.rfind("host (", 0), 0U) << unchanged.bottleneck;
  const auto calls = improved_calls(served, request, unchanged, 1);
  ASSERT_FALSE(calls.empty());
  EXPECT_EQ(calls.front().what.change, "host time of a step x 0.5");
  EXPECT_GT(calls.front().gain, 0.2);
}

TEST(FailureLines, MessagesThatDifferByTheirNumbersAreOneReason) {
  EXPECT_THAT(failure_lines({{"a-70B needs 40.5 GiB (2 more); take b", 3},
                             {"a-70B needs 50 GiB (12 more); take c or d", 1},
                             {"a-8B needs 40.5 GiB (2 more); take b", 1},
                             {"no such type", 5}}),
              testing::ElementsAre("5 points: no such type",
                                   "4 points, for example: a-70B needs 40.5 GiB (2 more); take b",
                                   "1 point: a-8B needs 40.5 GiB (2 more); take b"));
}

TEST(LeftOutCost, WithoutAPublishedPriceNoPointIsJudgedByIt) {
  const auto objectives = [](const std::string& base) {
    Study study = parse_study(
        "study: plain\nbase: {workload: bert-base-uncased, " + base + "}\nvary: {batch: [1, 2]}\n",
        "plain.yaml");
    leave_out_unknown_cost(study);
    return study.objectives.size();
  };
  EXPECT_EQ(objectives("on: h100-sxm"), 2U);
  EXPECT_EQ(objectives("on: p5.48xlarge"), 3U);
  EXPECT_EQ(objectives("on: h100-sxm, system.price.on_demand: 3 USD/h"), 3U);
  EXPECT_EQ(objectives("on: unheard-of"), 3U);
}

}  // namespace
}  // namespace foretell
