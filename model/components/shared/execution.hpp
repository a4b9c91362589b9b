// What the modules of a machine record: when each entry of a program ran and what it waited
// for, how long each module was at work, and what passed it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/base/energy_work.hpp"
#include "model/components/shared/ticks.hpp"
#include "model/program/program.hpp"

namespace foretell {

// An entry of a stream of the same program.
struct EntryRef {
  std::int32_t queue = -1;  // number of the stream; -1: none, the entry could start at once
  std::uint32_t index = 0;
};

struct EntryTimes {
  Ticks begin = 0;
  Ticks end = 0;
  EntryRef cause;  // the entry whose end decided when this one began
};

// What the entries of an operator kept busy and moved, where their work says so.
struct OperatorActivity {
  UnitTimes busy;
  Bytes dram;  // that the operator needs
  Bytes l2;
  Bytes link;  // sent to other devices
  EnergyWork work;
};

// One program on one core of a NeuronCore device, on one GPU or on one CPU.
struct ProgramExecution {
  ProgramExecution() = default;
  explicit ProgramExecution(const Program& program)
      : entries(program.streams.size()),
        busy(program.streams.size()),
        stalled(program.streams.size()),
        operators(program.operators.size()) {}

  std::vector<std::vector<EntryTimes>> entries;  // by stream of the program
  std::vector<Ticks> busy;                       // by stream: it ran an entry
  std::vector<Ticks> stalled;                    // had an entry, waited for a semaphore or a port
  std::vector<OperatorActivity> operators;       // of the program
  Ticks dma_busy = 0;                            // sum over the DMA engines / their number
  std::uint64_t loaded_bytes = 0;                // into SBUF
  std::uint64_t stored_bytes = 0;                // out of SBUF
  Ticks end = 0;                                 // last entry

  const EntryTimes& at(EntryRef ref) const {
    return entries[static_cast<std::size_t>(ref.queue)][ref.index];
  }
};

// A module over one run, by its path: "chip0.core0.tensor".
struct ModuleActivity {
  std::string path;
  Seconds busy;
  Seconds stalled;  // had work, waited for another
  double bytes = 0;
};

// What passed one direction of a link.
struct LinkTraffic {
  int from = 0;  // device
  int to = 0;
  std::uint64_t bytes = 0;
  Ticks busy = 0;
};

// One run of a program on a machine.
struct Execution {
  // Times count from the call; the host's overhead is part. Of a group in lock step: one core or
  // GPU; of a group that was executed as a whole: every rank.
  std::vector<ProgramExecution> cores;
  Ticks call_begin = 0;        // the cores start
  Ticks end = 0;               // the last core is done
  std::uint64_t hbm_read = 0;  // bytes, of the first chip
  std::uint64_t hbm_written = 0;
  Ticks hbm_busy = 0;
  std::uint64_t instructions = 0;       // entries executed
  std::uint64_t events = 0;             // SystemC activations
  std::vector<LinkTraffic> links;       // of a group: every direction of every link of the system
  std::vector<ModuleActivity> modules;  // that ran something
};

}  // namespace foretell
