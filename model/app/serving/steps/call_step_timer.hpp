// Steps of a server on a machine that is asked for whole calls: NeuronCores, CPUs.
//
// A step is its decodes as one call, and every chunk as a prefill of its prompt without that of
// what was there before it. Lengths are executed at points of a grid; of devices that compile calls
// for lengths, each compiled length once. While a call runs, its devices draw the mean power of a
// short generation. A call is compiled for the sequences of all ranks with attention of their own:
// the step of a rank is a call in which the others have as many.
#pragma once

#include <cstdint>
#include <memory>

#include "model/app/request/prediction.hpp"
#include "model/app/serving/steps/lazy_grid.hpp"
#include "model/serving/step_timer.hpp"

namespace foretell {

class ResolvedDevice;

class CallStepTimer : public StepTimer {
 public:
  CallStepTimer(const Predictor& predict, Request request, bool exact);
  ~CallStepTimer() override;

  StepTime time(const StepShape& shape, int stage) override;
  std::int64_t executed() const override { return decode_.executed() + prefill_.executed(); }

  // The record of one short generation: names, memory and intervals of the machine.
  const RunRecord& example() const { return example_; }
  Bytes kv_per_token() const;
  Watts idle() const { return idle_; }  // of all devices of the example

 private:
  Request call(std::int64_t batch, std::int64_t input_len) const;  // batch: of each rank
  std::unique_ptr<ResolvedDevice> resolved(std::int64_t batch, std::int64_t input_len) const;
  std::int64_t executed_prompt(std::int64_t tokens) const;
  CallCost chunk_cost(const StepChunk& chunk);
  CallCost cost(Seconds time) const;  // energy: of one rank

  Request request_;
  std::int64_t ranks_;  // of a copy, that have sequences of their own
  RunRecord example_;
  std::unique_ptr<ResolvedDevice> lengths_;  // says which lengths are compiled
  Watts idle_;
  Watts busy_;
  LazyGrid decode_;   // batch of a rank, rows of the KV cache before the token's own
  LazyGrid prefill_;  // 1, tokens
};

}  // namespace foretell
