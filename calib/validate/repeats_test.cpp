#include "calib/validate/repeats.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

TEST(Repeats, NoiseIsTheMeanDistanceFromTheMedianOfEqualConditions) {
  Repeats repeats;
  for (const double value : {9.0, 10.0, 12.0}) repeats.add("call_ms", "a", value);
  repeats.add("call_ms", "b", 50);  // measured once
  repeats.add("call_ms", "", 1);    // not known
  repeats.add("call_ms", "", 2);
  EXPECT_DOUBLE_EQ(repeats.noise("call_ms").value_or(0), (0.1 + 0 + 0.2) / 3);
}

TEST(Repeats, QuantitiesAreApartAndNoneHasNoise) {
  Repeats repeats;
  repeats.add("call_ms", "a", 1);
  repeats.add("ttft_ms", "a", 2);
  EXPECT_FALSE(repeats.noise("call_ms"));
  EXPECT_FALSE(repeats.noise("tpot_ms"));
}

}  // namespace
}  // namespace foretell
