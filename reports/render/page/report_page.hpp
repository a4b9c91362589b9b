// The HTML report page as one string, bundled from src/ at build time.
#pragma once

#include <string_view>

namespace foretell {

// The element that holds the data: everything between this tag and the next "</script>" is to be
// replaced by an object of schema foretell.report/1, see page_data.hpp. The tag occurs exactly
// once.
inline constexpr std::string_view kReportPageDataTag =
    R"(<script type="application/json" id="foretell-data">)";

// The page without records; empty if this build was made without npm.
std::string_view report_page();

// The page of `foretell explore`, whose data element holds its choices; empty likewise.
std::string_view explore_page();

}  // namespace foretell
