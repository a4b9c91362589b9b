#include "reports/render/html_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "reports/record/testing/example_record.hpp"
#include "reports/render/page/report_page.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kPage =
    "<html>" + std::string(kReportPageDataTag) + "{}</script><script>code()</script></html>";

ReportContent content_of(std::vector<RunRecord> records) {
  ReportContent content;
  content.title = "A title";
  content.records = std::move(records);
  return content;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(HtmlReport, DataTakeThePlaceOfTheEmptyObject) {
  EXPECT_EQ(fill_page(kPage, "[1]"), "<html>" + std::string(kReportPageDataTag) +
                                         "[1]</script><script>code()</script></html>");
}

TEST(HtmlReport, TextOfARecordCannotEndTheElement) {
  RunRecord record = example_record();
  record.context.workload = "</script><script>alert(1)</script>";
  ReportContent content = content_of({record});
  content.title = "<b>";
  content.accuracy = R"({"name":"<i>"})";
  EXPECT_THAT(page_data(content), HasSubstr("\\u003c/script>\\u003cscript>alert(1)"));
  EXPECT_THAT(page_data(content), Not(HasSubstr("<")));
}

TEST(HtmlReport, APageWithoutAPlaceIsOurMistake) {
  EXPECT_THROW(fill_page("<html></html>", "{}"), InternalError);
}

TEST(HtmlReport, ThePageOfThisBuildTakesRecords) {
  if (report_page().empty()) {
    EXPECT_THROW(html_report(content_of({example_record()})), UserError);
  } else {
    EXPECT_THAT(html_report(content_of({example_record()})), HasSubstr("bert-large-uncased"));
  }
}

TEST(PageData, WhatRecordsShareStandsOnce) {
  const std::string data = page_data(content_of({example_record(), example_record()}));
  EXPECT_EQ(count_of(data, "device.hbm.latency"), 1U);
  EXPECT_EQ(count_of(data, "NeuronCore"), 1U);
  EXPECT_EQ(count_of(data, "foretell.run/1"), 1U);
  EXPECT_EQ(count_of(data, "encoder.0.softmax"), 2U);
  EXPECT_THAT(data, HasSubstr(R"("left_out":0)"));
}

TEST(PageData, DetailsBeyondTheLimitAreLeftOutAndCountedTheFastestKept) {
  RunRecord slow = example_record();
  RunRecord fast = example_record();
  fast.summary.throughput *= 2;
  fast.operators.front().name = "of the fast one";
  const std::string data = page_data(content_of({slow, fast}), 700);
  EXPECT_THAT(data, HasSubstr(R"("left_out":1)"));
  EXPECT_THAT(data, HasSubstr("of the fast one"));
  EXPECT_EQ(count_of(data, "encoder.0.softmax"), 1U);
}

TEST(PageData, NumbersKeepSevenDigits) {
  RunRecord record = example_record();
  record.summary.latency_s = 0.0123456789012345;
  record.summary.memory_used_bytes = 34359738368;
  const std::string data = page_data(content_of({record}));
  EXPECT_THAT(data, HasSubstr(R"("latency_s":0.01234568)"));
  EXPECT_THAT(data, HasSubstr(R"("memory_used_bytes":34359738368)"));
}

}  // namespace
}  // namespace foretell
