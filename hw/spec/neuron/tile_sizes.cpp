#include "hw/spec/neuron/tile_sizes.hpp"

#include <algorithm>

namespace foretell {
namespace {

constexpr double kResultBytes = 4;  // of an FP32 sum in PSUM

// The share of an array side that is used by a tile of these rows, taken in parts.
double used_share(int rows, int side) {
  const int parts = (rows + side - 1) / side;
  return static_cast<double>(rows) / (parts * side);
}

int rows_of_tile(const CoreShape& core) {
  const int partitions = core.sbuf.partitions;
  const int larger = std::max(core.tensor.rows, core.tensor.columns);
  if (larger >= partitions) return larger;
  const auto used = [&](int rows) {
    return used_share(rows, core.tensor.rows) * used_share(rows, core.tensor.columns) * rows /
           partitions;
  };
  int best = partitions;
  for (const int side : {core.tensor.rows, core.tensor.columns}) {
    const int whole = partitions / side * side;
    if (used(whole) > used(best)) best = whole;
  }
  return best;
}

}  // namespace

TileSizes tile_sizes(const CoreShape& core) {
  TileSizes sizes;
  sizes.rows = rows_of_tile(core);
  const int across = std::max(core.psum.partitions, sizes.rows);
  const double columns = core.psum.capacity.value() / kResultBytes / core.psum.banks / across;
  sizes.bank_columns = static_cast<int>(columns / sizes.rows) * sizes.rows;
  return sizes;
}

}  // namespace foretell
