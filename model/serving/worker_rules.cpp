#include "model/serving/worker_rules.hpp"

#include <algorithm>

#include "hw/engines/size_list.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"

namespace foretell {
namespace {

std::vector<std::int64_t> graphs_up_to(const EngineSpec& engine, std::int64_t max_sequences,
                                       std::int64_t max_tokens) {
  const std::int64_t largest = std::min(
      max_tokens, engine.graphs.largest > 0 ? std::int64_t{engine.graphs.largest} : max_sequences);
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : parse_size_list(engine.graphs.sizes)) {
    if (size <= largest) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

WorkerRules rules_of(const EngineSpec& engine, const RuleChoices& choices, Bytes device_memory,
                     std::int64_t max_length) {
  const EngineSchedule& schedule = engine.schedule;
  const bool large = device_memory >= engine.limits.large_device;
  WorkerRules rules;
  rules.max_tokens = large ? engine.limits.max_tokens : engine.limits.small_max_tokens;
  rules.max_sequences = large ? engine.limits.max_sequences : engine.limits.small_max_sequences;
  if (choices.max_tokens > 0) rules.max_tokens = choices.max_tokens;
  if (choices.max_sequences > 0) rules.max_sequences = choices.max_sequences;
  rules.chunking = schedule.chunking == "yes";
  if (choices.chunk == "off") {
    rules.chunking = false;
  } else if (!choices.chunk.empty()) {
    rules.chunking = true;
    rules.max_tokens = static_cast<std::int64_t>(written_number(choices.chunk));
  }
  rules.max_length = max_length;
  // A prompt that is not cut has to fit a step, beside a token of everyone who is served.
  if (!rules.chunking && choices.max_tokens == 0) {
    const bool whole = engine.limits.whole_context == "yes";
    const std::int64_t room = whole ? max_length : choices.longest_prompt + rules.max_sequences;
    rules.max_tokens = std::max(rules.max_tokens, room);
  }
  rules.prefill_first = schedule.order == "prefill-first";
  rules.mixed = schedule.mixed == "yes";
  rules.schedule = schedule;
  rules.admission = schedule.admission == "full"      ? Admission::kFull
                    : schedule.admission == "partial" ? Admission::kPartial
                                                      : Admission::kNone;
  rules.preemption = schedule.preemption == "never"          ? Preemption::kNever
                     : schedule.preemption == "swap"         ? Preemption::kSwap
                     : schedule.preemption == "last-to-head" ? Preemption::kLastToHead
                                                             : Preemption::kMinToEnd;
  const auto room = to_count(schedule.room_first);
  rules.room_first = room.has_value();
  rules.room_reserve = room.value_or(0);
  rules.block = engine.memory.block;
  rules.graph_sizes = graphs_up_to(engine, rules.max_sequences, rules.max_tokens);
  if (engine.limits.divided == "yes")
    rules.max_tokens = std::max<std::int64_t>(1, rules.max_tokens / choices.ranks);
  rules.mixed_graphs = engine.graphs.mixed == "yes";
  rules.host = engine.host;
  rules.overlap = engine.host.overlap == "yes";
  rules.stream_interval = engine.host.stream_interval;
  rules.first_at_once = engine.host.first_token == "at-once";
  return rules;
}

KvMemory kv_memory(const EngineSpec& engine, double share, const DeviceUse& use,
                   const LargestStep& largest) {
  const EngineMemory& rules = engine.memory;
  KvMemory memory;
  memory.capacity = use.capacity;
  memory.weights = use.weights;
  memory.workspace = use.workspace;
  memory.reserve = rules.reserve + rules.reserve_per_token * static_cast<double>(largest.tokens) +
                   rules.reserve_per_logit * static_cast<double>(largest.sequences * use.vocab);
  if (use.exchanges) memory.reserve += rules.reserve_of_group;
  const Bytes used = use.weights + use.workspace + memory.reserve;
  const Bytes left = rules.base == "static"  ? (use.capacity - memory.reserve) * share - use.weights
                     : rules.base == "total" ? use.capacity * share - used
                                             : (use.capacity - used) * share;
  memory.kv = std::max(Bytes(0), left);
  return memory;
}

}  // namespace foretell
