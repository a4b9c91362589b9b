#include "model/mapping/gpu/gemm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace foretell {
namespace {

std::int64_t tiles_of(std::int64_t length, int tile) { return (length + tile - 1) / tile; }

// Length of the last tile along a side.
std::int64_t last_of(std::int64_t length, int tile) {
  return length - (tiles_of(length, tile) - 1) * tile;
}

// Thread blocks that have no tile and only complete a cluster: they hold their SM as long as those
// of the last tiles do.
void add_idle(const GemmTimes& chosen, Grid& kernel) {
  std::int64_t placed = 0;
  for (const CtaRun& run : kernel.ctas) placed += run.count;
  const std::int64_t all = std::llround(chosen.thread_blocks);
  if (all > placed) add_ctas(kernel, all - placed, kernel.ctas.back().duration);
}

// Puts tiles into a kernel in raster order. In a persistent kernel all but the first of every SM
// are after another tile.
class TilePlacer {
 public:
  TilePlacer(const GemmTiming& timing, const GemmShape& shape, const GemmTimes& chosen,
             Grid& kernel)
      : timing_(timing),
        shape_(shape),
        chosen_(chosen),
        kernel_(kernel),
        first_(timing.library().persistent ? timing.sms()
                                           : std::numeric_limits<std::int64_t>::max()) {}

  void add(std::int64_t tiles, std::int64_t rows, std::int64_t columns) {
    const std::int64_t count = tiles * chosen_.split;
    if (count == 0) return;
    const std::int64_t now = std::min(count, first_);
    add_ctas(kernel_, now, timing_.thread_block(shape_, chosen_, rows, columns));
    if (count > now) {
      add_ctas(kernel_, count - now, timing_.thread_block(shape_, chosen_, rows, columns, true));
    }
    first_ -= now;
  }

 private:
  const GemmTiming& timing_;
  const GemmShape& shape_;
  const GemmTimes& chosen_;
  Grid& kernel_;
  std::int64_t first_;  // thread blocks that still find an SM without a tile
};

void add_tiles(const GemmTiming& timing, const GemmShape& shape, const GemmTimes& chosen,
               Grid& kernel) {
  const GemmTile tile = chosen.tile;
  const std::int64_t tiles_m = tiles_of(shape.m, tile.m);
  const std::int64_t tiles_n = tiles_of(shape.n, tile.n);
  TilePlacer placer(timing, shape, chosen, kernel);
  if (timing.library().whole_edges) {
    placer.add(tiles_m * tiles_n * shape.batch, std::min<std::int64_t>(tile.m, shape.m),
               std::min<std::int64_t>(tile.n, shape.n));
    return;
  }
  const std::int64_t last_columns = last_of(shape.n, tile.n);
  const std::int64_t last_rows = last_of(shape.m, tile.m);
  if (last_columns == tile.n) {
    placer.add((tiles_m - 1) * tiles_n, tile.m, tile.n);
    placer.add(tiles_n, last_rows, tile.n);
    return;
  }
  for (std::int64_t row = 0; row + 1 < tiles_m; ++row) {
    placer.add(tiles_n - 1, tile.m, tile.n);
    placer.add(1, tile.m, last_columns);
  }
  placer.add(tiles_n - 1, last_rows, tile.n);
  placer.add(1, last_rows, last_columns);
}

void add_stream_k(const GemmTiming& timing, const GemmShape& shape, const GemmTimes& chosen,
                  Grid& kernel) {
  const std::int64_t blocks = std::llround(chosen.thread_blocks);
  for (std::int64_t block = 0; block < blocks; ++block) {
    add_ctas(kernel, 1, timing.stream_k_block(shape, chosen, block));
  }
}

Grid quantise_kernel(const GemmTiming& timing, const GemmShape& shape) {
  Grid kernel;
  kernel.name = "quantise";
  kernel.launch = timing.factors().quantise_launch;
  kernel.dram_rate = timing.dram_rate();
  kernel.dram_bytes = timing.quantise_bytes(shape);
  if (timing.quantise_row() > Seconds(0)) add_ctas(kernel, shape.m, timing.quantise_row());
  kernel.stages_ahead = timing.factors().common.pass_stages;
  return kernel;
}

}  // namespace

GridSequence gemm_program(const GemmTiming& timing, const GemmShape& shape,
                          const GemmTimes& chosen) {
  GridSequence program;
  if (chosen.quantise > Seconds(0)) program.kernels.push_back(quantise_kernel(timing, shape));
  Grid kernel;
  kernel.dram_bytes = chosen.dram;
  kernel.dram_rate = chosen.dram_rate;
  kernel.stages_ahead = chosen.stages_ahead;
  if (chosen.gemv) {
    kernel.name = "gemv";
    kernel.launch = timing.factors().gemv_launch + chosen.extra_launch;
    kernel.tail = chosen.tail;
    add_ctas(kernel, std::llround(chosen.thread_blocks), chosen.compute);
  } else {
    kernel.name = "gemm " + std::to_string(chosen.tile.m) + "x" + std::to_string(chosen.tile.n);
    if (chosen.split > 1) kernel.name += " split " + std::to_string(chosen.split);
    kernel.launch = timing.factors().launch + chosen.extra_launch;
    kernel.memory_latency = chosen.prologue;
    kernel.l2_bytes = chosen.l2;
    kernel.l2_rate = timing.l2_rate();
    kernel.tail = chosen.tail;
    kernel.stretch = chosen.stretch;
    if (chosen.stream_k) {
      kernel.name += " stream-K";
      add_stream_k(timing, shape, chosen, kernel);
    } else {
      add_tiles(timing, shape, chosen, kernel);
      add_idle(chosen, kernel);
    }
  }
  program.kernels.push_back(std::move(kernel));
  return program;
}

}  // namespace foretell
