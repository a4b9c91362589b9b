// The kernels of a call on a GPU as a timeline in the Chrome trace-event format, which Perfetto and
// chrome://tracing open: one process for the GPU, one thread per pipe that kernels mainly use, and
// a counter of what it sends over its links.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/base/units.hpp"

namespace foretell {

// A kernel on the timeline of a call.
struct KernelRun {
  std::string op;      // "encoder.0.attention.query"
  std::string kernel;  // "gemm 128x256"
  std::string engine;  // "tensor", "vector", "memory", "link"
  Seconds start;
  Seconds duration;
  Bytes link{};  // sent to other GPUs
};

// Throws UserError when `out` cannot be written.
void write_gpu_trace(std::ostream& out, const std::string& gpu,
                     const std::vector<KernelRun>& kernels);

}  // namespace foretell
