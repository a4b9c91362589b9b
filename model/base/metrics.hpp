// What a simulation yields: plain numbers by path, without any knowledge of who computed them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/energy_work.hpp"
#include "model/base/units.hpp"

namespace foretell {

// One operator of the workload on one core: where it ran and what bounded it.
struct OperatorMetrics {
  std::string name;    // "encoder.0.attention.query"
  std::string op;      // "MatMul"
  std::string engine;  // the engine that was busy longest for it: "tensor", "vector", …
  Seconds start;       // first instruction begins
  Seconds duration;    // until its last instruction ends
  Flops flops;
  Bytes bytes;           // HBM traffic
  std::string critical;  // the resource on the critical path most of that time
  // For operators that run as thread blocks: the largest kernel, the thread blocks per place that
  // the chip has for them, and the share of the places that is taken while they run.
  std::string kernel;
  double waves = 0;
  double occupancy = 0;
  EnergyWork work = {};  // of one rank
  double clock = 1;      // that it ran at, as a share of the full one
  int window = 0;        // of the call, that this clock is of; windows are numbered from 0
};

// One component: busy + stalled + idle = 1 over the call.
struct ResourceMetrics {
  std::string path;    // "chip0.core0.tensor"
  double busy = 0;     // share of the call it worked
  double stalled = 0;  // share it had work but waited for another
  Bytes bytes;         // bytes it moved (memories, DMA, links)
};

// Token generation: prefill of a prompt, then one decode step per output token.
struct GenerationMetrics {
  struct Step {
    std::int64_t kv_len = 0;  // rows of the KV cache that the step is compiled for
    std::int64_t tokens = 0;  // output tokens of the run that are generated so
    Seconds time;
  };
  Seconds ttft;   // prefill until the first token
  Seconds tpot;   // the median decode step
  Seconds total;  // ttft and all decode steps
  // How long the busiest pipeline stage works on a run: with enough of them in flight, one run
  // ends after each such time. Without a pipeline the same as `total`.
  Seconds slowest_stage;
  std::vector<Step> steps;  // one per compiled context length
};

// Device memory by what it holds.
struct MemoryUse {
  Bytes weights;
  Bytes kv_cache;  // and whatever else stays on the device from call to call
  Bytes activations;
  Bytes inputs_outputs;
  Bytes runtime;   // what the runtime keeps for itself
  Bytes training;  // gradients and the state of the optimiser

  Bytes total() const {
    return weights + kv_cache + activations + inputs_outputs + runtime + training;
  }
};

// The memory of several equal cores.
inline MemoryUse operator*(const MemoryUse& use, double cores) {
  return {use.weights * cores,        use.kv_cache * cores, use.activations * cores,
          use.inputs_outputs * cores, use.runtime * cores,  use.training * cores};
}

// What one step of training is made of, per copy.
struct TrainingMetrics {
  std::string optimizer;
  double parameters = 0;
  Flops forward;
  Flops backward;
  Flops update;
  Bytes all_reduce;
  Bytes saved_activations;  // kept from the forward to the backward pass
  Bytes gradients;
  Bytes optimizer_state;  // with the FP32 copy of narrower weights
  Seconds forward_time;   // until the last operator of the forward pass ends
};

struct Metrics {
  Seconds call;    // one batched call on one core group, host overhead included
  Seconds device;  // the part of it spent on the device
  std::vector<OperatorMetrics> operators;
  std::vector<ResourceMetrics> resources;
  Bytes hbm_read;
  Bytes hbm_written;
  MemoryUse memory;       // per device
  Bytes memory_capacity;  // per device
  std::string bottleneck;
  std::optional<GenerationMetrics> generation;  // then `device` is the median decode step alone
  std::optional<TrainingMetrics> training;
  std::uint64_t instructions = 0;  // executed by the simulator
  std::uint64_t events = 0;        // SystemC activations
};

}  // namespace foretell
