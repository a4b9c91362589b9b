// Which tiles of a library an SM has room for.
//
// A thread block of a matrix product holds two stages of its operands in shared memory, one that is
// multiplied while the next arrives, and its sums of 32 bits in registers, or in tensor memory
// where there is one. That is the least that such a kernel can do with: libraries take more stages
// where there is room, which changes no tile.
#pragma once

#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/timing/gpu/gemm_library.hpp"
#include "model/timing/gpu/occupancy.hpp"

namespace foretell {

CtaResources tile_resources(const GpuDeviceSpec& device, const GemmType& type,
                            const GemmLibrary& library, const GemmTile& tile);

// The library with the tiles that fit. UserError for the smallest tile, with every limit that it
// exceeds, when none is left.
GemmLibrary with_fitting_tiles(const GpuDeviceSpec& device, const GemmType& type,
                               GemmLibrary library);

}  // namespace foretell
