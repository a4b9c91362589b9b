// Speed of the simulation itself: instructions and SystemC activations per second of wall time.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <utility>

#include "model/program/program_builder.hpp"
#include "model/system/simulate.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

Instruction instruction(Opcode opcode, std::uint32_t n) {
  Instruction made;
  made.opcode = opcode;
  made.type = ElementType::kBf16;
  made.out_type = ElementType::kBf16;
  made.n = n;
  made.aux = 128;
  return made;
}

// A linear layer as the engines see it, `tiles` times: load weights, multiply, drain, store.
Program linear_layer(std::int64_t tiles) {
  ProgramBuilder builder("linear");
  builder.begin_operator("linear");
  Transfer load;
  load.descriptors = 128;
  load.descriptor_bytes = 256;
  Transfer store = load;
  store.direction = TransferDirection::kStore;
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    Deps deps = builder.emit(Ring::kWeights, load, {});
    deps = builder.emit(Engine::kTensor, instruction(Opcode::kLoadStationary, 128), deps);
    Instruction multiply = instruction(Opcode::kMultiplyMoving, 512);
    multiply.psum_bank = static_cast<std::uint8_t>(tile % 8);
    multiply.flags = kWritesPsum | kStartsGroup | kEndsGroup;
    deps = builder.emit(Engine::kTensor, multiply, deps);
    Instruction drain = instruction(Opcode::kActivate, 512);
    drain.flags = kReadsPsum | kWritesSbuf;
    deps = builder.emit(Engine::kScalar, drain, deps);
    builder.emit(Ring::kOutputs, store, deps);
  }
  return std::move(builder).finish();
}

void simulate_linear_layer(benchmark::State& state) {
  const Program program = linear_layer(state.range(0));
  const NeuronSystemSpec system = exemplar_inf2();
  RunSettings settings;
  settings.active_cores = static_cast<int>(state.range(1));
  double instructions = 0;
  double events = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Execution execution = simulate(system, {}, settings, program);
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
    benchmark::DoNotOptimize(linear_layer(state.range(0)));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(build_linear_layer)->ArgName("tiles")->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace foretell

BENCHMARK_MAIN();
