// A machine that runs one program: executors and the hardware around them, elaborated from a spec.
//
// A new kind of device derives an Executor and a Machine and adds the rows of its streams to the
// registry (model/components/shared/stream_registry.hpp); running, deadlocks, times and activities
// are the same for all.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hw/spec/cpu/cpu_spec.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/components/shared/execution.hpp"
#include "model/components/shared/executor.hpp"
#include "model/program/program.hpp"

namespace foretell {

class Machine {
 public:
  virtual ~Machine() = default;
  // Those that run the program; their paths in the results are those of their modules.
  virtual std::vector<Executor*> executors() = 0;
  // Path of an executor in results, with a dot at its end: "chip0.core0.".
  virtual std::string path_of(std::size_t executor) const = 0;
  virtual Ticks call_begin() const { return 0; }
  // What executors share: memory of devices, links.
  virtual void add_shared(Execution& /*execution*/) const {}
};

// Runs `program`, which has passed validate(), on the machine that `elaborate` makes; at most one
// at a time in a process. UserError when it deadlocks; the message says who waits for what.
Execution run_on_machine(const Program& program,
                         const std::function<std::unique_ptr<Machine>()>& elaborate);

// One GPU, or the GPUs of the largest group that a collective of the program has.
struct GpuMachine {
  const GpuDeviceSpec& device;
  bool every_gpu = false;  // all GPUs run the program; otherwise the first one stands for them
  bool exact = false;      // equal work is executed again and again
};

// The cores of a CPU system that the loops of the program need, and its memory.
struct CpuMachine {
  const CpuSystemSpec& system;
  bool exact = false;  // equal loops are executed again and again
};

// Streams: at most one of grids and one of collectives, whose exchanges have the same peak, and
// calls of the host; on a CPU one of loops. UserError for a program with others.
Execution simulate(const GpuMachine& machine, const Program& program);
Execution simulate(const CpuMachine& machine, const Program& program);

}  // namespace foretell
