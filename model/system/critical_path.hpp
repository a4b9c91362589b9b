// Where the time of a simulated call went: the chain of entries, each waiting for the one before
// it, that ends with the last entry of the call.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "model/components/shared/execution.hpp"
#include "model/program/program.hpp"

namespace foretell {

// What a piece of the critical path was spent on.
enum class Critical {
  kTensor,
  kVector,
  kScalar,
  kGpSimd,
  kSync,
  kDma,
  kSynchronisation,
  kCollectives,
  kGrids,
  kLoops,
  kHost
};
inline constexpr int kCriticalCount = 11;
// "tensor engine", …, "dma", "synchronisation", "collectives", "kernels", "loops", …
std::string to_string(Critical critical);

using CriticalTimes = std::array<Ticks, kCriticalCount>;
Critical largest(const CriticalTimes& times);

struct CriticalPath {
  CriticalTimes total{};
  std::vector<CriticalTimes> by_operator;  // indexed by Instruction::op
};

CriticalPath critical_path(const Program& program, const ProgramExecution& execution);

}  // namespace foretell
