#include "model/predict/gpu_generation.hpp"

#include <map>

#include "model/predict/decode_steps.hpp"
#include "model/predict/generation.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kBlock = 128;  // positions of the KV cache that kernels walk together

}  // namespace

Metrics run_gpu_generation(const GpuGeneration& generation) {
  std::map<std::int64_t, Seconds> known;
  const StepTime time = [&](std::int64_t kv_len) {
    const auto found = known.find(kv_len);
    if (found != known.end()) return found->second;
    return known[kv_len] = generation.decode(kv_len).call;
  };
  const std::int64_t prompt = generation.prompt_in_cache ? generation.input_len : 0;
  const std::int64_t first = prompt + 2;
  const std::int64_t last = prompt + generation.output_len;
  GenerationMetrics result;
  result.ttft = generation.prefill().call;
  if (!generation.prompt_in_cache) result.ttft += time(1);
  result.steps = generation.exact ? executed_steps(first, last, time)
                                  : interpolated_steps(first, last, kBlock, time);
  result.total = result.ttft;
  for (const GenerationMetrics::Step& step : result.steps) {
    result.total += static_cast<double>(step.tokens) * step.time;
  }
  result.slowest_stage = result.total;
  Metrics metrics = generation.decode(median_positions(prompt, generation.output_len));
  result.tpot = metrics.call;
  metrics.call = result.total;
  metrics.generation = std::move(result);
  return metrics;
}

}  // namespace foretell
