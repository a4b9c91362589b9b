#include "reports/render/folded_notes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace foretell {
namespace {

using testing::ElementsAre;

TEST(FoldedNotes, FactorsOfOtherChipsAreOneLine) {
  EXPECT_THAT(folded_notes({"first", "passes: factors of vidur norm fp16 on a100-sxm",
                            "fp16: factors of trtllm bf16 on h100-sxm",
                            "passes: factors of vidur gather fp16 on a100-sxm", "last"}),
              ElementsAre("first",
                          "kernels with factors of another chip or data type, of a100-sxm, "
                          "h100-sxm (fp16, passes); -v lists them",
                          "last"));
}

TEST(FoldedNotes, WhatDiffersInOneWordIsListed) {
  EXPECT_THAT(
      folded_notes({"no interval for products in fp32 on it", "other",
                    "no interval for products in tf32 on it", "short a", "short b",
                    "no interval for sums in fp8 on it", "no interval for products in fp16 on it"}),
      ElementsAre("no interval for products in fp32, tf32, fp16 on it", "other", "short a",
                  "short b", "no interval for sums in fp8 on it"));
}

TEST(FoldedNotes, AMarkAfterTheWordStandsOnce) {
  EXPECT_THAT(
      folded_notes({"none was in bf16, so it is wider", "none was in int8, so it is wider"}),
      ElementsAre("none was in bf16, int8, so it is wider"));
}

TEST(FoldedNotes, OneStaysAsItIs) {
  const std::vector<std::string> notes = {"passes: factors of vidur norm fp16 on a100-sxm", "x"};
  EXPECT_EQ(folded_notes(notes), notes);
  EXPECT_EQ(folded_notes({}), std::vector<std::string>());
}

}  // namespace
}  // namespace foretell
