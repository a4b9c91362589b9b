// What `foretell sweep --format json` wrote: a study, a line per point.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

struct StudyLines {
  std::string name;
  std::vector<std::string> keys;  // that vary
  std::uint64_t points = 0;       // lines
  std::uint64_t skipped = 0;
  std::uint64_t outside = 0;  // predicted, but ruled out by a constraint on results
  std::vector<RunRecord> records;
  std::map<std::string, std::uint64_t> failures;  // message -> points
};

// Whether a line is one of these.
bool is_study_line(const std::string& line);

// UserError with file:line for what is none of these, or not whole.
StudyLines read_study_lines(const std::string& path);

}  // namespace foretell
