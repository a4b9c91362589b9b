// Runs programs of parallel loops on a simulated CPU.
#pragma once

#include <vector>

#include "hw/spec/cpu_spec.hpp"
#include "model/base/units.hpp"
#include "model/program/cpu_loop.hpp"

namespace foretell {

// The time of each program, run one after another on cores that are built once. What a program
// finds in the caches is part of it (the bytes of its chunks), so that their order does not matter.
std::vector<Seconds> simulate_cpu(const CpuSystemSpec& system,
                                  const std::vector<CpuProgram>& programs);

}  // namespace foretell
