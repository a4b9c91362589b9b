#include "model/predict/distinct_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace foretell {
namespace {

using testing::ElementsAre;

TEST(DistinctTimes, EqualPartsAreSimulatedOnceAndEveryPartHasItsTime) {
  const std::vector<int> parts = {3, 5, 3, 3, 7};
  std::vector<int> simulated;
  const auto simulate = [&](const std::vector<int>& distinct) {
    simulated = distinct;
    std::vector<Seconds> times;
    for (const int part : distinct) times.emplace_back(part);
    return times;
  };
  const auto key_of = [](int part) { return std::to_string(part); };
  const auto in_order = ElementsAre(Seconds(3), Seconds(5), Seconds(3), Seconds(3), Seconds(7));
  EXPECT_THAT(distinct_times(parts, false, key_of, simulate), in_order);
  EXPECT_THAT(simulated, ElementsAre(3, 5, 7));
  EXPECT_THAT(distinct_times(parts, true, key_of, simulate), in_order);
  EXPECT_EQ(simulated, parts);
}

}  // namespace
}  // namespace foretell
