// The bridge from a resolved request to the model of a GPU.
#include "model/cli/gpu_request.hpp"
#include "model/predict/gpu_call.hpp"
#include "model/predict/gpu_generation.hpp"

namespace foretell {
namespace {

GpuCallResult run(const GpuRequest& resolved, const GpuFactors& factors, const Graph& graph) {
  GpuCall call{graph, resolved.precision, resolved.system.spec, factors};
  call.launch = resolved.launch;
  call.rotated_copies = resolved.rotated_copies;
  call.exact = resolved.request.exact;
  return run_gpu_call(call);
}

Metrics generate(const GpuRequest& resolved, const GpuFactors& factors) {
  const Request& request = resolved.request;
  const bool encodes = resolved.model.family == Family::kEncoderDecoder;
  GpuGeneration generation;
  generation.prefill = [&] {
    return run(resolved, factors,
               build_gpu_generation_graph(resolved, Phase::kPrefill, request.input_len,
                                          encodes ? cached_positions(resolved) : request.input_len,
                                          request.tp));
  };
  generation.decode = [&](std::int64_t kv_len) {
    return run(resolved, factors,
               build_gpu_generation_graph(resolved, Phase::kDecode, 1, kv_len, request.tp));
  };
  generation.input_len = request.input_len;
  generation.output_len = request.output_len;
  generation.prompt_in_cache = !encodes;
  generation.exact = request.exact;
  return run_gpu_generation(generation);
}

}  // namespace

Metrics simulate_gpu_request(const GpuRequest& resolved, const GpuFactors& factors) {
  const MemoryUse memory = check_gpu_memory(resolved);
  Metrics metrics = resolved.request.input_len > 0
                        ? generate(resolved, factors)
                        : run(resolved, factors, build_resolved_graph(resolved)).metrics;
  metrics.memory = memory;
  return metrics;
}

}  // namespace foretell
