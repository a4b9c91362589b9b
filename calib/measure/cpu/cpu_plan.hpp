// Which points a measurement of a CPU takes.
#pragma once

#include <string>
#include <vector>

#include "calib/measure/harness/task.hpp"

namespace foretell {

struct CpuPlanOptions {
  bool quick = false;               // a part of the shapes, for two minutes
  int threads = 1;                  // all that there are; each point is measured with one and all
  std::vector<std::string> ops;     // empty: all
  std::vector<std::string> dtypes;  // empty: all
};

// In the order of measurement: first the quick plan, which has every operator, then the rest.
std::vector<MeasureTask> cpu_plan(const CpuPlanOptions& options);

// One small task for each operator and type of the plan, to compare with a reference.
std::vector<MeasureTask> cpu_checks(const std::vector<MeasureTask>& plan);

// "gemm", "conv", …: what the plan knows.
const std::vector<std::string>& cpu_ops();
const std::vector<std::string>& cpu_dtypes();

// Multiplies and adds of a task, counted as two each, and the bytes of its operands.
double task_flops(const MeasureTask& task);
double task_bytes(const MeasureTask& task);

}  // namespace foretell
