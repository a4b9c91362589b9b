// Records inside the report page: one HTML file that needs nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

// Fills the page of this build. UserError when it was built without the page.
std::string html_report(const std::vector<RunRecord>& records);

// The same with another page; InternalError when it has no place for the records.
std::string fill_page(std::string_view page, const std::vector<RunRecord>& records);

}  // namespace foretell
