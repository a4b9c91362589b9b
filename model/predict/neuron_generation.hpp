// Token generation on a group of cores: prefill, then decode steps against a growing KV cache.
//
// The vendor's compiler makes one graph per context length, powers of two from 128 on, and a step
// reads the cache up to the length it was compiled for. So a run needs as many simulated steps as
// it passes context lengths. Steps that read no further than their own position are executed at a
// few positions and interpolated.
#pragma once

#include <cstdint>
#include <functional>

#include "model/predict/generation.hpp"
#include "model/predict/neuron_call.hpp"
#include "model/predict/pipeline.hpp"

namespace foretell {

enum class GenerationPhase { kPrefill, kDecode };

struct NeuronGeneration {
  // The graph of one core of a stage for `tokens` per sequence and a cache of `kv_len` rows, with
  // the types of the precision applied.
  std::function<Graph(GenerationPhase phase, std::int64_t tokens, std::int64_t kv_len,
                      const LayerRange& layers)>
      graph;
  // The length for which a call is compiled that needs this many positions.
  std::function<std::int64_t(std::int64_t positions)> bucket;
  const PrecisionPolicy& precision;
  const NeuronSystemSpec& system;
  const NeuronFactors& factors;
  std::int64_t input_len = 0;
  std::int64_t output_len = 0;
  // The prompt is in the KV cache of the decode steps. Of an encoder-decoder it is not: the prefill
  // runs the encoder, and every output token needs a step, the first one too.
  bool prompt_in_cache = true;
  int tensor_parallel = 1;
  bool sequence_parallel = false;  // prefill leaves each core its share of the activations
  Pipeline pipeline{};             // stages of a copy, each on a group of this many cores
  int cores_per_device = 1;        // cores of a device that take part
  double sdk_engine_time = 1;      // see NeuronFactors
  double sdk_prefill_time = 1;     // the prefill takes this many times longer
  bool exact_kv = false;           // steps read the cache up to their own position
  bool host_sampling = false;      // after each token, its logits go to the host, which goes on
  bool exact = false;              // execute every layer, and with exact_kv every step
};

// Metrics of the median decode step, with Metrics::generation. Throws UserError like
// run_neuron_call.
Metrics run_neuron_generation(const NeuronGeneration& generation);

// The prefill and the median decode step of the first stage, every layer of one rank.
struct GenerationTimeline {
  NeuronCallResult prefill;
  NeuronCallResult step;
};
GenerationTimeline generation_timeline(const NeuronGeneration& generation);

}  // namespace foretell
