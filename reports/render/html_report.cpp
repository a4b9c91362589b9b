#include "reports/render/html_report.hpp"

#include "model/base/errors.hpp"
#include "reports/render/page/report_page.hpp"

namespace foretell {
namespace {

constexpr std::string_view kEndTag = "</script>";

}  // namespace

void check_page() {
  if (report_page().empty()) {
    throw UserError(
        "this foretell was built without the HTML page, which needs npm; install nodejs and npm "
        "and build again, or name a .md or .csv file");
  }
}

std::string html_report(const ReportContent& content) {
  check_page();
  return fill_page(report_page(), page_data(content));
}

std::string fill_page(std::string_view page, const std::string& data) {
  const std::size_t tag = page.find(kReportPageDataTag);
  FORETELL_CHECK(tag != std::string_view::npos, "the report page has no place for data");
  const std::size_t begin = tag + kReportPageDataTag.size();
  const std::size_t end = page.find(kEndTag, begin);
  FORETELL_CHECK(end != std::string_view::npos, "the place for data does not end");
  std::string html(page.substr(0, begin));
  html += data;
  html += page.substr(end);
  return html;
}

}  // namespace foretell
