// The bridge from a resolved request to mapping and system.
#include <algorithm>

#include "hw/spec/neuron/group_sizes.hpp"
#include "hw/spec/neuron/sdk_version.hpp"
#include "model/app/request/memory_check.hpp"
#include "model/app/request/resolved_request.hpp"
#include "model/app/request/trace_file.hpp"
#include "model/base/text.hpp"
#include "model/predict/neuron_call.hpp"
#include "model/predict/neuron_generation.hpp"

namespace foretell {
namespace {

// Every layer is executed for a timeline; the prediction itself stays what it is without one.
void write_timeline(const std::string& path, NeuronCall call) {
  if (path.empty()) return;
  call.for_timeline = true;
  const NeuronCallResult result = run_neuron_call(call);
  write_trace_file(path, {{"", result.program, result.execution, result.shown}});
}

// Of the first stage: the prefill and, after it, the median decode step.
void write_timeline(const std::string& path, const NeuronGeneration& generation) {
  if (path.empty()) return;
  const GenerationTimeline calls = generation_timeline(generation);
  write_trace_file(
      path, {{"prefill", calls.prefill.program, calls.prefill.execution, calls.prefill.shown},
             {"decode step", calls.step.program, calls.step.execution, calls.step.shown}});
}

// Share of the arithmetic that convolutions and their gradients do.
double convolution_share(const Graph& graph) {
  double convolutions = 0;
  double all = 0;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
    const double flops = graph.flops(id).value();
    all += flops;
    if (starts_with(graph.op(id).kind, "Conv")) convolutions += flops;
  }
  return all > 0 ? convolutions / all : 0;
}

double engine_time_of_release(const ResolvedRequest& resolved, const Graph& graph) {
  return sdk_engine_time(resolved.system.factors, resolved.request.sdk, convolution_share(graph));
}

// Copies sum their gradients: they work in lock step, like the cores of one copy elsewhere.
Metrics simulate_training(const ResolvedRequest& resolved) {
  require_group_size(resolved.system.spec, resolved.request.dp, "a sum of gradients over --dp");
  const TrainingStep step = build_training_step(resolved);
  const MemoryUse memory = check_memory(resolved);
  NeuronCall call{step.graph, resolved.precision, resolved.system.spec, resolved.system.factors};
  call.copies_per_device = cores_per_device(resolved);
  call.tensor_parallel = resolved.request.dp;
  call.sdk_engine_time = engine_time_of_release(resolved, step.graph);
  call.exact = resolved.request.exact;
  write_timeline(resolved.request.trace_file, call);
  Metrics metrics = run_neuron_call(call).metrics;
  metrics.memory = memory;
  note_training(step, resolved.request, metrics);
  return metrics;
}

Metrics simulate_forward(const ResolvedRequest& resolved) {
  if (trains(resolved.request)) return simulate_training(resolved);
  const Graph graph = build_resolved_graph(resolved);
  check_memory(resolved);
  NeuronCall call{graph, resolved.precision, resolved.system.spec, resolved.system.factors};
  call.copies_per_device = cores_per_device(resolved);
  call.sdk_engine_time = engine_time_of_release(resolved, graph);
  call.exact = resolved.request.exact;
  write_timeline(resolved.request.trace_file, call);
  return run_neuron_call(call).metrics;
}

Metrics simulate_generation(const ResolvedRequest& resolved) {
  const MemoryUse memory = check_memory(resolved);
  const Request& request = resolved.request;
  const NeuronFactors& factors = resolved.system.factors;
  const auto graph = [&resolved](GenerationPhase phase, std::int64_t tokens, std::int64_t kv_len,
                                 const LayerRange& layers) {
    const Phase which = phase == GenerationPhase::kPrefill ? Phase::kPrefill : Phase::kDecode;
    return build_generation_graph(resolved, which, tokens, kv_len, resolved.request.tp, layers);
  };
  const auto bucket = [&resolved](std::int64_t positions) {
    return compiled_length(resolved, positions);
  };
  NeuronGeneration generation{graph, bucket, resolved.precision, resolved.system.spec, factors};
  generation.input_len = request.input_len;
  generation.output_len = request.output_len;
  generation.prompt_in_cache = resolved.model.family != Family::kEncoderDecoder;
  generation.tensor_parallel = request.tp;
  generation.cores_per_device = cores_per_device(resolved);
  generation.sequence_parallel = request.sequence_parallel;
  generation.pipeline.layers = resolved.model.layers;
  generation.pipeline.stages = request.pp;
  generation.pipeline.stages_per_device = std::max(1, generation.cores_per_device / request.tp);
  // The overlay of compiler maturity was seen on encoders; generation has one of its own.
  generation.sdk_prefill_time = sdk_prefill_time(factors, request.sdk, request.batch);
  generation.exact_kv = request.kv == "exact";
  generation.host_sampling = request.sampling == "host";
  generation.exact = request.exact;
  write_timeline(request.trace_file, generation);
  Metrics metrics = run_neuron_generation(generation);
  metrics.memory = memory;
  return metrics;
}

}  // namespace

Metrics simulate(const ResolvedRequest& resolved) {
  return resolved.request.input_len > 0 ? simulate_generation(resolved)
                                        : simulate_forward(resolved);
}

}  // namespace foretell
