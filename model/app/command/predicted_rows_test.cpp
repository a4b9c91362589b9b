// Rows that predict wrote, as a page and in other forms.
#include "model/app/command/report/predicted_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/render/page/report_page.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTable =
    "System,Workload,batch,seq_len,Call_ms,team\n"
    "inf2.xlarge,bert-base-uncased,8,128,9,</script>\n"
    "inf2.xlarge,bert-base-uncased,none,128,,x\n";

const TableLayout& models() { return recognise_table({"system", "workload"}, "t"); }

TEST(PredictedRows, QuantitiesHaveTheirIntervalsAndMeasurements) {
  const TemporaryFolder folder;
  const std::string rows = folder.file("rows.jsonl");
  EXPECT_EQ(run_command({"predict", folder.write("t.csv", kTable), "-o", rows}).code,
            kOutsideTolerance);
  const ReportContent content = read_predicted_rows(rows);
  ASSERT_TRUE(content.predicted);
  EXPECT_EQ(content.predicted->total, 2U);
  EXPECT_EQ(content.predicted->failed, 1U);
  const PredictedQuantity& call = content.predicted->quantities.front();
  EXPECT_EQ(call.predicted, "pred_call_ms");
  EXPECT_EQ(call.low, "pred_call_lo_ms");
  EXPECT_EQ(call.high, "pred_call_hi_ms");
  EXPECT_EQ(call.measured, "Call_ms");
  EXPECT_THAT(content.problems, ElementsAre(HasSubstr("line 2: batch: 'none' is not allowed")));
}

TEST(PredictedRows, EveryKindOfTableHasAQuantityWithAnInterval) {
  for (const TableLayout& layout : table_layouts()) {
    CsvRow header = layout.required;
    header.insert(header.end(), layout.added.begin(), layout.added.end());
    const ReportContent content = PredictedRowsReport(layout, header).content();
    ASSERT_FALSE(content.predicted->quantities.empty()) << layout.name;
    const PredictedQuantity& first = content.predicted->quantities.front();
    EXPECT_NE(first.low, "") << layout.name;
    EXPECT_NE(first.high, "") << layout.name;
  }
}

TEST(PredictedRows, OfALongTableTheFirstRowsAreKeptAndAllAreCounted) {
  const CsvRow header = {"system", "workload", "pred_call_ms", "status", "message"};
  PredictedRowsReport report(models(), header, 100);
  for (int i = 0; i < 1000; ++i) report.add({"s", "w", std::to_string(i), "ok", ""}, 1);
  report.add({"s", "w", "", "error", "the last one"}, 1002);
  const ReportContent content = report.content();
  EXPECT_EQ(content.predicted->total, 1001U);
  EXPECT_EQ(content.predicted->failed, 1U);
  EXPECT_EQ(content.predicted->rows.size(), 5U);
  EXPECT_EQ(content.predicted->rows.back().at(2), "4");
  EXPECT_THAT(content.problems, ElementsAre("line 1002: the last one"));
}

TEST(PredictedRows, ComeBackAsTheyWereWritten) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", kTable);
  const std::string csv = folder.file("rows.csv");
  const std::string lines = folder.file("rows.jsonl");
  for (const std::string& file : {csv, lines}) run_command({"predict", table, "-o", file});
  EXPECT_EQ(run_command({"report", lines, "--format", "csv"}).result, folder.read("rows.csv"));
  EXPECT_EQ(run_command({"report", csv, "--format", "csv"}).result, folder.read("rows.csv"));
}

TEST(PredictedRows, APageSaysWhatIsMissing) {
  const TemporaryFolder folder;
  const std::string page = folder.file("p.html");
  const CommandResult made = run_command({"predict", folder.write("t.csv", kTable), "-o", page});
  const std::string empty = folder.write("e.csv", "system,workload\n");
  const CommandResult of_none = run_command({"predict", empty, "-o", folder.file("e.html")});
  if (report_page().empty()) {
    EXPECT_EQ(made.code, kUserMistake);
    EXPECT_THAT(made.messages, HasSubstr("built without the HTML page"));
    return;
  }
  EXPECT_EQ(made.code, kOutsideTolerance);
  EXPECT_THAT(
      folder.read("p.html"),
      AllOf(HasSubstr("\"predicted\":{\"header\":[\"System\""), HasSubstr("\\u003c/script>"),
            HasSubstr("line 3: batch: 'none' is not allowed"), HasSubstr("\"title\":\"t.csv\"")));
  EXPECT_EQ(of_none.code, kSuccess) << of_none.messages;
  EXPECT_THAT(folder.read("e.html"), HasSubstr("\"rows\":[],\"total\":0"));
}

TEST(PredictedRows, WhatIsWrongIsSaid) {
  const TemporaryFolder folder;
  const std::string row =
      "{\"system\":\"s\",\"workload\":\"w\",\"status\":\"ok\",\"message\":\"\"}\n";
  const auto report = [&](const std::string& text) {
    const CommandResult result = run_command({"report", folder.write("r.jsonl", text)});
    EXPECT_EQ(result.code, kUserMistake);
    return result.messages;
  };
  EXPECT_THAT(report(row + "{\"system\":"),
              HasSubstr("r.jsonl:2: a row of `predict --format json`, "
                        "but not whole; write it again"));
  EXPECT_THAT(report(row + "{\"system\":\"s\"}\n"), HasSubstr("r.jsonl:2: other columns than in"));
  EXPECT_THAT(report("{\"a\":1,\"status\":\"ok\",\"message\":\"\"}\n"),
              HasSubstr("the header fits no kind of table"));
  const std::string table = folder.write("t.csv", kTable);
  for (const std::string& output : {std::string("-"), folder.file("p.csv")}) {
    const CommandResult result = run_command({"predict", table, "--format", "html", "-o", output});
    EXPECT_EQ(result.code, kUserMistake);
    EXPECT_THAT(result.messages, HasSubstr("--format html: a page goes to a file; name one with"));
  }
}

}  // namespace
}  // namespace foretell
