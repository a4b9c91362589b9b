// Records as JSON lines: one record per line, empty lines ignored, gzip read as it is.
#pragma once

#include <string>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

// UserError with file:line for the first line that is no record, and for a file without records.
std::vector<RunRecord> read_json_lines(const std::string& path);

std::string to_json_lines(const std::vector<RunRecord>& records);

}  // namespace foretell
