// Speed of predictions on GPUs, mapping and simulation: one layer of GPT-3 175B on four A100, and
// BERT-large on an H100.
#include <benchmark/benchmark.h>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/predict/calls/gpu_call.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/import/workload_set.hpp"

namespace foretell {
namespace {

void gpt3_layer(benchmark::State& state, Phase phase, std::int64_t tokens) {
  const Kept kept;
  const GpuSystemSpec system = GpuCatalog().load("a100-sxm-x4").spec;
  const GpuFactors factors(system.device, "");
  const PrecisionPolicy& precision = find_precision("fp16");
  ModelConfig model = WorkloadLibrary().load("gpt3-175b");
  override_workload({"workload.layers=1", "workload.context=4096"}, model);
  Binding binding;
  binding.batch = 8;
  binding.seq_len = tokens;
  binding.phase = phase;
  binding.kv_len = 2048;
  binding.tensor_parallel = 4;
  for ([[maybe_unused]] auto _ : state) {
    Graph graph = build_graph(model, binding);
    apply_precision(precision, &graph);
    benchmark::DoNotOptimize(run_gpu_call({{}, graph, precision, system, factors}).metrics.call);
  }
}
BENCHMARK_CAPTURE(gpt3_layer, prefill_8x2048, Phase::kPrefill, 2048)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(gpt3_layer, decode_8x2048, Phase::kDecode, 1)->Unit(benchmark::kMillisecond);

void bert_large(benchmark::State& state) {
  const Kept kept;
  const GpuSystemSpec system = GpuCatalog().load("h100-sxm").spec;
  const GpuFactors factors(system.device, "");
  const PrecisionPolicy& precision = find_precision("bf16");
  const ModelConfig model = WorkloadLibrary().load("bert-large-uncased");
  Binding binding;
  binding.batch = 8;
  binding.seq_len = 128;
  Graph graph = build_graph(model, binding);
  apply_precision(precision, &graph);
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(run_gpu_call({{}, graph, precision, system, factors}).metrics.call);
}
BENCHMARK(bert_large)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace foretell
