// Requests on several instances of NeuronCores: laws and bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/app/request/prediction.hpp"
#include "model/app/request/testing/staged_request.hpp"
#include "model/base/errors.hpp"
#include "model/predict/pipeline.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

const auto kOnSeveral = Contains(HasSubstr("a copy lies on several instances of 24 cores"));

TEST(Instances, WhatFitsOneTakesItsTimeAtThePriceOfAll) {
  const RunRecord one = predict(gpt2_in_stages("inf2.48xlarge", 12, 2));
  const RunRecord two = predict(gpt2_in_stages("inf2.48xlarge-x2", 12, 2));
  EXPECT_EQ(two.summary.call_s, one.summary.call_s);
  EXPECT_NEAR(*two.summary.cost_usd_per_million / *one.summary.cost_usd_per_million, 2, 1e-9);
  EXPECT_GT(*two.summary.wall_watts, *one.summary.wall_watts);
  EXPECT_THAT(two.context.notes, testing::Not(kOnSeveral));
}

TEST(Instances, StagesHandOverThroughTheNetworkWhereTheyLeaveOne) {
  Request request = gpt2_in_stages("inf2.48xlarge-x2", 12, 4);
  const RunRecord slow = predict(request);
  EXPECT_THAT(slow.context.notes, kOnSeveral);
  request.set = {"system.network=1 Tbit/s"};
  const double rate = predict(request).summary.call_s;
  EXPECT_LT(rate, slow.summary.call_s);
  request.set.emplace_back("system.network_hop=2 us");
  EXPECT_LT(predict(request).summary.call_s, rate);
}

// Of four stages of twelve cores one boundary of three lies between instances of 24; of 24 cores
// each does. Two stages on a device hand over in its memory.
TEST(Instances, BoundariesBetweenInstancesAreCounted) {
  EXPECT_DOUBLE_EQ(share_leaving({4, 12, 1}, 24), 1.0 / 3);
  EXPECT_DOUBLE_EQ(share_leaving({2, 24, 1}, 24), 1);
  EXPECT_DOUBLE_EQ(share_leaving({2, 12, 1}, 24), 0);
  EXPECT_DOUBLE_EQ(share_leaving({32, 1, 2}, 24), 1.0 / 15);
  const NeuronSystemSpec two = exemplar_instances(exemplar_inf2_ring(), 2);
  const auto time = [&](const StageLayout& layout) {
    return handover_time(two, {}, layout, Bytes(1e6)).value();
  };
  EXPECT_GT(time({2, 24, 1}), time({2, 12, 1}));
  EXPECT_NEAR(time({4, 12, 1}), (2 * time({2, 12, 1}) + time({2, 24, 1})) / 3, 1e-15);
}

TEST(Instances, MoreCoresThanThereAreAreRefused) {
  EXPECT_THAT([] { predict(gpt2_in_stages("inf2.48xlarge-x2", 12, 5)); },
              ::testing::ThrowsMessage<UserError>(HasSubstr("48")));
  EXPECT_THAT([] { predict(gpt2_in_stages("inf2.48xlarge", 48, 1)); },
              ::testing::ThrowsMessage<UserError>(HasSubstr("inf2.48xlarge-x2 has as many cores")));
}

}  // namespace
}  // namespace foretell
