// The timeline of simulated calls as a file.
#pragma once

#include <string>
#include <vector>

#include "model/system/trace.hpp"

namespace foretell {

// Does nothing for an empty path. UserError when the file cannot be written, a full disk included.
void write_trace_file(const std::string& path, const std::vector<TracedCall>& calls);

}  // namespace foretell
