// GPUs that share the tokens of a sample, and the library whose kernels they run, on the real
// model: what can never be.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hw/spec/gpu/kernel_library.hpp"
#include "model/app/request/prediction.hpp"

namespace foretell {
namespace {

constexpr double kDenseRate = 989.4e12;  // of an H100, FLOP/s in bf16
constexpr double kLinkRate = 450e9;      // of its NVLink, bytes/s in one direction

Request shared_image(int boards, const char* workload = "stable-diffusion-3.5-medium-transformer") {
  Request request;
  request.system = "h100-sxm-x8";
  request.workload = workload;
  request.library = "pytorch";
  request.dtype = "bf16";
  request.batch = 4;
  request.image_size = 1024;
  request.dp = 1;
  request.cp = boards > 1 ? boards : 0;
  return request;
}

class SharedSamples : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Boards, SharedSamples, testing::Values(2, 4, 8));

TEST_P(SharedSamples, AreNotDoneInLessThanAShareOfTheTimeOfOneBoard) {
  const double one = predict(shared_image(1)).summary.call_s;
  const double share = predict(shared_image(GetParam())).summary.call_s;
  EXPECT_GE(share * GetParam(), one);
  EXPECT_LT(share, one);  // of an image of this size
}

TEST_P(SharedSamples, AreNotDoneFasterThanTheBusierOfTheirResources) {
  const RunRecord record = predict(shared_image(GetParam()));
  double flops = 0;
  double sent = 0;  // to other boards, without the text
  double launches = 0;
  constexpr double kSample = 4096 * 1536 * 2;  // bytes: tokens of 1536 channels in bf16
  const double share = 1.0 / GetParam();
  for (const OperatorRecord& op : record.operators) {
    flops += op.flops;
    launches += 1;
    if (op.op == "AllToAll") sent += 4 * kSample * share * (1 - share);
  }
  EXPECT_GT(sent, 0);
  const double launch = kernel_libraries().of_networks("pytorch").per_launch->value();
  EXPECT_GE(record.summary.call_s,
            std::max({flops / kDenseRate, sent / kLinkRate, launches * launch}));
}

// What is not shared takes as long on several boards as on one, and so does the whole at least.
TEST_P(SharedSamples, WaitForWhatIsNotShared) {
  Request request = shared_image(GetParam(), "stable-diffusion-3.5-medium");
  request.steps = 1;
  const RunRecord record = predict(request);
  double apart = 0;
  for (const OperatorRecord& op : record.operators)
    if (op.name.rfind("transformer.", 0) != 0) apart += op.duration_s;
  EXPECT_GT(apart, 0);
  EXPECT_GT(record.summary.call_s, apart);
  request.cp = 0;
  double alone = 0;
  for (const OperatorRecord& op : predict(request).operators)
    if (op.name.rfind("transformer.", 0) != 0) alone += op.duration_s;
  EXPECT_DOUBLE_EQ(apart, alone);
}

TEST_P(SharedSamples, OfManyTokensGainMoreThanThoseOfFew) {
  const auto gain = [](std::int64_t size) {
    Request request = shared_image(1);
    request.image_size = size;
    const double one = predict(request).summary.call_s;
    request.cp = GetParam();
    return one / predict(request).summary.call_s;
  };
  EXPECT_GT(gain(1024), gain(256));
}

// Frames of a decoder's video pass through filters that span them; those of images do not.
TEST(ConvolutionsOverFrames, ReachNoMoreThanTheShareThatTheirLibraryStates) {
  const auto best_rate = [](const char* workload) {
    Request request;
    request.system = "h100-sxm";
    request.workload = workload;
    request.library = "pytorch";
    request.dtype = "bf16";
    double best = 0;
    for (const OperatorRecord& op : predict(request).operators)
      if (op.op == "Conv" && op.name.find(".conv") != std::string::npos)
        best = std::max(best, op.flops / op.duration_s);
    return best / kDenseRate;
  };
  const double share = kernel_libraries().of_networks("pytorch").convolution_share.at("hopper");
  EXPECT_GT(best_rate("hunyuan-video-vae"), 0.8 * share);
  EXPECT_LE(best_rate("hunyuan-video-vae"), share);
  EXPECT_GT(best_rate("stable-diffusion-3-vae"), 2 * share);
}

}  // namespace
}  // namespace foretell
