// What cannot be true of a table of measurements. Nothing is repaired or averaged: every problem is
// named with its line.
#pragma once

#include <string>
#include <vector>

#include "calib/import/read_measurements.hpp"

namespace foretell {

struct ImportRules {
  double tolerance = 0.25;      // two measurements of one shape may differ by this share
  std::size_t least_rows = 12;  // of a table; fewer say nothing about a factor
};

// "t.csv:7: latency_us: …" for times that are not above zero; times that are far below what the
// chip can do at its peak, or, for a whole table, far above (another unit); two rows that agree in
// all that is not measured but not in the time, with both lines; and too few rows.
std::vector<std::string> measurement_problems(const MeasuredTable& table, const std::string& path,
                                              const ImportRules& rules);

// UserError with the first twenty of the problems, how many more there are, and `ending`, on lines
// of their own. Nothing when there are none.
void refuse_problems(const std::vector<std::string>& problems, const std::string& ending);

// The least seconds that a row of a GPU can take: its arithmetic at the dense rate, its bytes
// beyond what L2 holds at the rate of DRAM, or its bytes over the links. 0 when nothing is known of
// it.
double least_seconds(const MeasuredTable& table, std::size_t row);

}  // namespace foretell
