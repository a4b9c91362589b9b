// In which tiles a NeuronCore works, from the sizes of its array and memories.
#pragma once

#include "hw/spec/neuron/core_shape.hpp"

namespace foretell {

// A tile has as many rows as the largest of the array's rows, its columns and the partitions of
// SBUF; a memory with fewer partitions holds several rows of a tile in each of them, one after the
// other. An array that is smaller than the partitions takes a tile in parts: as many rows as are
// whole parts of it, where that wastes less of the array than it leaves partitions unused.
struct TileSizes {
  int rows = 0;
  int bank_columns = 0;  // FP32 columns of a whole tile in a bank of PSUM, in whole multiples of
                         // rows; 0: a bank does not hold a transposed tile
};

TileSizes tile_sizes(const CoreShape& core);

}  // namespace foretell
