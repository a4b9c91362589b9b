// Records of calib/measurements as the tables of their kinds.
#pragma once

#include <string>
#include <vector>

#include "calib/import/read_measurements.hpp"

namespace foretell {

inline constexpr const char* kMeasuredBy = "measured_by";
inline constexpr const char* kMeasuredOn = "measured_on";
inline constexpr const char* kMeasuredDate = "measured_date";
inline constexpr const char* kMeasuredWith = "measured_with";

// Products of matrices on GPUs are of kind gemm, with the library as `framework`; everything else
// is of kind operator, in the columns that its reader wants (b, m, n, k, conv, rows, cols).
// Operators without such columns (streams, launches, transposes) are a part of their own,
// "operator.other", with their shape as it is. Records that are wrong are left out; `problems` gets
// a line "FILE:LINE: …" for each.
std::vector<MeasuredTable> record_tables(const std::string& path,
                                         std::vector<std::string>& problems);

}  // namespace foretell
