#include "reports/render/html_report.hpp"

#include "model/base/errors.hpp"
#include "reports/render/page/report_page.hpp"

namespace foretell {
namespace {

constexpr std::string_view kEndTag = "</script>";

// "<" appears in JSON only inside strings, where it may be spelled as an escape; then no text of a
// record can end the element.
void append_escaped(std::string& html, const std::string& json) {
  for (const char c : json) {
    if (c == '<') {
      html += "\\u003c";
    } else {
      html += c;
    }
  }
}

}  // namespace

std::string html_report(const std::vector<RunRecord>& records) {
  if (report_page().empty()) {
    throw UserError(
        "this foretell was built without the HTML page, which needs npm; install nodejs and npm "
        "and build again, or name a .md or .csv file");
  }
  return fill_page(report_page(), records);
}

std::string fill_page(std::string_view page, const std::vector<RunRecord>& records) {
  const std::size_t tag = page.find(kReportPageDataTag);
  FORETELL_CHECK(tag != std::string_view::npos, "the report page has no place for records");
  const std::size_t begin = tag + kReportPageDataTag.size();
  const std::size_t end = page.find(kEndTag, begin);
  FORETELL_CHECK(end != std::string_view::npos, "the place for records does not end");
  std::string html(page.substr(0, begin));
  html += '[';
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i > 0) html += ",\n";
    append_escaped(html, to_json(records[i]));
  }
  html += ']';
  html += page.substr(end);
  return html;
}

}  // namespace foretell
