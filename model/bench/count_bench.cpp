// What counting operations and bytes for their energy costs: the same programs with entries that
// belong to an operator, for which modules count, and with entries that belong to none.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
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
constexpr int kPairs = 300;
constexpr double kMsPerSecond = 1e3;

double cpu_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

// Runs both programs in turn, so that other work of the machine meets both alike. The counter is
// how much longer the quickest run with counts takes than the quickest without, in per cent of CPU
// time.
template <typename Run>
void cost_of_counting(benchmark::State& state, const Run& run, const Program& counts,
                      const Program& counts_nothing) {
  const auto timed = [&run](const Program& program) {
    const double begin = cpu_seconds();
    benchmark::DoNotOptimize(run(program));
    return cpu_seconds() - begin;
  };
  double with = timed(counts);
  double without = timed(counts_nothing);
  for ([[maybe_unused]] auto _ : state) {
    with = std::min(with, timed(counts));
    without = std::min(without, timed(counts_nothing));
  }
  state.counters["with_ms"] = with * kMsPerSecond;
  state.counters["without_ms"] = without * kMsPerSecond;
  state.counters["cost_percent"] = 100 * (with / without - 1);
}

void count_on_neuron_core(benchmark::State& state) {
  const NeuronSystemSpec system = exemplar_inf2();
  RunSettings settings;
  settings.active_cores = 1;
  const auto run = [&](const Program& program) {
    return simulate(system, {}, settings, program).end;
  };
  cost_of_counting(state, run, linear_layer(kTiles, true), linear_layer(kTiles, false));
}
BENCHMARK(count_on_neuron_core)->Iterations(kPairs)->Unit(benchmark::kMillisecond);

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
  const Kept kept;
  const GpuSystemSpec system = GpuCatalog().load("h100-sxm").spec;
  const auto run = [&](const Program& program) {
    return simulate(GpuMachine{system.device}, program).end;
  };
  cost_of_counting(state, run, grids(true), grids(false));
}
BENCHMARK(count_on_gpu)->Iterations(kPairs)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace foretell
