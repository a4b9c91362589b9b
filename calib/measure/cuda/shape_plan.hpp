// Which points are measured on a GPU, and which small ones are checked before.
#pragma once

#include <string>
#include <vector>

#include "calib/measure/harness/task.hpp"

namespace foretell {

struct PlanOptions {
  bool quick = false;               // about a tenth of the points
  std::vector<std::string> ops;     // only these; empty: all
  std::vector<std::string> dtypes;  // only these; empty: all
};

// Names of operators and types that can be asked for.
const std::vector<std::string>& measured_ops();
const std::vector<std::string>& measured_dtypes();

// The points in the order in which they are measured: a fixed shuffle, so that a clock that drifts
// over the run bends no shape family. The quick plan is the first points of every operator, type
// and condition of the whole. UserError for names that are not known, with the nearest.
std::vector<MeasureTask> make_plan(const PlanOptions& options);

// At least two small tasks, one of them with odd sizes where the operator takes any, for every
// operator and type of the plan.
std::vector<MeasureTask> make_checks();

// Floating-point operations and bytes that have to move between the chip and its memory when
// nothing is in a cache: what a measured time is held against.
double task_flops(const MeasureTask& task);
double task_bytes(const MeasureTask& task);

}  // namespace foretell
