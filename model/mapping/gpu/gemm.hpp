// Kernels of a matrix product on a GPU.
#pragma once

#include "model/program/grid.hpp"
#include "model/timing/gpu/gemm_timing.hpp"

namespace foretell {

// The pass that quantises the activations, if the type has one, and the product itself: its thread
// blocks in raster order, along the columns of the result first, with the tiles at the edges as
// narrow as they are. `chosen` is what timing.fastest() gave for the shape.
GridSequence gemm_program(const GemmTiming& timing, const GemmShape& shape,
                          const GemmTimes& chosen);

}  // namespace foretell
