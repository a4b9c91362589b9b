// What counting operations and bytes for their energy costs: the same programs with entries that
// belong to an operator, for which modules count, and with entries that belong to none.
#include <benchmark/benchmark.h>

#include <utility>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/bench/linear_layer.hpp"
#include "model/program/device_streams.hpp"
#include "model/system/machine.hpp"
#include "model/system/simulate.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

constexpr int kTiles = 10'000;
constexpr int kGrids = 2'000;

void count_on_neuron_core(benchmark::State& state) {
  const Program program = linear_layer(kTiles, state.range(0) != 0);
  const NeuronSystemSpec system = exemplar_inf2();
  RunSettings settings;
  settings.active_cores = 1;
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(simulate(system, {}, settings, program).end);
}
BENCHMARK(count_on_neuron_core)->ArgName("counts")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

Program grids(bool counts) {
  ProgramBuilder builder("grids", gpu_streams(false));
  if (counts) builder.begin_operator("grids");
  Deps deps;
  for (int i = 0; i < kGrids; ++i) {
    Grid grid;
    grid.name = "product";
    grid.ctas = {{4 * 132, Seconds(20e-6)}};
    grid.launch = Seconds(2e-6);
    grid.dram_bytes = Bytes(60e6 + i);  // no two alike, or one would stand for all
    grid.dram_rate = BytesPerSecond(2.9e12);
    grid.work.matrix_16 = Flops(1e12);
    deps = emit_grid(builder, std::move(grid), deps);
  }
  return std::move(builder).finish();
}

void count_on_gpu(benchmark::State& state) {
  const Program program = grids(state.range(0) != 0);
  const Kept kept;
  const GpuSystemSpec system = GpuCatalog().load("h100-sxm").spec;
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(simulate(GpuMachine{system.device}, program).end);
}
BENCHMARK(count_on_gpu)->ArgName("counts")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace foretell
