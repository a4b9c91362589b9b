// How sure predictions for a CPU are: intervals from rows that their own fit did not see, and how
// often they hold on rows that took no part in making them.
#pragma once

#include <vector>

#include "calib/fit/cpu_fit.hpp"
#include "calib/fitted/cpu/cpu_factors.hpp"
#include "calib/validate/statistics.hpp"

namespace foretell {

// By class of operator, from `cross` (cross_predicted_us of the rows). The correlation is the
// smallest with which the intervals of chains hold on 80 % of the first half of the blocks; 1 when
// none does, or when no block was measured.
CpuIntervals estimate_cpu_intervals(const CpuSystemSpec& system, const CpuFactors& factors,
                                    const std::vector<CpuRow>& rows,
                                    const std::vector<double>& cross);

// A row that no factor was fitted to against its prediction. It has an interval unless it is one of
// the blocks that the correlation comes from.
Comparison judge_cpu_row(const CpuSystemSpec& system, const CpuFactors& factors,
                         const CpuIntervals& intervals, const CpuRow& row);

}  // namespace foretell
