// Limits of a step that follow from the memory of a worker and the lengths of a load.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hw/engines/tuned_limits.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/serving/request/serve_parts.hpp"

namespace foretell {

std::int64_t floor_blocks(Bytes kv, Bytes per_token, std::int64_t block) {
  if (!(per_token > Bytes(0))) return std::int64_t{1} << 40;
  return static_cast<std::int64_t>(
      std::floor(kv.value() / (per_token.value() * static_cast<double>(block))));
}

void tune(const EngineSpec& engine, const Load& load, const WorkerMachine& worker,
          RuleChoices& choices) {
  if (engine.limits.tuned != "yes" || choices.max_tokens > 0 || choices.max_sequences > 0) return;
  const double devices = worker.devices_per_worker;
  const Bytes free = (worker.capacity - worker.weights) * devices;
  const Bytes of_a_token = worker.kv_of_stages * (devices / worker.stages);
  if (!(of_a_token > Bytes(0))) return;
  const StepLimits limits =
      TunedLimits::load(hw_folder())
          .of(free / of_a_token, mean_input(load), mean_output(load), worker.stages);
  choices.max_sequences = limits.sequences;
  choices.max_tokens = limits.tokens;
}

LargestStep largest_step(const WorkerRules& rules, std::int64_t batch) {
  return {rules.max_tokens, batch > 0 ? std::min(rules.max_sequences, batch) : rules.max_sequences};
}

}  // namespace foretell
