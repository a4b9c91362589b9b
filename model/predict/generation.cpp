#include "model/predict/generation.hpp"

#include <algorithm>
#include <map>

#include "model/predict/decode_steps.hpp"
#include "model/predict/whole_call.hpp"
#include "model/system/simulate.hpp"

namespace foretell {
namespace {

class GenerationRunner {
 public:
  explicit GenerationRunner(const Generation& generation)
      : g_(generation),
        decode_factors_(generation.factors),
        costs_(generation.system, generation.factors, generation.tensor_parallel) {
    decode_factors_.dma_rate_fraction = g_.factors.decode_dma_rate_fraction;
  }

  Metrics run() {
    GenerationMetrics result;
    result.ttft = time_to_first_token();
    result.steps = decode_steps();
    result.total = result.ttft;
    Seconds decode;
    for (const GenerationMetrics::Step& made : result.steps)
      decode += static_cast<double>(made.tokens) * made.time;
    result.total += decode;
    const std::int64_t kv_len = median_kv_len();
    Metrics metrics = step(kv_len).metrics;
    const Metrics decode_step = metrics;
    const auto count = static_cast<double>(g_.output_len - (g_.prompt_in_cache ? 1 : 0));
    fill_whole_call({{"prefill", &prefill_, 1, prefill_time_, prefill_overhead()},
                     {"decode", &decode_step, count, result.total - prefill_time_, Seconds(0)}},
                    metrics);
    result.tpot = step_time(kv_len);
    result.slowest_stage =
        g_.pipeline.stages == 1
            ? result.total
            : slowest_prefill_ + decode * (step(kv_len).slowest / metrics.device);
    metrics.call = result.total;
    metrics.generation = result;
    return metrics;
  }

  GenerationTimeline timeline() {
    const auto shown = [this](const Pass& pass) {
      const LayerRange layers = stage_layers(g_.pipeline.layers, g_.pipeline.stages, 0);
      const Graph graph = g_.graph(pass.phase, pass.tokens, pass.kv_len, layers);
      NeuronCall call = call_of(graph, pass.phase);
      call.exact = false;
      call.for_timeline = true;
      return run_neuron_call(call);
    };
    return {shown(prefill_pass()), shown({GenerationPhase::kDecode, 1, median_kv_len()})};
  }

 private:
  struct Pass {
    GenerationPhase phase;
    std::int64_t tokens;
    std::int64_t kv_len;
  };

  std::int64_t median_kv_len() const {
    const std::int64_t median = median_positions(cached_prompt(), g_.output_len);
    return g_.exact_kv ? median : g_.bucket(median);
  }

  Seconds time_to_first_token() {
    const PipelinePass prefill = run_prefill();
    prefill_time_ = prefill_overhead() + prefill.metrics.device * g_.sdk_prefill_time;
    prefill_ = prefill.metrics;
    return prefill_time_ + (g_.prompt_in_cache ? logits_copy(prefill) : first_step());
  }

  Seconds first_step() { return step_time(g_.exact_kv ? 1 : g_.bucket(1)); }

  // Tokens of the prompt that decode steps read keys and values of.
  std::int64_t cached_prompt() const { return g_.prompt_in_cache ? g_.input_len : 0; }

  // To the host, which samples there: from all cores of the last stage.
  Seconds logits_copy(const PipelinePass& pass) const {
    if (!g_.host_sampling) return Seconds(0);
    return pass.output * g_.tensor_parallel / g_.system.device.host.copy_rate;
  }

  // Launching a prefill costs the host; the steps behind it are launched by the device.
  Seconds prefill_overhead() const {
    return g_.factors.prefill_overhead > Seconds(0) ? g_.factors.prefill_overhead
                                                    : call_overhead(g_.system, g_.factors);
  }

  // Of all output tokens but the first. A step reads the prompt, the tokens before its own and its
  // own.
  std::vector<GenerationMetrics::Step> decode_steps() {
    const std::int64_t first = cached_prompt() + 2;
    const std::int64_t last = cached_prompt() + g_.output_len;
    if (!g_.exact_kv) return bucketed_steps(first, last);
    const StepTime time = [this](std::int64_t positions) { return step_time(positions); };
    return g_.exact ? executed_steps(first, last, time)
                    : interpolated_steps(first, last, g_.system.device.core.sbuf.partitions, time);
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

  // Sampled on the host, a step is a call: it is launched there and gives its logits back.
  Seconds step_time(std::int64_t kv_len) {
    const PipelinePass& pass = step(kv_len);
    const Seconds launch = g_.host_sampling ? call_overhead(g_.system, g_.factors) : Seconds(0);
    return pass.metrics.device + logits_copy(pass) + launch;
  }

  Pass prefill_pass() const {
    const std::int64_t tokens = g_.bucket(g_.input_len);
    const std::int64_t kv_len = std::max(tokens, g_.bucket(cached_prompt() + g_.output_len));
    return {GenerationPhase::kPrefill, tokens, kv_len};
  }

  PipelinePass run_prefill() {
    PipelinePass pass = run(prefill_pass());
    slowest_prefill_ = prefill_overhead() + pass.slowest * g_.sdk_prefill_time;
    return pass;
  }

  const PipelinePass& step(std::int64_t kv_len) {
    const auto known = steps_.find(kv_len);
    if (known != steps_.end()) return known->second;
    return steps_[kv_len] = run({GenerationPhase::kDecode, 1, kv_len});
  }

  PipelinePass run(const Pass& pass) {
    Pipeline pipeline = g_.pipeline;
    if (pass.phase == GenerationPhase::kPrefill && g_.sequence_parallel)
      pipeline.shares = g_.tensor_parallel;
    return run_pipeline(
        pipeline, g_.system, g_.factors,
        [&](const LayerRange& layers) {
          return g_.graph(pass.phase, pass.tokens, pass.kv_len, layers);
        },
        [&](const Graph& graph) { return run_stage(graph, pass.phase); });
  }

  Metrics run_stage(const Graph& graph, GenerationPhase phase) {
    return run_neuron_call(call_of(graph, phase)).metrics;
  }

  NeuronCall call_of(const Graph& graph, GenerationPhase phase) {
    const bool decodes = phase == GenerationPhase::kDecode;
    NeuronCall call{graph, g_.precision, g_.system, decodes ? decode_factors_ : g_.factors};
    call.copies_per_device = g_.cores_per_device;
    call.tensor_parallel = g_.tensor_parallel;
    call.sdk_engine_time = g_.sdk_engine_time;
    if (decodes) call.window_share = g_.factors.decode_window_fraction;
    call.exact = g_.exact;
    call.costs = &costs_;
    return call;
  }

  const Generation& g_;
  NeuronFactors decode_factors_;
  CollectiveCosts costs_;                       // prefill and decode have many in common
  std::map<std::int64_t, PipelinePass> steps_;  // by the rows of the cache that they read
  Seconds slowest_prefill_;                     // of one stage, which waits for its launch
  Metrics prefill_;
  Seconds prefill_time_;  // with what the host does before it
};

}  // namespace

Metrics run_generation(const Generation& generation) { return GenerationRunner(generation).run(); }

GenerationTimeline generation_timeline(const Generation& generation) {
  return GenerationRunner(generation).timeline();
}

std::int64_t median_positions(std::int64_t input_len, std::int64_t output_len) {
  return input_len + output_len / 2 + 1;
}

}  // namespace foretell
