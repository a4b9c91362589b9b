#include "reports/compare/record_diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "reports/record/testing/example_record.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Tolerances tolerance(const std::string& text) {
  Tolerances result;
  add_tolerance(text, result);
  return result;
}

RunRecord slower(double factor) {
  RunRecord record = example_record();
  record.summary.latency_s *= factor;
  return record;
}

TEST(RecordDiff, EqualRecordsHaveNoDifference) {
  EXPECT_THAT(diff_records({example_record()}, {example_record()}, {}), IsEmpty());
}

TEST(RecordDiff, WithoutToleranceTheLastBitCounts) {
  const auto differences = diff_records({example_record()}, {slower(1 + 1e-15)}, {});
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0].field, "latency_s");
  EXPECT_THAT(differences[0].record, HasSubstr("bert-large-uncased on inf2.xlarge, bf16-matmul"));
}

TEST(RecordDiff, ToleranceIsTestedOnBothSides) {
  for (const double sign : {-1.0, 1.0}) {
    EXPECT_THAT(diff_records({example_record()}, {slower(1 + sign * 0.00099)}, tolerance("0.1%")),
                IsEmpty());
    EXPECT_EQ(
        diff_records({example_record()}, {slower(1 + sign * 0.00101)}, tolerance("0.1%")).size(),
        1U);
  }
}

TEST(RecordDiff, ANamedFieldHasItsOwnTolerance) {
  EXPECT_THAT(diff_records({example_record()}, {slower(1.05)}, tolerance("latency_s=6%")),
              IsEmpty());
  EXPECT_EQ(diff_records({example_record()}, {slower(1.05)}, tolerance("call_s=6%")).size(), 1U);
}

std::vector<std::string> fields_of(const std::vector<RecordDifference>& differences) {
  std::vector<std::string> fields;
  for (const RecordDifference& difference : differences) fields.push_back(difference.field);
  return fields;
}

TEST(RecordDiff, ARunThatWasChangedOnPurposeIsHeldAgainstItself) {
  RunRecord changed = slower(0.5);
  changed.context.set = {"device.hbm.bandwidth=1.6 TB/s"};
  const auto differences = diff_records({example_record()}, {changed}, {});
  EXPECT_THAT(fields_of(differences), testing::ElementsAre("set", "latency_s"));
  EXPECT_NEAR(differences[1].relative, -0.5, 1e-12);

  RunRecord elsewhere = example_record();
  elsewhere.context.system = "inf2.24xlarge";
  EXPECT_THAT(fields_of(diff_records({example_record(), changed}, {elsewhere, changed}, {})),
              testing::ElementsAre("system"));
}

TEST(RecordDiff, FactorsAreSaidWhereSomethingMoved) {
  RunRecord other = example_record();
  other.context.factors = "others@1";
  EXPECT_THAT(diff_records({example_record()}, {other}, {}), IsEmpty());
  other.summary.latency_s *= 2;
  EXPECT_THAT(fields_of(diff_records({example_record()}, {other}, {})),
              testing::ElementsAre("factors", "latency_s"));
}

TEST(RecordDiff, TextsAndMissingValuesAreDifferences) {
  RunRecord other = example_record();
  other.summary.bottleneck = "HBM";
  other.summary.cost_usd_per_million.reset();
  const auto differences = diff_records({example_record()}, {other}, tolerance("100%"));
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(differences[0].field, "cost_usd_per_million");
  EXPECT_EQ(differences[0].actual, "");
  EXPECT_EQ(differences[1].actual, "HBM");
}

TEST(RecordDiff, RunsOnOneSideOnlyAreNamed) {
  RunRecord other = example_record();
  other.context.scenario.batch = 16;
  RunRecord third = other;
  third.context.scenario.batch = 32;
  const auto differences = diff_records({example_record()}, {other, third}, {});
  ASSERT_EQ(differences.size(), 3U);
  EXPECT_EQ(differences[0].expected, "present");
  EXPECT_EQ(differences[1].actual, "present");
  EXPECT_EQ(differences[2].actual, "present");
}

TEST(RecordDiff, VersionsAndFactorsAreNotCompared) {
  RunRecord other = example_record();
  other.context.version = "9.9.9";
  other.context.factors = "other@1";
  EXPECT_THAT(diff_records({example_record()}, {other}, {}), IsEmpty());
}

TEST(RecordDiff, BadTolerancesSayWhatToWrite) {
  const auto error = [](const char* text) {
    return message_of<UserError>([&] { tolerance(text); });
  };
  for (const char* text : {"0.1", "-1%", "x%", "latency_s=", "nan%", "%"}) {
    EXPECT_THAT(error(text), HasSubstr("write 0.1% or latency_s=0.1%")) << text;
  }
  EXPECT_THAT(error("latency=1%"), HasSubstr("unknown field 'latency'; nearest is 'latency_s'"));
}

}  // namespace
}  // namespace foretell
