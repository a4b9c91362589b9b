#include "hw/spec/neuron/sdk_version.hpp"

#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

NeuronFactors with_releases() {
  NeuronFactors factors;
  factors.sdk_engine_time = {{"2.9", 1.15}, {"2.14", 1.11}};
  return factors;
}

TEST(SdkEngineTime, CoversReleasesUpToTheKey) {
  const NeuronFactors factors = with_releases();
  EXPECT_EQ(sdk_engine_time(factors, "2.3.0"), 1.15);
  EXPECT_EQ(sdk_engine_time(factors, "2.9.1"), 1.15);
  EXPECT_EQ(sdk_engine_time(factors, "2.10"), 1.11);  // ten comes after nine
  EXPECT_EQ(sdk_engine_time(factors, "2.14.2"), 1.11);
  EXPECT_EQ(sdk_engine_time(factors, "2.15.0"), 1);
  EXPECT_EQ(sdk_engine_time(factors, "3.0"), 1);
}

TEST(SdkCallTime, OlderReleasesCostMoreByTheCallAndMostWithImages) {
  NeuronFactors factors = with_releases();
  factors.sdk_call_time = {{"2.9", 1.5}};
  factors.sdk_image_call_time = {{"2.17", 2}};
  EXPECT_EQ(sdk_call_time(factors, "2.16.0", false), 1);
  EXPECT_EQ(sdk_call_time(factors, "2.16.0", true), 2);
  EXPECT_EQ(sdk_call_time(factors, "2.8.0", false), 1.5);
  EXPECT_EQ(sdk_call_time(factors, "2.8.0", true), 3);
  EXPECT_EQ(sdk_call_time(factors, "2.18.0", true), 1);
  EXPECT_EQ(sdk_call_time(factors, "", true), 1);
}

TEST(SdkEngineTime, IsOneWhenNothingIsStated) {
  EXPECT_EQ(sdk_engine_time(with_releases(), ""), 1);
  EXPECT_EQ(sdk_engine_time(NeuronFactors(), "2.9"), 1);
}

TEST(SdkEngineTime, AKeyWithPatchReleaseEndsThere) {
  NeuronFactors factors;
  factors.sdk_engine_time = {{"2.18.0", 1.32}};
  EXPECT_EQ(sdk_engine_time(factors, "2.18.0"), 1.32);
  EXPECT_EQ(sdk_engine_time(factors, "2.18.1"), 1);
}

TEST(SdkEngineTime, ReleasesAfterTheNewestEntryAreNotCovered) {
  const NeuronFactors factors = with_releases();
  EXPECT_TRUE(sdk_is_covered(factors.sdk_engine_time, "2.14.2"));
  EXPECT_FALSE(sdk_is_covered(factors.sdk_engine_time, "2.15.0"));
  EXPECT_FALSE(sdk_is_covered({}, "2.9"));
}

TEST(SdkVersion, ReleasesBeforeAnotherOne) {
  EXPECT_EQ(releases_before("2.14.1", "2.18.0"), 4);
  EXPECT_EQ(releases_before("2.9", "2.10"), 1);
  EXPECT_EQ(releases_before("2.18.0", "2.18.1"), 0);
  EXPECT_EQ(releases_before("2.20", "2.18"), 0);
  EXPECT_EQ(releases_before("", "2.18"), 0);
  EXPECT_EQ(releases_before("1.19", "2.3"), 3);
  EXPECT_THROW(releases_before("newest", "2.18"), UserError);
}

TEST(SdkEngineTime, TheNewestReleaseOfAllTables) {
  EXPECT_EQ(newest_release({{{"2.9", 1.15}, {"2.14", 1.11}}, {{"2.12.3", 1.2}}}), "2.14");
  EXPECT_EQ(newest_release({{}, {}}), "");
}

TEST(SdkEngineTime, RefusesWhatIsNoVersion) {
  for (const char* text : {"2", "2.", "latest", "2.x", "2.9.1.0", "-2.9", "2,9", "2..9"}) {
    EXPECT_THROW(sdk_engine_time(with_releases(), text), UserError) << text;
    EXPECT_THROW(check_sdk_version(text), UserError) << text;
  }
}

}  // namespace
}  // namespace foretell
