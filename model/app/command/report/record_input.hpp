// Records from a file of either kind.
#pragma once

#include <string>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

// The first line of a text file, also of a compressed one.
std::string first_line(const std::string& path);

// A SQLite store, recognised by its content, or JSON lines: records, points of a study, or
// services.
std::vector<RunRecord> read_records(const std::string& path);

}  // namespace foretell
