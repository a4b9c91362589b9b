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
    "<html>" + std::string(kReportPageDataTag) + "[]</script><script>code()</script></html>";

TEST(HtmlReport, RecordsTakeThePlaceOfTheEmptyList) {
  const std::string html = fill_page(kPage, {example_record(), example_record()});
  EXPECT_THAT(html, HasSubstr(std::string(kReportPageDataTag) + "[{\"schema\":\"foretell.run/1\""));
  EXPECT_THAT(html, HasSubstr("}]</script><script>code()</script></html>"));
  EXPECT_THAT(html, Not(HasSubstr("[]</script>")));
}

TEST(HtmlReport, TextOfARecordCannotEndTheElement) {
  RunRecord record = example_record();
  record.context.workload = "</script><script>alert(1)</script>";
  const std::string html = fill_page(kPage, {record});
  EXPECT_THAT(html, HasSubstr("\\u003c/script>\\u003cscript>alert(1)"));
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
}

TEST(HtmlReport, APageWithoutAPlaceIsOurMistake) {
  EXPECT_THROW(fill_page("<html></html>", {example_record()}), InternalError);
}

TEST(HtmlReport, ThePageOfThisBuildTakesRecords) {
  if (report_page().empty()) {
    EXPECT_THROW(html_report({example_record()}), UserError);
  } else {
    EXPECT_THAT(html_report({example_record()}), HasSubstr("bert-large-uncased"));
  }
}

}  // namespace
}  // namespace foretell
