// Whether what reads tables of measurements can read one that is about to be written.
#pragma once

#include <string>
#include <vector>

#include "calib/import/read_measurements.hpp"

namespace foretell {

// "t.csv:2: op: unknown op 'sofmax' …" for rows that predict, validate and calibrate fit refuse:
// each problem once, with how many more rows have it. Parts that nothing reads ("operator.other")
// have none.
std::vector<std::string> unreadable_rows(const MeasuredTable& table, const std::string& path);

}  // namespace foretell
