// Kernels of a GPU, or parallel loops of a CPU, as a timeline in the Chrome trace-event format,
// which Perfetto and chrome://tracing open.
//
// One process per call; its first thread holds what goes before a kernel (launch, call of a
// primitive), and one thread each what kernels mainly use. Arrows lead from a launch to its kernel,
// and from a kernel to those that read what it wrote. Counters: the rates of device memory, of L2
// and of the links, each kernel's bytes spread evenly from the end of its launch to its own; and
// the power of the board, where kernels say what they draw.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/base/energy_units.hpp"
#include "model/base/units.hpp"

namespace foretell {

// A kernel on the timeline of a call.
struct KernelRun {
  std::string op;      // "encoder.0.attention.query"
  std::string kernel;  // "gemm 128x256"
  std::string engine;  // "tensor", "vector", "memory", "link"
  Seconds start;
  Seconds duration;
  Seconds launch{};  // the first part of the duration
  Bytes dram{};
  Bytes l2{};
  Bytes link{};                      // sent to other GPUs
  std::vector<std::size_t> reads{};  // kernels of the same call whose results it reads
  Watts power{};                     // mean of its operator above `idle_power`
  Watts idle_power{};                // of the board between kernels; 0: power is not known
  // The part of the duration in which no stream before its own ran: those of kernels sum up to the
  // time in which any ran.
  Seconds exposed{};
  std::string stream{};  // where it is not the first of its kind
};

// A call of a timeline; what is referred to has to outlive it.
struct KernelCall {
  std::string name;  // "prefill"; may be empty when there is only one
  const std::vector<KernelRun>& kernels;
};

// What the parts of a device are called.
struct KernelTraceWords {
  std::string device;
  std::string launch;  // "launch"
};

// One call after the other. UserError when `out` cannot be written.
void write_kernel_trace(std::ostream& out, const KernelTraceWords& words,
                        const std::vector<KernelCall>& calls);

}  // namespace foretell
