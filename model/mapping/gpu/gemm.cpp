#include "model/mapping/gpu/gemm.hpp"

#include <algorithm>
#include <cmath>
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
void add_idle(const GemmTimes& chosen, GpuKernel& kernel) {
  std::int64_t placed = 0;
  for (const CtaRun& run : kernel.ctas) placed += run.count;
  const std::int64_t all = std::llround(chosen.thread_blocks);
  if (all > placed) add_ctas(kernel, all - placed, kernel.ctas.back().duration);
}

void add_tiles(const GemmTiming& timing, const GemmShape& shape, const GemmTimes& chosen,
               GpuKernel& kernel) {
  const GemmTile tile = chosen.tile;
  const std::int64_t tiles_m = tiles_of(shape.m, tile.m);
  const std::int64_t tiles_n = tiles_of(shape.n, tile.n);
  const auto add = [&](std::int64_t count, std::int64_t rows, std::int64_t columns) {
    if (count == 0) return;
    add_ctas(kernel, count * chosen.split, timing.thread_block(shape, chosen, rows, columns));
  };
  if (timing.library().vector_pipe) {  // edges take as long as whole tiles
    add(tiles_m * tiles_n * shape.batch, std::min<std::int64_t>(tile.m, shape.m),
        std::min<std::int64_t>(tile.n, shape.n));
    return;
  }
  const std::int64_t last_columns = last_of(shape.n, tile.n);
  const std::int64_t last_rows = last_of(shape.m, tile.m);
  if (last_columns == tile.n) {
    add((tiles_m - 1) * tiles_n, tile.m, tile.n);
    add(tiles_n, last_rows, tile.n);
    return;
  }
  const Seconds inside = timing.thread_block(shape, chosen, tile.m, tile.n);
  const Seconds edge = timing.thread_block(shape, chosen, tile.m, last_columns);
  for (std::int64_t row = 0; row + 1 < tiles_m; ++row) {
    add_ctas(kernel, (tiles_n - 1) * chosen.split, inside);
    add_ctas(kernel, chosen.split, edge);
  }
  add(tiles_n - 1, last_rows, tile.n);
  add(1, last_rows, last_columns);
}

GpuKernel quantise_kernel(const GemmTiming& timing, const GemmTimes& chosen) {
  GpuKernel kernel;
  kernel.name = "quantise";
  kernel.launch = timing.factors().quantise_launch;
  kernel.dram_rate = timing.dram_rate();
  kernel.dram_bytes = (chosen.quantise - kernel.launch) * kernel.dram_rate;
  return kernel;
}

}  // namespace

GpuProgram gemm_program(const GemmTiming& timing, const GemmShape& shape, const GemmTimes& chosen) {
  GpuProgram program;
  if (chosen.quantise > Seconds(0)) program.kernels.push_back(quantise_kernel(timing, chosen));
  GpuKernel kernel;
  kernel.dram_bytes = chosen.dram;
  kernel.dram_rate = chosen.dram_rate;
  kernel.overlap = chosen.overlap;
  if (chosen.gemv) {
    kernel.name = "gemv";
    kernel.launch = timing.factors().gemv_launch + chosen.extra_launch;
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
    add_tiles(timing, shape, chosen, kernel);
    add_idle(chosen, kernel);
  }
  program.kernels.push_back(std::move(kernel));
  return program;
}

}  // namespace foretell
