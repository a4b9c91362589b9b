#include "model/predict/gpu_generation.hpp"

#include <algorithm>
#include <map>

#include "model/mapping/gpu/collective_kernels.hpp"
#include "model/predict/decode_steps.hpp"
#include "model/predict/generation.hpp"
#include "model/predict/whole_call.hpp"
#include "model/system/gpu_run.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kBlock = 128;  // positions of the KV cache that kernels walk together

}  // namespace

Seconds handover_time(const GpuSystemSpec& system, const GpuFactors& factors, Bytes bytes) {
  const CollectiveKernels collectives(system, factors, system.device.launch_floor);
  const GpuKernel send = collectives.kernel("Send", {GpuCollective::kSend, 2, bytes});
  return simulate_gpu(system.device, {{{send}}}).front();
}

Metrics run_gpu_generation(const GpuGeneration& generation) {
  std::map<std::int64_t, Seconds> known;
  const StepTime time = [&](std::int64_t kv_len) {
    const auto found = known.find(kv_len);
    if (found != known.end()) return found->second;
    return known[kv_len] = generation.decode(kv_len).metrics.call;
  };
  const std::int64_t prompt = generation.prompt_in_cache ? generation.input_len : 0;
  const std::int64_t first = prompt + 2;
  const std::int64_t last = prompt + generation.output_len;
  GenerationMetrics result;
  const PipelinePass prefill = generation.prefill();
  result.ttft = prefill.metrics.call;
  if (!generation.prompt_in_cache) result.ttft += time(1);
  result.steps = generation.exact ? executed_steps(first, last, time)
                                  : interpolated_steps(first, last, kBlock, time);
  Seconds decode = result.ttft - prefill.metrics.call;
  for (const GenerationMetrics::Step& step : result.steps) {
    decode += static_cast<double>(step.tokens) * step.time;
  }
  result.total = prefill.metrics.call + decode;
  const PipelinePass median = generation.decode(median_positions(prompt, generation.output_len));
  Metrics metrics = median.metrics;
  result.slowest_stage = generation.stages == 1
                             ? result.total
                             : prefill.slowest + decode * (median.slowest / metrics.call);
  result.tpot = metrics.call;
  const auto steps =
      static_cast<double>(generation.output_len - (generation.prompt_in_cache ? 1 : 0));
  fill_whole_call(
      {{"prefill", &prefill.metrics, 1, prefill.metrics.call, Seconds(0)},
       {"decode", &median.metrics, steps, result.total - prefill.metrics.call, Seconds(0)}},
      metrics);
  metrics.call = result.total;
  metrics.generation = std::move(result);
  return metrics;
}

}  // namespace foretell
