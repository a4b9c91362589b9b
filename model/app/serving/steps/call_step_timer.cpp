#include "model/app/serving/steps/call_step_timer.hpp"

#include <algorithm>
#include <utility>

#include "model/app/request/family/device_family.hpp"
#include "model/base/errors.hpp"
#include "model/timing/shared/energy_timing.hpp"

namespace foretell {
namespace {

constexpr GridAxis kCallBatch{4, 8};
constexpr GridAxis kCallTokens{4, 4};
constexpr GridAxis kEveryLength{std::int64_t{1} << 40, 1};  // compiled ones are few
constexpr std::int64_t kExampleInput = 126;
constexpr std::int64_t kExampleOutput = 2;

void check_generates(const RunRecord& record) {
  if (record.summary.ttft_s) return;
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

CallStepTimer::CallStepTimer(const Predictor& predict, Request request, bool exact)
    : request_(std::move(request)),
      ranks_(std::max(1, request_.attention_dp)),
      example_(predict(call(1, kExampleInput))),
      lengths_(resolved(1, kExampleInput)),
      idle_(idle_of(example_)),
      busy_(above_idle(example_)),
      decode_(kCallBatch, lengths_->compiles_lengths() ? kEveryLength : kCallTokens, exact,
              [this](std::int64_t batch, std::int64_t rows) {
                // The second token after a prompt.
                const std::int64_t input = std::max<std::int64_t>(1, rows - 1);
                Request step = call(batch, input);
                step.context_encoding_buckets.clear();  // its cache may be longer than any prompt
                const auto device = family_of(step.system).resolve(step);
                return cost(decode_step(*device, input + kExampleOutput));
              }),
      prefill_(kCallBatch, lengths_->compiles_lengths() ? kEveryLength : kCallTokens, exact,
               [this](std::int64_t, std::int64_t tokens) {
                 return cost(first_token(*resolved(1, tokens)));
               }) {
  check_generates(example_);
}

CallStepTimer::~CallStepTimer() = default;

Request CallStepTimer::call(std::int64_t batch, std::int64_t input_len) const {
  Request request = request_;
  request.batch = batch * ranks_;
  request.input_len = input_len;
  request.output_len = kExampleOutput;
  return request;
}

std::unique_ptr<ResolvedDevice> CallStepTimer::resolved(std::int64_t batch,
                                                        std::int64_t input_len) const {
  return family_of(request_.system).resolve(call(batch, input_len));
}

// A prompt that runs the same compiled call, with the same cache.
std::int64_t CallStepTimer::executed_prompt(std::int64_t tokens) const {
  if (!lengths_->compiles_lengths()) return tokens;
  const std::int64_t length = lengths_->compiled_prompt(tokens);
  const bool same_cache = lengths_->compiled_length(length + kExampleOutput) ==
                          lengths_->compiled_length(tokens + kExampleOutput);
  return same_cache || tokens + kExampleOutput > length ? length : length - kExampleOutput;
}

CallCost CallStepTimer::cost(Seconds time) const {
  return {time, busy_ * time / static_cast<double>(ranks_)};
}

Bytes CallStepTimer::kv_per_token() const {
  const RunSummary& summary = example_.summary;
  FORETELL_CHECK(summary.memory.has_value(), "a generation says what memory it uses");
  // The cache holds the rows of a prompt's own call, too, where that is longer.
  const std::int64_t rows = std::max(lengths_->compiled_length(kExampleInput + kExampleOutput),
                                     lengths_->compiled_prompt(kExampleInput));
  return Bytes(summary.memory->kv_cache_bytes / static_cast<double>(rows));
}

// What the prompt takes more with the chunk than without it; no less than the chunk alone, as both
// may run the same compiled call.
CallCost CallStepTimer::chunk_cost(const StepChunk& chunk) {
  const auto prompt = [this](std::int64_t tokens) {
    return prefill_.at(1, executed_prompt(tokens));
  };
  const CallCost whole = prompt(chunk.context + chunk.tokens);
  if (chunk.context == 0) return whole;
  const CallCost before = prompt(chunk.context);
  const CallCost alone = prompt(chunk.tokens);
  return {std::max(whole.time - before.time, alone.time),
          std::max(whole.energy - before.energy, alone.energy)};
}

StepTime CallStepTimer::time(const StepShape& shape, int /*stage*/) {
  StepTime time;
  if (shape.decodes > 0) {
    const std::int64_t mean =
        std::max<std::int64_t>(2, (shape.decode_positions + shape.decodes / 2) / shape.decodes);
    const bool alone = shape.chunks.empty();
    const std::int64_t batch =
        alone ? std::max(shape.decodes, shape.padded_tokens / shape.tokens_each) : shape.decodes;
    const std::int64_t rows = read_positions(*lengths_, mean + 1) - 1;
    const CallCost call = decode_.at(batch, rows);
    time.attention = call.time;
    time.energy = call.energy;
  }
  for (const StepChunk& chunk : shape.chunks) {
    const CallCost prompt = chunk_cost(chunk);
    time.prompts += prompt.time;
    time.energy += prompt.energy;
  }
  time.total = time.attention + time.prompts;
  time.attention = Seconds(0);  // not known apart from the rest
  return time;
}

}  // namespace foretell
