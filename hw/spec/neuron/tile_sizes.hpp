// In which tiles a NeuronCore works, from the sizes of its array and memories.
#pragma once

#include "hw/spec/neuron/core_shape.hpp"

namespace foretell {

// A tile has as many rows as the largest of the array's rows, its columns and the partitions of
// SBUF. An array that is smaller takes a tile in parts; a memory with fewer partitions holds
// several rows of a tile in each of them, one after the other.
struct TileSizes {
  int rows = 0;
  int bank_columns = 0;  // FP32 columns of a whole tile in a bank of PSUM, in whole multiples of
                         // rows; 0: a bank does not hold a transposed tile
};

TileSizes tile_sizes(const CoreShape& core);

}  // namespace foretell
