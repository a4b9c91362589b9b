#include "calib/validate/far_folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace foretell {
namespace {

// [tokens, layers]
const std::vector<Place> kPlaces = {{128, 12}, {1024, 12}, {1024, 24}, {8192, 24}, {128, 12}};

TEST(FarFolds, WhatIsLeftOutLiesBeyondWhatStays) {
  for (const FarFold& fold : far_folds(kPlaces)) {
    bool beyond = false;  // of one feature, on one side
    for (std::size_t feature = 0; feature < 2; ++feature) {
      std::set<double> out;
      std::set<double> kept;
      for (std::size_t i = 0; i < kPlaces.size(); ++i) {
        (fold.left_out[i] ? out : kept).insert(kPlaces[i][feature]);
      }
      ASSERT_FALSE(out.empty());
      ASSERT_FALSE(kept.empty());
      beyond = beyond || *out.begin() > *kept.rbegin() || *out.rbegin() < *kept.begin();
    }
    EXPECT_TRUE(beyond);
  }
}

TEST(FarFolds, DistancesAreThoseFromWhatStays) {
  for (const FarFold& fold : far_folds(kPlaces)) {
    std::vector<Place> kept;
    for (std::size_t i = 0; i < kPlaces.size(); ++i) {
      if (!fold.left_out[i]) kept.push_back(kPlaces[i]);
    }
    for (std::size_t i = 0; i < kPlaces.size(); ++i) {
      EXPECT_DOUBLE_EQ(fold.octaves[i], octaves_to(kPlaces[i], kept));
      if (fold.left_out[i]) {
        EXPECT_GE(fold.octaves[i], 1);  // a feature at least is far
      }
    }
  }
}

TEST(FarFolds, EachDivisionOnceAndEqualPlacesTogether) {
  std::set<std::vector<bool>> seen;
  for (const FarFold& fold : far_folds(kPlaces)) {
    EXPECT_TRUE(seen.insert(fold.left_out).second);
    EXPECT_EQ(fold.left_out.front(), fold.left_out.back());
  }
  // Above 128 nothing but one place stays; above 1024, below 1024, below 8192 (one), above and
  // below a number of layers.
  EXPECT_EQ(seen.size(), 4U);
  EXPECT_EQ(far_folds(kPlaces, 1).size(), 6U);
}

TEST(FarFolds, NothingLiesBeyondEqualPlaces) {
  EXPECT_TRUE(far_folds({}).empty());
  EXPECT_TRUE(far_folds({{}, {}}).empty());
  EXPECT_TRUE(far_folds({{128, 12}, {128, 12}}).empty());
}

}  // namespace
}  // namespace foretell
