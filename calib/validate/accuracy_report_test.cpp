#include "calib/validate/accuracy_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "reports/record/testing/message_of.hpp"
#include "reports/render/output_format.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<Sample> samples() {
  return {{{"bert", "1"}, "call_ms", "N1", {10, 11, Interval{9, 12}}, ""},
          {{"bert", "8"}, "call_ms", "N2", {10, 9, Interval{7, 9}}, ""},
          {{"albert", "1"}, "call_ms", "N3", {10, 15, Interval{9, 20}}, ""},
          {{"albert", "1"}, "throughput", "N3", {100, 80, {}}, ""}};
}

TEST(AccuracyReport, GroupsByValuesAndQuantity) {
  const AccuracyReport report = build_report(samples(), {"workload", "batch"}, 2);
  ASSERT_EQ(report.overall.size(), 2U);
  EXPECT_EQ(report.overall[0].quantity, "call_ms");
  EXPECT_EQ(report.overall[0].accuracy.n, 3U);
  ASSERT_EQ(report.groups.size(), 4U);
  EXPECT_EQ(report.groups[0].group, (std::vector<std::string>{"albert", "1"}));
  EXPECT_EQ(report.groups[2].group, (std::vector<std::string>{"bert", "1"}));
}

TEST(AccuracyReport, NotesSayWhichIntervalTheRowsSupport) {
  std::vector<Sample> both = samples();
  both[0].network = "bert";
  both[2].network = "albert";
  const AccuracyReport report = build_report(both, {}, 0);
  ASSERT_EQ(report.notes.size(), 1U);
  // 10 / 11 and 10 / 15; each network alone makes an interval that misses the other.
  EXPECT_THAT(report.notes[0], HasSubstr("call_ms: 80 % of these measurements are 0.667 to 1.000"));
  EXPECT_THAT(report.notes[0], HasSubstr("made without a network holds 50.0 % of its rows"));
  EXPECT_TRUE(build_report(samples(), {}, 0).notes.empty());
}

TEST(AccuracyReport, WorstAreTheLargestErrorsOfEitherSign) {
  const AccuracyReport report = build_report(samples(), {}, 2);
  ASSERT_EQ(report.worst.size(), 2U);
  EXPECT_EQ(report.worst[0].quantity, "call_ms");
  EXPECT_EQ(report.worst[0].row, "N3");
  EXPECT_EQ(report.worst[1].quantity, "throughput");
  EXPECT_TRUE(report.groups.empty());
}

TEST(AccuracyReport, TextShowsGroupsTotalAndWorst) {
  AccuracyReport report = build_report(samples(), {"workload", "batch"}, 1);
  report.rows = 4;
  report.failed = 1;
  report.notes = {"rows with use=yes"};
  const std::string text = accuracy_text(report, 0);
  EXPECT_THAT(text, HasSubstr("bert      8      call_ms     1  10.0 %  10.0 %  10.0 %  -10.0 %"));
  EXPECT_THAT(text, HasSubstr("all              call_ms     3  23.3 %"));
  EXPECT_THAT(text, HasSubstr("N3   call_ms   10.00      15.00  +50.0 %"));
  EXPECT_THAT(text, HasSubstr("4 rows, 1 without a prediction\nnote: rows with use=yes\n"));
}

TEST(AccuracyReport, JsonAndCsvKeepEveryDigitAndEscape) {
  std::vector<Sample> quoted = samples();
  quoted[0].group[0] = "be\"rt, x";
  const AccuracyReport report = build_report(quoted, {"workload", "batch"}, 1);
  EXPECT_THAT(accuracy_json(report), HasSubstr(R"("group":["be\"rt, x","1"])"));
  EXPECT_THAT(accuracy_json(report), HasSubstr(R"("coverage80":null)"));
  const std::string csv = rows_text(accuracy_rows(report), Format::kCsv);
  EXPECT_EQ(
      csv.rfind("workload,batch,measured,n,mape,median,p90,bias,ratio10,ratio90,coverage80\n", 0),
      0U);
  EXPECT_THAT(csv, HasSubstr("\n,,call_ms,3,0.2333"));
  EXPECT_THAT(csv, HasSubstr("\"be\"\"rt, x\",1,call_ms,1,0.1"));
  EXPECT_THAT(csv, Not(HasSubstr("nan")));
}

TEST(AccuracyReport, JsonIsReadBack) {
  AccuracyReport report = build_report(samples(), {"workload", "batch"}, 1);
  report.samples = samples();
  report.notes = {"rows with <use>"};
  const std::string json = accuracy_json(report);
  const AccuracyReport back = accuracy_from_json(json, "a.json");
  EXPECT_EQ(accuracy_json(back), json);
  EXPECT_EQ(accuracy_text(back, 0), accuracy_text(report, 0));
  EXPECT_THAT(accuracy_markdown(back), HasSubstr("| bert | 8 | call_ms | 1 | 10.0 % |"));
  EXPECT_THAT(accuracy_markdown(back), HasSubstr("Note: rows with \\<use>"));
  const auto message = [](const std::string& text) {
    return message_of<UserError>([&] { accuracy_from_json(text, "a.json"); });
  };
  EXPECT_THAT(message(json.substr(0, json.size() / 2)), HasSubstr("a.json: the result of a"));
  EXPECT_THAT(message("{}"), HasSubstr("not whole"));
}

TEST(AccuracyReport, WithoutSamplesThereIsAnEmptyReport) {
  const AccuracyReport report = build_report({}, {"workload"}, 5);
  EXPECT_TRUE(report.overall.empty());
  EXPECT_THAT(accuracy_text(report, 0), HasSubstr("0 rows"));
}

// Two groups, one of each part; one of them measured twice, 10 % apart.
TEST(AccuracyReport, PartsAreShownApartWithTheNoiseOfRepeats) {
  const auto sample = [](double measured, Part part, const std::string& group) {
    Sample one;
    one.quantity = "call_ms";
    one.comparison = {measured, 100, Interval{90, 110}};
    one.division = part;
    one.divided_by = group;
    return one;
  };
  Repeats repeats;
  for (const double value : {95.0, 105.0}) repeats.add("call_ms", "a", value);
  const std::vector<PartAccuracy> rows = accuracy_by_part(
      {sample(95, Part::kFit, "a"), sample(105, Part::kFit, "a"), sample(200, Part::kJudge, "b")},
      repeats, "made up");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].name, "made up: call_ms");
  EXPECT_EQ(rows[0].rows, 3U);
  EXPECT_EQ(rows[0].groups, 2U);
  EXPECT_DOUBLE_EQ(rows[0].fit->coverage.value(), 1);
  EXPECT_DOUBLE_EQ(rows[0].judge->coverage.value(), 0);
  EXPECT_DOUBLE_EQ(rows[0].judge->mape, 0.5);
  EXPECT_FALSE(rows[0].vault.has_value());
  EXPECT_NEAR(rows[0].noise.value(), 0.05, 1e-12);
  AccuracyReport report = build_report({}, {}, 0);
  report.parts = rows;
  EXPECT_EQ(accuracy_text(report, 200).find("closed"), std::string::npos);
  report.parts[0].closed = true;
  EXPECT_NE(accuracy_text(report, 200).find("closed"), std::string::npos);
  report.parts[0].closed = false;
  report.parts[0].vault = rows[0].judge;
  report.parts[0].vault->mape = 0.123;
  EXPECT_EQ(accuracy_text(report, 200).find("closed"), std::string::npos);
  EXPECT_NE(accuracy_text(report, 200).find("12.3 %"), std::string::npos);
}

}  // namespace
}  // namespace foretell
