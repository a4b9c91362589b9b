#include "model/predict/generation.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "model/predict/calls/whole_call.hpp"
#include "model/predict/decode_steps.hpp"

namespace foretell {
namespace {

class GenerationRunner {
 public:
  explicit GenerationRunner(const Generation& generation) : g_(generation) {}

  Seconds step_at(std::int64_t positions) { return step_time(length_of(positions)); }

  Seconds first_token() {
    const PipelinePass prefill = g_.prefill();
    return time_of_prefill(prefill) + first_after(prefill);
  }

  Metrics run() {
    const PipelinePass prefill = g_.prefill();
    const Seconds prefill_time = time_of_prefill(prefill);
    GenerationMetrics result;
    const Seconds first = first_after(prefill);
    result.ttft = prefill_time + first;
    result.steps = decode_steps();
    Seconds decode;
    for (const GenerationMetrics::Step& made : result.steps) {
      decode += static_cast<double>(made.tokens) * made.time;
    }
    result.total = result.ttft + decode;
    const std::int64_t kv_len = length_of(median_positions(cached_prompt(), g_.output_len));
    // The last call that is executed, for those who keep it.
    const PipelinePass median = g_.bucket ? step(kv_len) : g_.decode(kv_len);
    Metrics metrics = median.metrics;
    const auto count = static_cast<double>(g_.output_len - (g_.prompt_in_cache ? 1 : 0));
    fill_whole_call({{"prefill", &prefill.metrics, 1, prefill_time, g_.prefill_overhead},
                     {"decode", &median.metrics, count, result.total - prefill_time, Seconds(0)}},
                    metrics);
    result.tpot = time_of(median);
    result.slowest_stage = g_.stages == 1
                               ? result.total
                               : g_.prefill_overhead + prefill.slowest * g_.prefill_factor +
                                     (decode + (g_.prompt_in_cache ? Seconds(0) : first)) *
                                         (median.slowest / median.metrics.device);
    metrics.call = result.total;
    metrics.generation = std::move(result);
    return metrics;
  }

 private:
  // Tokens of the prompt that decode steps read keys and values of.
  std::int64_t cached_prompt() const { return g_.prompt_in_cache ? g_.input_len : 0; }

  std::int64_t length_of(std::int64_t positions) const {
    return g_.bucket ? g_.bucket(positions) : positions;
  }

  // The time of all output tokens but the first. A step reads the prompt, the tokens before its own
  // and its own.
  std::vector<GenerationMetrics::Step> decode_steps() {
    const std::int64_t first = cached_prompt() + 2;
    const std::int64_t last = cached_prompt() + g_.output_len;
    if (g_.bucket) return bucketed_steps(first, last);
    const StepTime time = [this](std::int64_t positions) { return step_time(positions); };
    return g_.exact ? executed_steps(first, last, time)
                    : interpolated_steps(first, last, g_.block, time);
  }

  std::vector<GenerationMetrics::Step> bucketed_steps(std::int64_t first, std::int64_t last) {
    std::vector<GenerationMetrics::Step> steps;
    while (first <= last) {
      const std::int64_t kv_len = g_.bucket(first);
      const std::int64_t until = std::clamp(kv_len, first, last);
      steps.push_back({kv_len, until - first + 1, step_time(kv_len)});
      first = until + 1;
    }
    return steps;
  }

  Seconds time_of_prefill(const PipelinePass& prefill) const {
    return g_.prefill_overhead + prefill.metrics.device * g_.prefill_factor;
  }

  // From the prefill to the first token.
  Seconds first_after(const PipelinePass& prefill) {
    return g_.prompt_in_cache ? afterwards(prefill) : step_time(length_of(1));
  }

  Seconds afterwards(const PipelinePass& pass) const {
    return g_.afterwards ? g_.afterwards(pass) : Seconds(0);
  }

  Seconds step_time(std::int64_t kv_len) { return time_of(step(kv_len)); }

  Seconds time_of(const PipelinePass& pass) const {
    return pass.metrics.device + afterwards(pass) + g_.step_overhead;
  }

  const PipelinePass& step(std::int64_t kv_len) {
    const auto known = steps_.find(kv_len);
    if (known != steps_.end()) return known->second;
    return steps_[kv_len] = g_.decode(kv_len);
  }

  const Generation& g_;
  std::map<std::int64_t, PipelinePass> steps_;  // by the rows of the cache that they read
};

}  // namespace

Seconds run_decode_step(const Generation& generation, std::int64_t positions) {
  return GenerationRunner(generation).step_at(positions);
}

Seconds run_first_token(const Generation& generation) {
  return GenerationRunner(generation).first_token();
}

Metrics run_generation(const Generation& generation) { return GenerationRunner(generation).run(); }

std::int64_t median_positions(std::int64_t input_len, std::int64_t output_len) {
  return input_len + output_len / 2 + 1;
}

}  // namespace foretell
