#include "reports/render/page/report_page.hpp"

namespace foretell {

std::string_view report_page() { return {}; }
std::string_view explore_page() { return {}; }

}  // namespace foretell
