// A record of a service for people.
#pragma once

#include <string>

#include "reports/record/serve_record.hpp"

namespace foretell {

// Times in milliseconds, with intervals of the means.
std::string serve_text(const ServeRecord& record);

}  // namespace foretell
