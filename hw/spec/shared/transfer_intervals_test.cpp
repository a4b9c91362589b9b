#include "hw/spec/shared/transfer_intervals.hpp"

#include <gmock/gmock.h>

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

TEST(TransferIntervals, KernelsThatNobodyMeasuredHaveNone) {
  EXPECT_FALSE(transfer_interval80("no such kernels", "hopper", "h100-sxm").has_value());
}

}  // namespace
}  // namespace foretell
