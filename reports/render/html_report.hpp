// The report page: one HTML file that needs nothing else.
#pragma once

#include <string>
#include <string_view>

#include "reports/render/page_data.hpp"

namespace foretell {

// UserError when this program was built without the page: call it before the work.
void check_page();

// Fills the page of this build. UserError when it was built without the page.
std::string html_report(const ReportContent& content);

// The same with another page; InternalError when it has no place for the data.
std::string fill_page(std::string_view page, const std::string& data);

}  // namespace foretell
