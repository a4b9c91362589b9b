// A grid of thread blocks: a kernel of a GPU, one entry of a stream.
//
// How a mapping fills it, for one operator:
//   1. Decide the tile shape; ask ctas_per_sm() (model/timing/gpu/occupancy.hpp) how many thread
//   blocks
//      of it an SM holds. That throws when none fits.
//   2. `ctas`: the thread blocks in the order in which the hardware issues them, equal neighbours
//      as one run {count, duration}. A duration is what one thread block takes on its SM when
//      nothing outside the SM holds it up: prologue + steps x step time + epilogue, from a formula
//      of model/timing. Causal attention is one run per block of queries, q-block-major, so that
//      runs are long; a GEMM has interior tiles and edge tiles. The scheduler finds waves and
//      tails: do not multiply by waves, do not average.
//   3. `dram_bytes` at `dram_rate`, and `l2_bytes` at `l2_rate`: what all thread blocks together
//      move past the SMs, after L2 hits were taken off, and the rate that this kind of kernel
//      reaches alone on the chip. Both servers work in parallel; the slower one counts. They start
//      `memory_latency` after the kernel.
//   4. `stages_ahead`: stages of loads in flight ahead of the one that is computed
//      (model/timing/shared/closed_network.hpp): with 0 computing and memory add up, with many the
//      longer of the two counts.
//   5. `launch`: from the end of the kernel before to the first thread block, by LaunchKind of the
//      run. `tail`: what follows the last thread block (a reduction of split results).
//      `stretch` multiplies all of it (clocks under a power limit).
//      `early_launch` of that may pass while the last thread blocks of the grid before leave SMs
//      free and in its tail (programmatic dependent launch).
//   6. `exchange`: of a kernel that moves data between the GPUs of a group; it has no thread blocks
//      worth counting and takes launch + exchange. In a Program it is a Collective.
//   7. `busy`: how long each pipe and server would take alone, `moved` the bytes of memory that the
//      operator needs (`dram_bytes` counts what the kernel repeats, too). Modules add them up; they
//      do not decide how long the grid takes.
//   A pass without thread blocks worth counting (quantise, copy) leaves `ctas` empty: it takes
//   launch + memory_latency + bytes / rate. Separate launches are separate kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/base/energy_work.hpp"
#include "model/base/units.hpp"
#include "model/program/instruction.hpp"
#include "model/program/link_exchange.hpp"
#include "model/program/work_unit.hpp"

namespace foretell {

enum class LaunchKind { kGraph, kStream };

// Equal thread blocks, issued one after another.
struct CtaRun {
  std::int64_t count = 0;
  Seconds duration;
};

// What a thread block holds of its SM while it is there, where a program states it.
struct BlockNeeds {
  int threads = 0;  // 0: not stated, and no block of another grid shares an SM with it
  int registers = 0;
  Bytes shared_memory;

  bool stated() const { return threads > 0; }
};

struct Grid {
  std::string name;  // of the operator it belongs to, or what it does: "gemm 128x256"
  std::vector<CtaRun> ctas;
  int ctas_per_sm = 1;
  BlockNeeds needs;
  Seconds memory_latency;
  Bytes dram_bytes;
  BytesPerSecond dram_rate;  // above zero when there are bytes
  Bytes l2_bytes;
  BytesPerSecond l2_rate;
  double stages_ahead = 0;
  Seconds launch;
  Seconds early_launch;
  Seconds tail;
  double stretch = 1;
  LinkExchange exchange;
  UnitTimes busy;
  Bytes moved;
  EnergyWork work;               // arithmetic; bytes are those above unless it states some of L2
  std::string unit;              // that it mainly uses: "tensor", "vector", "memory"
  std::int32_t op = -1;          // operator it belongs to, for attribution
  std::uint32_t first_wait = 0;  // into Program::waits
  std::uint16_t wait_count = 0;
  std::uint16_t signal = kNoSemaphore;  // semaphore raised by 1 at the end
};

// Those of one operation, one after another.
struct GridSequence {
  std::vector<Grid> kernels;
};

// Appends thread blocks; equal neighbours become one run.
inline void add_ctas(Grid& kernel, std::int64_t count, Seconds duration) {
  if (count <= 0) return;
  if (!kernel.ctas.empty() && kernel.ctas.back().duration == duration) {
    kernel.ctas.back().count += count;
  } else {
    kernel.ctas.push_back({count, duration});
  }
}

}  // namespace foretell
