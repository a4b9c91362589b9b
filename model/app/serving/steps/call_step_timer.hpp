// Steps of a server on a machine that is asked for whole calls: NeuronCores, CPUs.
//
// A step is its decodes as one call, and every chunk as a prefill of its prompt without that of
// what was there before it. Lengths are executed at points of a grid; devices that compile for
// buckets of lengths see to that themselves. While a call runs, its devices draw the mean power of
// a short generation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/app/serving/steps/lazy_grid.hpp"
#include "model/serving/step_timer.hpp"

namespace foretell {

class CallStepTimer : public StepTimer {
 public:
  CallStepTimer(Predictor predict, Request request, bool exact);

  StepTime time(const StepShape& shape, int stage) override;
  std::int64_t executed() const override { return decode_.executed() + prefill_.executed(); }

  // The record of one short generation: names, memory and intervals of the machine.
  const RunRecord& example() const { return example_; }
  Bytes kv_per_token() const;
  Watts idle() const { return idle_; }  // of all devices of the example

 private:
  RunRecord call(std::int64_t batch, std::int64_t input_len) const;
  Seconds step(std::int64_t batch, std::int64_t input_len) const;
  CallCost cost(Seconds time) const;

  Predictor predict_;
  Request request_;
  RunRecord example_;
  Watts idle_;
  Watts busy_;
  LazyGrid decode_;   // batch, rows of the KV cache
  LazyGrid prefill_;  // 1, tokens
};

}  // namespace foretell
