// The share of one of several ranks that divide the tokens of a sample: what they compute, hold and
// send together.
#include "workloads/import/hf/diffusion/token_sharing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/base/errors.hpp"
#include "reports/record/testing/message_of.hpp"
#include "workloads/import/hf/diffusion/diffusion_graph.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/import/workload_set.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

constexpr const char* kWan = "wan2.1-t2v-1.3b-transformer";
constexpr const char* kHunyuan = "hunyuan-video-transformer";

// Three latent frames of 6 x 8 tokens: 144, that every number of ranks here divides.
Binding video_on(std::int64_t ranks, std::int64_t ring) {
  Binding binding;
  binding.image_size = 96;
  binding.image_width = 128;
  binding.frames = 9;
  binding.context_parallel = ranks;
  binding.ring = ring;
  return binding;
}

Graph share_of_network(const std::string& network, std::int64_t ranks, std::int64_t ring = 0) {
  return build_graph(WorkloadLibrary().load(network), video_on(ranks, ring));
}

double work_of(const Graph& graph, const std::string& kind) {
  double sum = 0;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
    if (graph.op(id).kind == kind) sum += graph.flops(id).value();
  }
  return sum;
}

double bytes_into(const Graph& graph, const std::string& kind) {
  double sum = 0;
  for (const Op& op : graph.ops()) {
    if (op.kind != kind) continue;
    for (const TensorId input : op.inputs) sum += graph.tensor(input).bytes().value();
  }
  return sum;
}

class TokenShares : public testing::TestWithParam<std::int64_t> {};

INSTANTIATE_TEST_SUITE_P(Ranks, TokenShares, testing::Values(2, 4));

TEST_P(TokenShares, AttendToAsMuchTogetherAndEachHoldsAllWeights) {
  const Graph one = share_of_network(kWan, 1);
  const auto ranks = static_cast<double>(GetParam());
  for (const std::int64_t ring : {std::int64_t{1}, GetParam()}) {
    const Graph share = share_of_network(kWan, GetParam(), ring);
    EXPECT_NEAR(work_of(share, "Attention") * ranks, work_of(one, "Attention"),
                1e-3 * work_of(one, "Attention"));
    EXPECT_EQ(share.parameter_count(), one.parameter_count());
  }
}

// Each of N ranks keeps 1 / N of what it has: all of them exchange bytes that fall as 1 / N, in as
// many exchanges.
TEST_P(TokenShares, ExchangeAsManyBytesTogetherWhateverTheirNumber) {
  const Graph two = share_of_network(kWan, 2, 1);
  const Graph share = share_of_network(kWan, GetParam(), 1);
  const double all = 2 * bytes_into(two, "AllToAll");
  EXPECT_GT(all, 0);
  EXPECT_DOUBLE_EQ(static_cast<double>(GetParam()) * bytes_into(share, "AllToAll"), all);
  EXPECT_EQ(bytes_into(share, "SendReceive"), 0);
}

TEST_P(TokenShares, SendKeysAndValuesOnceForEveryOtherOfTheRing) {
  const Graph two = share_of_network(kWan, 2, 2);
  const Graph share = share_of_network(kWan, GetParam(), GetParam());
  const double of_two = 2 * bytes_into(two, "SendReceive");  // of both: all keys and values, once
  EXPECT_GT(of_two, 0);
  EXPECT_DOUBLE_EQ(static_cast<double>(GetParam()) * bytes_into(share, "SendReceive"),
                   of_two * static_cast<double>(GetParam() - 1));
  EXPECT_EQ(bytes_into(share, "AllToAll"), 0);
}

TEST(TokenSharing, OneRankIsTheNetworkItself) {
  const ModelConfig model = WorkloadLibrary().load(kHunyuan);
  Binding plain = video_on(1, 0);
  const Graph one = build_graph(model, plain);
  plain.context_parallel = 1;
  plain.ring = 1;
  const Graph same = build_graph(model, plain);
  ASSERT_EQ(one.ops().size(), same.ops().size());
  for (std::size_t i = 0; i < one.ops().size(); ++i)
    EXPECT_EQ(one.ops()[i].name, same.ops()[i].name);
  for (const Op& op : one.ops()) EXPECT_NE(op.kind, "AllToAll");
}

TEST(TokenSharing, AsManyRanksDivideHeadsAsCan) {
  const ModelConfig wan = WorkloadLibrary().load(kWan);  // 12 heads
  EXPECT_EQ(token_sharing(wan, video_on(8, 0)).ring, 2);
  EXPECT_EQ(token_sharing(wan, video_on(4, 0)).ring, 1);
  EXPECT_EQ(token_sharing(WorkloadLibrary().load(kHunyuan), video_on(8, 0)).of_heads(), 8);
}

TEST(TokenSharing, WhatCannotBeDividedIsSaid) {
  const auto refused = [](const char* network, Binding binding) {
    const ModelConfig model = WorkloadLibrary().load(network);
    return message_of<UserError>([&] { build_graph(model, binding); });
  };
  EXPECT_THAT(refused(kWan, video_on(8, 3)), HasSubstr("--ring can be 2, 4, 8"));
  EXPECT_THAT(refused(kWan, video_on(8, 1)), HasSubstr("12 heads are not divided evenly"));
  Binding image;
  image.context_parallel = 2;
  EXPECT_THAT(refused("sana1.5-4.8b-transformer", image), HasSubstr("linear attention"));
  Binding small = video_on(8, 0);
  small.image_size = small.image_width = 16;
  small.frames = 1;
  EXPECT_THAT(refused(kWan, small), HasSubstr("its 1 tokens are fewer than --cp 8"));
}

TEST(VideoTiles, AreCountedAsTheyOverlap) {
  const ModelConfig wan = WorkloadLibrary().load("wan2.1-vae");
  VisionConfig sizes;
  sizes.image_size = sizes.image_width = 256;
  sizes.frames = 1;
  // At 0 and 24 of 32 latent pixels: the second tile has 8 of them, along both sides.
  EXPECT_DOUBLE_EQ(tiles_of_video(wan, sizes), 40.0 * 40 / (32 * 32));
  sizes.frames = 81;
  EXPECT_DOUBLE_EQ(tiles_of_video(wan, sizes), 21 * 40.0 * 40 / (32 * 32));
}

}  // namespace
}  // namespace foretell
