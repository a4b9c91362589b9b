// Speed of the simulation itself: instructions and SystemC activations per second of wall time.
#include <benchmark/benchmark.h>

#include "model/bench/linear_layer.hpp"
#include "model/system/simulate.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

void simulate_linear_layer(benchmark::State& state) {
  const Program program = linear_layer(state.range(0), true);
  const NeuronSystemSpec system = exemplar_inf2();
  NeuronFactors factors;
  factors.semaphore_latency = Seconds(46e-9);  // as calib/factors has it
  RunSettings settings;
  settings.active_cores = static_cast<int>(state.range(1));
  double instructions = 0;
  double events = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Execution execution = simulate(system, factors, settings, program);
    instructions += static_cast<double>(execution.instructions);
    events += static_cast<double>(execution.events);
  }
  state.counters["instructions/s"] = benchmark::Counter(instructions, benchmark::Counter::kIsRate);
  state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
}
BENCHMARK(simulate_linear_layer)
    ->ArgNames({"tiles", "cores"})
    ->ArgsProduct({{100, 10'000}, {1, 2}})
    ->Unit(benchmark::kMillisecond);

void build_linear_layer(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) {
    benchmark::DoNotOptimize(linear_layer(state.range(0), true));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(build_linear_layer)->ArgName("tiles")->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace foretell

BENCHMARK_MAIN();
