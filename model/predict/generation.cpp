#include "model/predict/generation.hpp"

#include <algorithm>
#include <map>

#include "model/system/simulate.hpp"

namespace foretell {
namespace {

class GenerationRunner {
 public:
  explicit GenerationRunner(const Generation& generation) : g_(generation) {}

  Metrics run() {
    GenerationMetrics result;
    const Metrics prefill = run_prefill();
    result.ttft = prefill_overhead() + prefill.device * g_.sdk_prefill_time;
    result.total = result.ttft;
    // The first output token comes from the prefill, every other from a step of its own.
    for (std::int64_t made = 1; made < g_.output_len;) {
      const std::int64_t kv_len = g_.bucket(g_.input_len + made + 1);
      const std::int64_t until =
          std::clamp(kv_len - g_.input_len, made + 1, std::max(made + 1, g_.output_len));
      const Seconds time = step(kv_len).device;
      result.steps.push_back({kv_len, until - made, time});
      result.total += static_cast<double>(until - made) * time;
      made = until;
    }
    Metrics metrics = step(g_.bucket(median_positions(g_.input_len, g_.output_len)));
    result.tpot = metrics.device;
    metrics.call = result.total;
    metrics.generation = result;
    return metrics;
  }

 private:
  // Launching a prefill costs the host; the steps behind it are launched by the device.
  Seconds prefill_overhead() const {
    return g_.factors.prefill_overhead > Seconds(0) ? g_.factors.prefill_overhead
                                                    : call_overhead(g_.system, g_.factors);
  }

  Metrics run_prefill() const {
    const std::int64_t tokens = g_.bucket(g_.input_len);
    const std::int64_t kv_len = std::max(tokens, g_.bucket(g_.input_len + g_.output_len));
    return run(g_.graph(GenerationPhase::kPrefill, tokens, kv_len), 1.0);
  }

  const Metrics& step(std::int64_t kv_len) {
    const auto known = steps_.find(kv_len);
    if (known != steps_.end()) return known->second;
    const Graph graph = g_.graph(GenerationPhase::kDecode, 1, kv_len);
    return steps_[kv_len] = run(graph, g_.factors.decode_window_fraction);
  }

  Metrics run(const Graph& graph, double window_share) const {
    NeuronCall call{graph, g_.precision, g_.system, g_.factors};
    call.copies_per_device = g_.cores_per_device;
    call.tensor_parallel = g_.tensor_parallel;
    call.sdk_engine_time = g_.sdk_engine_time;
    call.window_share = window_share;
    call.exact = g_.exact;
    return run_neuron_call(call).metrics;
  }

  const Generation& g_;
  std::map<std::int64_t, Metrics> steps_;
};

}  // namespace

Metrics run_generation(const Generation& generation) { return GenerationRunner(generation).run(); }

std::int64_t median_positions(std::int64_t input_len, std::int64_t output_len) {
  return input_len + output_len / 2 + 1;
}

}  // namespace foretell
