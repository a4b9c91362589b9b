// The command line of the program that measures a GPU.
#pragma once

#include <string>
#include <vector>

#include "calib/measure/cuda/shape_plan.hpp"

namespace foretell {

struct MeasureOptions {
  std::string output = "measurements.jsonl";
  PlanOptions plan;
  std::string device_name;  // of the records; "": by the name of the chip
  int gpu = 0;              // by the order of the CUDA runtime
  int repeats = 15;
  bool list = false;        // only print the plan
  bool check_only = false;  // only check the results of the kernels
  bool help = false;
};

// `arguments` without the program's name. UserError for what is not understood.
MeasureOptions parse_measure_options(const std::vector<std::string>& arguments);

std::string measure_help();

// "NVIDIA H100 80GB HBM3" is "h100-sxm", by driver_names.yaml; a chip that hw/ does not have keeps
// its name in lower case with '-' between words. UserError where the project's data are not found.
std::string device_id_of(const std::string& chip, double memory_bytes);

}  // namespace foretell
