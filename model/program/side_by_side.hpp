// Programs that run at the same time on one machine: each keeps its streams, semaphores and
// operators, and none waits for another.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/program/program.hpp"

namespace foretell {

struct SideBySide {
  Program program;
  // Of each program given, the numbers of its streams; those without entries are left out.
  std::vector<std::vector<std::size_t>> streams;
};

// Names of streams, semaphores and operators are preceded by that of their program:
// "prefill.kernels".
SideBySide side_by_side(const std::vector<Program>& programs, const std::string& name);

}  // namespace foretell
