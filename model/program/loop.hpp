// A parallel loop: one entry of the stream of a CPU.
//
// A loop is a primitive of a kernel library: one thread prepares the call, the loop forks, every
// core works through its part of the chunks, and the loop joins when the last core is done. Chunks
// are dealt to the threads beforehand in contiguous parts as equal as possible, as OpenMP's static
// schedule and oneDNN's balance211 do.
//
// How a mapping fills it, for one operator:
//   1. `chunks`: what one turn of the loop body takes on one core, equal neighbours as one run.
//      `compute` is the arithmetic alone, `feed` the time to move its operands out of caches
//      that other cores do not disturb, `dram` the bytes that come from or go to memory.
//   2. Computing and moving overlap as far as the core has loads in flight, `stages_ahead` of what
//      it computes on (model/timing/shared/closed_network.hpp).
//   3. Memory bytes pass at `core_dram` at most per core and at `dram` for all cores together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/base/energy_work.hpp"
#include "model/base/units.hpp"
#include "model/program/instruction.hpp"
#include "model/program/work_unit.hpp"

namespace foretell {

// Equal chunks, one after another.
struct CpuChunkRun {
  std::int64_t count = 0;
  Seconds compute;
  Seconds feed;
  Bytes dram;
};

struct Loop {
  std::string name;
  std::string op_class;  // "product bf16", "softmax": what its error was measured with
  std::vector<CpuChunkRun> chunks;
  int threads = 1;
  double stages_ahead = 0;   // 0: computing and moving add up
  BytesPerSecond core_dram;  // above zero when there are bytes
  BytesPerSecond dram;
  Seconds call;                  // on one thread, before the fork
  Seconds fork_join;             // 0 with one thread
  EnergyWork work;               // arithmetic
  std::string unit;              // that it mainly uses: "cores", "memory"
  std::int32_t op = -1;          // operator it belongs to, for attribution
  std::uint32_t first_wait = 0;  // into Program::waits
  std::uint16_t wait_count = 0;
  std::uint16_t signal = kNoSemaphore;  // semaphore raised by 1 at the end
};

// What thread `thread` of the loop works on: its part of every run, in order.
inline std::vector<CpuChunkRun> part_of(const Loop& loop, int thread) {
  std::int64_t all = 0;
  for (const CpuChunkRun& run : loop.chunks) all += run.count;
  const std::int64_t share = all / loop.threads;
  const std::int64_t longer = all % loop.threads;  // the first threads take one chunk more
  const std::int64_t first = thread * share + (thread < longer ? thread : longer);
  const std::int64_t last = first + share + (thread < longer ? 1 : 0);
  std::vector<CpuChunkRun> part;
  std::int64_t at = 0;
  for (const CpuChunkRun& run : loop.chunks) {
    const std::int64_t begin = first > at ? first : at;
    const std::int64_t end = last < at + run.count ? last : at + run.count;
    if (end > begin) {
      part.push_back(run);
      part.back().count = end - begin;
    }
    at += run.count;
  }
  return part;
}

inline Bytes dram_of(const Loop& loop) {
  Bytes sum;
  for (const CpuChunkRun& run : loop.chunks) sum += static_cast<double>(run.count) * run.dram;
  return sum;
}

// How long each part would take alone, all threads together.
inline UnitTimes busy_of(const Loop& loop) {
  UnitTimes busy;
  busy[WorkUnit::kCalls] = loop.call;
  busy[WorkUnit::kForkJoin] = loop.fork_join;
  for (const CpuChunkRun& run : loop.chunks) {
    const double share = static_cast<double>(run.count) / loop.threads;
    busy[WorkUnit::kArithmetic] += share * run.compute;
    busy[WorkUnit::kCaches] += share * run.feed;
    const Bytes dram = static_cast<double>(run.count) * run.dram;
    if (!(dram > Bytes(0))) continue;
    const BytesPerSecond cores = loop.core_dram * loop.threads;
    busy[WorkUnit::kDram] += dram / (loop.dram < cores ? loop.dram : cores);
  }
  return busy;
}

}  // namespace foretell
