#include "hw/spec/neuron/tile_sizes.hpp"

#include <algorithm>

namespace foretell {
namespace {

constexpr double kResultBytes = 4;  // of an FP32 sum in PSUM

}  // namespace

TileSizes tile_sizes(const CoreShape& core) {
  TileSizes sizes;
  sizes.rows = std::max({core.tensor.rows, core.tensor.columns, core.sbuf.partitions});
  const int across = std::max(core.psum.partitions, sizes.rows);
  const double columns = core.psum.capacity.value() / kResultBytes / core.psum.banks / across;
  sizes.bank_columns = static_cast<int>(columns / sizes.rows) * sizes.rows;
  return sizes;
}

}  // namespace foretell
