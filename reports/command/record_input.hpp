// Records from a file of either kind.
#pragma once

#include <string>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

// A SQLite store, recognised by its content, or JSON lines.
std::vector<RunRecord> read_records(const std::string& path);

}  // namespace foretell
