#include "model/predict/neuron_generation.hpp"

#include <algorithm>

#include "model/system/simulate.hpp"

namespace foretell {
namespace {

class NeuronGenerationRunner {
 public:
  explicit NeuronGenerationRunner(const NeuronGeneration& generation)
      : g_(generation),
        decode_factors_(generation.factors),
        costs_(generation.system, generation.factors, generation.tensor_parallel) {
    decode_factors_.dma_rate_fraction = g_.factors.decode_dma_rate_fraction;
  }

  Metrics run() {
    Generation generation;
    generation.prefill = [this] { return run(prefill_pass()); };
    generation.decode = [this](std::int64_t kv_len) {
      return run({GenerationPhase::kDecode, 1, kv_len});
    };
    generation.input_len = g_.input_len;
    generation.output_len = g_.output_len;
    generation.prompt_in_cache = g_.prompt_in_cache;
    generation.exact = g_.exact;
    generation.stages = g_.pipeline.stages;
    if (!g_.exact_kv) generation.bucket = g_.bucket;
    generation.block = g_.system.device.core.sbuf.partitions;
    // Launching a prefill costs the host; the steps after it are launched by the device.
    generation.prefill_overhead = g_.factors.prefill_overhead > Seconds(0)
                                      ? g_.factors.prefill_overhead
                                      : call_overhead(g_.system, g_.factors);
    generation.prefill_factor = g_.sdk_prefill_time;
    if (g_.host_sampling) {
      // A step is a call: it is launched by the host and gives its logits back.
      generation.step_overhead = call_overhead(g_.system, g_.factors);
      generation.afterwards = [this](const PipelinePass& pass) { return logits_copy(pass); };
    }
    return run_generation(generation);
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

  // Tokens of the prompt that decode steps read keys and values of.
  std::int64_t cached_prompt() const { return g_.prompt_in_cache ? g_.input_len : 0; }

  // To the host, which samples there: from all cores of the last stage.
  Seconds logits_copy(const PipelinePass& pass) const {
    return pass.output * g_.tensor_parallel / g_.system.device.host.copy_rate;
  }

  Pass prefill_pass() const {
    const std::int64_t tokens = g_.bucket(g_.input_len);
    const std::int64_t kv_len = std::max(tokens, g_.bucket(cached_prompt() + g_.output_len));
    return {GenerationPhase::kPrefill, tokens, kv_len};
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

  const NeuronGeneration& g_;
  NeuronFactors decode_factors_;
  CollectiveCosts costs_;  // prefill and decode have many in common
};

}  // namespace

Metrics run_neuron_generation(const NeuronGeneration& generation) {
  return NeuronGenerationRunner(generation).run();
}

GenerationTimeline generation_timeline(const NeuronGeneration& generation) {
  return NeuronGenerationRunner(generation).timeline();
}

}  // namespace foretell
