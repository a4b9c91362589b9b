// The command line of the program that measures a CPU.
#pragma once

#include <string>
#include <vector>

#include "calib/measure/cpu/cpu_plan.hpp"

namespace foretell {

struct MeasureCpuOptions {
  std::string output = "measurements.jsonl";
  CpuPlanOptions plan;      // threads: 0 are all cores
  std::string device_name;  // of the records; "": by the name of the CPU
  int repeats = 9;
  int rounds = 0;  // 0: by the plan
  double most_foreign = 0.04;
  int patience = 20;
  bool list = false;  // only print the plan
  bool help = false;
};

// `arguments` without the program's name. UserError for what is not understood.
MeasureCpuOptions parse_measure_cpu_options(const std::vector<std::string>& arguments);

std::string measure_cpu_help();

}  // namespace foretell
