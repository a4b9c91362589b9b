// The timeline of a simulated call as a file.
#pragma once

#include <string>

#include "model/program/program.hpp"
#include "model/system/simulate.hpp"

namespace foretell {

// Does nothing for an empty path. UserError when the file cannot be written, a full disk included.
void write_trace_file(const std::string& path, const Program& program,
                      const ChipExecution& execution);

}  // namespace foretell
