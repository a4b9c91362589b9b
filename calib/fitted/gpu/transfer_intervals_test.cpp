#include "calib/fitted/gpu/transfer_intervals.hpp"

#include <gmock/gmock.h>

#include "calib/fitted/shared/factors_folder.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TransferInterval sample() {
  return {"gemm", false, 0.8, 1.4, 100, 1.1, {{"a100-sxm", 0.75}, {"b200-sxm", 0.85}}};
}

TEST(TransferIntervals, TheTextIsReadBackAsItWas) {
  TransferInterval near = sample();
  near.same_generation = true;
  const std::string text = transfer_intervals_text({sample(), near});
  const auto read = parse_transfer_intervals(text, "t.yaml");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(transfer_intervals_text(read), text);
  EXPECT_DOUBLE_EQ(read[0].left_out.at("b200-sxm"), 0.85);
}

TEST(TransferIntervals, WhatCannotBeAnIntervalIsRefused) {
  const auto with = [](double low, double high) {
    TransferInterval wrong = sample();
    wrong.low = low;
    wrong.high = high;
    return transfer_intervals_text({wrong});
  };
  for (const std::string& text : {with(1.1, 1.4), with(0.8, 0.9), with(0, 1.4)}) {
    EXPECT_THAT([&] { parse_transfer_intervals(text, "t.yaml"); },
                ThrowsMessage<UserError>(HasSubstr("1 has to lie inside")));
  }
  EXPECT_THAT(
      [] {
        parse_transfer_intervals("intervals:\n  - {kernels: gemm, generation: next}\n", "t.yaml");
      },
      ThrowsMessage<UserError>(HasSubstr("expected 'same' or 'other'")));
}

TEST(TransferIntervals, OfUnmeasuredKernelsAreTwiceAsWideAndNeverNarrower) {
  const auto known = transfer_intervals_beside(factors_folder() / "gpu" / "gemm");
  ASSERT_FALSE(known.empty());
  const std::pair<double, double> own = {0.9, 1.2};
  const auto none = interval80_on_another_chip(known, "no such kernels", "hopper", "h100-sxm", own);
  EXPECT_DOUBLE_EQ(none.first, 0.8);
  EXPECT_DOUBLE_EQ(none.second, 1.4);
  const std::pair<double, double> wide = {0.01, 50};
  EXPECT_EQ(interval80_on_another_chip(known, "gemm", "hopper", "a100-sxm", wide), wide);
}

}  // namespace
}  // namespace foretell
