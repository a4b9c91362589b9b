// A program of loops alone, one after the other.
#pragma once

#include <utility>
#include <vector>

#include "model/program/device_streams.hpp"
#include "model/program/program_builder.hpp"

namespace foretell {

inline Program loops_in_order(const std::vector<Loop>& loops) {
  ProgramBuilder builder("loops", cpu_streams());
  for (const Loop& loop : loops) builder.emit_to(kLoopStream, loop, {});
  return std::move(builder).finish();
}

}  // namespace foretell
