// Token generation on any device: prefill, then decode steps against a growing KV cache.
//
// Where calls are compiled for lengths, a step reads the cache up to the length that it was
// compiled for, and each length is executed once. Otherwise a step reads up to its own position:
// steps are executed at a few positions and interpolated, or with `exact` every one is executed.
#pragma once

#include <cstdint>
#include <functional>

#include "model/base/metrics.hpp"
#include "model/predict/pipeline.hpp"

namespace foretell {

struct Generation {
  std::function<PipelinePass()> prefill;
  std::function<PipelinePass(std::int64_t kv_len)> decode;
  std::int64_t input_len = 0;
  std::int64_t output_len = 0;
  // The prompt is in the KV cache of the decode steps. Of an encoder-decoder it is not: the prefill
  // runs the encoder, and every output token needs a step, the first one too.
  bool prompt_in_cache = true;
  bool exact = false;
  int stages = 1;  // of a pipeline
  // The length for which a call is compiled that needs this many positions; empty: none is compiled
  // for a length.
  std::function<std::int64_t(std::int64_t positions)> bucket{};
  std::int64_t block = 128;    // positions of the cache that are walked together
  Seconds prefill_overhead{};  // of the host, before the prefill
  double prefill_factor = 1;   // the prefill takes this many times longer
  Seconds step_overhead{};     // of the host, for each step
  // What follows a pass before the next can begin, as logits that go to the host; empty: nothing.
  std::function<Seconds(const PipelinePass&)> afterwards{};
};

// Metrics of the median decode step, with Metrics::generation.
Metrics run_generation(const Generation& generation);

// The time to the first token alone: no step is executed where the prefill gives it.
Seconds run_first_token(const Generation& generation);

// The time of one decode step alone, with the host's part.
Seconds run_decode_step(const Generation& generation, std::int64_t positions);

// Positions that the median decode step of a run sees: half of the output is before it.
std::int64_t median_positions(std::int64_t input_len, std::int64_t output_len);

}  // namespace foretell
