// Token generation on one or more GPUs: prefill, then decode steps against a growing KV cache.
//
// A step reads the cache up to its own position. Steps are executed at a few positions and
// interpolated; `exact` executes every one.
#pragma once

#include <cstdint>
#include <functional>

#include "hw/spec/gpu_factors.hpp"
#include "hw/spec/gpu_spec.hpp"
#include "model/base/metrics.hpp"
#include "model/predict/pipeline.hpp"

namespace foretell {

struct GpuGeneration {
  std::function<PipelinePass()> prefill;
  std::function<PipelinePass(std::int64_t kv_len)> decode;  // the last one is the median step
  std::int64_t input_len = 0;
  std::int64_t output_len = 0;
  // Of an encoder-decoder the prompt is not in the cache of the decode steps, and the first output
  // token needs a step, too.
  bool prompt_in_cache = true;
  bool exact = false;
  int stages = 1;  // of a pipeline
};

// From a GPU of a stage to one of the next, simulated: a message over the links of the two, in the
// fastest protocol of NCCL over NVLink; by facts alone and over PCIe 1 us and the bytes at the rate
// of the links.
Seconds handover_time(const GpuSystemSpec& system, const GpuFactors& factors, Bytes bytes);

// Metrics of the median decode step, with Metrics::generation.
Metrics run_gpu_generation(const GpuGeneration& generation);

}  // namespace foretell
