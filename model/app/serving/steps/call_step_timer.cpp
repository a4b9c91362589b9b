#include "model/app/serving/steps/call_step_timer.hpp"

#include <algorithm>
#include <utility>

#include "model/app/request/device_family.hpp"
#include "model/base/errors.hpp"
#include "model/timing/shared/energy_timing.hpp"

namespace foretell {
namespace {

constexpr GridAxis kCallBatch{4, 8};
constexpr GridAxis kCallTokens{4, 4};
constexpr std::int64_t kExampleInput = 126;

double stated(const std::optional<double>& value, const RunRecord& record) {
  if (value) return *value;
  throw UserError(record.context.workload + " on " + record.context.system +
                  ": does not generate tokens; name a decoder with --workload");
}

// The power of all devices in use, at active idle.
Watts idle_of(const RunRecord& record) {
  const RunSummary& summary = record.summary;
  if (!summary.energy || !summary.watts) return {};
  double idle = 0;
  double all = 0;
  for (const EnergyPartRecord& part : summary.energy->parts) {
    if (part.kind == kActiveIdle) idle += part.joules;
    all += part.joules;
  }
  return all > 0 ? Watts(*summary.watts) * idle / all : Watts(0);
}

// The power of one copy above active idle, while it works.
Watts above_idle(const RunRecord& record) {
  const double copies = std::max(1, record.context.scenario.dp);
  return (Watts(record.summary.watts.value_or(0)) - idle_of(record)) / copies;
}

}  // namespace

CallStepTimer::CallStepTimer(Predictor predict, Request request, bool exact)
    : predict_(std::move(predict)),
      request_(std::move(request)),
      example_(call(1, kExampleInput)),
      idle_(idle_of(example_)),
      busy_(above_idle(example_)),
      decode_(kCallBatch, kCallTokens, exact,
              [this](std::int64_t batch, std::int64_t rows) {
                return cost(step(batch, std::max<std::int64_t>(1, rows - 1)));
              }),
      prefill_(kCallBatch, kCallTokens, exact, [this](std::int64_t, std::int64_t tokens) {
        const RunRecord record = call(1, tokens);
        return cost(Seconds(stated(record.summary.ttft_s, record)));
      }) {}

RunRecord CallStepTimer::call(std::int64_t batch, std::int64_t input_len) const {
  Request request = request_;
  request.batch = batch;
  request.input_len = input_len;
  request.output_len = 2;
  return predict_(request);
}

// The second token after a prompt.
Seconds CallStepTimer::step(std::int64_t batch, std::int64_t input_len) const {
  Request request = request_;
  request.batch = batch;
  request.input_len = input_len;
  request.output_len = 2;
  return decode_step(*family_of(request.system).resolve(request), input_len + 2);
}

CallCost CallStepTimer::cost(Seconds time) const { return {time, busy_ * time}; }

Bytes CallStepTimer::kv_per_token() const {
  const RunSummary& summary = example_.summary;
  FORETELL_CHECK(summary.memory.has_value(), "a generation says what memory it uses");
  const std::int64_t rows = std::max<std::int64_t>(kExampleInput + 2, 1);
  return Bytes(summary.memory->kv_cache_bytes / static_cast<double>(rows));
}

StepTime CallStepTimer::time(const StepShape& shape, int /*stage*/) {
  StepTime time;
  if (shape.decodes > 0) {
    const std::int64_t mean =
        std::max<std::int64_t>(2, (shape.decode_positions + shape.decodes / 2) / shape.decodes);
    const bool alone = shape.chunks.empty();
    const std::int64_t batch =
        alone ? std::max(shape.decodes, shape.padded_tokens / shape.tokens_each) : shape.decodes;
    const CallCost call = decode_.at(batch, mean);
    time.attention = call.time;
    time.energy = call.energy;
  }
  for (const StepChunk& chunk : shape.chunks) {
    const CallCost whole = prefill_.at(1, chunk.context + chunk.tokens);
    time.prompts += whole.time;
    time.energy += whole.energy;
    if (chunk.context == 0) continue;
    const CallCost before = prefill_.at(1, chunk.context);
    time.prompts -= before.time;
    time.energy = time.energy - before.energy;
  }
  time.total = time.attention + time.prompts;
  time.attention = Seconds(0);  // not known apart from the rest
  return time;
}

}  // namespace foretell
