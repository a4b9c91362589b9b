// Files of one command that must not be the same.
#pragma once

#include <string>

#include "model/app/terminal/output.hpp"

namespace foretell {

// UserError when the result would overwrite the timeline.
void check_own_file(const std::string& trace, const OutputOptions& output);

}  // namespace foretell
