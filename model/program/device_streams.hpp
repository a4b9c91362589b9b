// The streams of programs for GPUs and CPUs, and how a mapping fills them.
#pragma once

#include <string>
#include <vector>

#include "model/program/program_builder.hpp"

namespace foretell {

// A GPU: grids, collectives, grids that run beside the first ones, and the host where it
// launches one after the other.
inline constexpr std::size_t kGridStream = 0;
inline constexpr std::size_t kGpuCollectives = 1;
inline constexpr std::size_t kBesideStream = 2;
inline constexpr std::size_t kGpuHost = 3;
std::vector<Stream> gpu_streams(bool host);

// Appends a grid, or the collective that it is when it has an exchange, to streams of a GPU. It
// begins when `after` have ended; the result depends on it alone. `stream`: of grids.
Deps emit_grid(ProgramBuilder& builder, Grid grid, const Deps& after,
               std::size_t stream = kGridStream);

// One after the other, on behalf of no operator.
Program grids_in_order(const std::vector<Grid>& grids, const std::string& name = "kernels");

// A CPU: loops.
inline constexpr std::size_t kLoopStream = 0;
std::vector<Stream> cpu_streams();

}  // namespace foretell
