// What a grid asks of a GPU from its first thread block to its end, when it runs alone: a few
// phases of constant demand.
//
// The thread blocks in waves and their bytes overlap as far as its stages are in flight
// (shared/closed_network.hpp); `both` is what
// that takes. In the first phase, until the first byte is there, no memory serves; then the waves
// that fill all places for thread blocks; then the last ones, which leave places free; at the end
// the tail, in which the SMs hold what is left. The times of the phases sum up to the time of the
// grid alone, which is what tables of kernels ask for: the simulated machine and the closed form
// are one function.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/program/grid.hpp"
#include "model/timing/gpu/fluid_share.hpp"

namespace foretell {

struct GridPhase {
  double time = 0;  // femtoseconds, alone
  GridDemand demand{};
  bool feeds = true;  // thread blocks compute while bytes arrive: not the tail
};

// How its thread blocks fill the SMs, in femtoseconds from the first one.
struct GridWaves {
  std::int64_t makespan = 0;
  std::int64_t drain = 0;  // from here on places stay free
  double busy = 0;         // places x femtoseconds / places
};

GridWaves grid_waves(const Grid& grid, int sms);

// What its bytes take of the memories, femtoseconds.
struct GridMemory {
  double last_byte = 0;  // from the first thread block, alone
  double dram = 0;       // that DRAM is held
  double l2 = 0;
};

// As its rates say, before the memories were asked.
GridMemory stated_memory(const Grid& grid);

// The time of the thread blocks and the bytes together, and of what follows them.
double grid_body(const Grid& grid, const GridWaves& waves, const GridMemory& memory);

// The part of it after the last thread block found a place.
double grid_drain(const Grid& grid, const GridWaves& waves, const GridMemory& memory);

// The shares of the SMs that its thread blocks hold while all its places are taken: all of the
// places where it does not state its needs, so that it runs beside no other block on an SM; else
// what they are of the limits that the chip has.
struct BlockShares {
  double places = 1;
  double threads = 0;
  double registers = 0;
  double shared_memory = 0;
};
BlockShares block_shares(const Grid& grid, const GpuSmSpec& sm);

// Their times sum up to `total`, femtoseconds; those of demands are stretched alike.
std::vector<GridPhase> grid_phases(const Grid& grid, const GridWaves& waves,
                                   const GridMemory& memory, double total,
                                   const BlockShares& shares = {});

// The demand of a phase where this share of all SMs, below 1, is held by something else. Thread
// blocks in fewer places take longer as a whole, but what they wait for of the memories does not:
// the grid runs at the speed of both together, and needs fewer places for it.
GridDemand demand_beside(const GridPhase& phase, double held, const Grid& grid,
                         const GridWaves& waves, const GridMemory& memory);

}  // namespace foretell
