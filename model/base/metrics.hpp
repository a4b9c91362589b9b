// What a simulation yields: plain numbers by path, without any knowledge of who computed them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
};

// One component: busy + stalled + idle = 1 over the call.
struct ResourceMetrics {
  std::string path;    // "chip0.core0.tensor"
  double busy = 0;     // share of the call it worked
  double stalled = 0;  // share it had work but waited for somebody else
  Bytes bytes;         // bytes it moved (memories, DMA, links)
};

struct Metrics {
  Seconds call;    // one batched call on one core group, host overhead included
  Seconds device;  // the part of it spent on the device
  std::vector<OperatorMetrics> operators;
  std::vector<ResourceMetrics> resources;
  Bytes hbm_read;
  Bytes hbm_written;
  Bytes memory_used;      // per device
  Bytes memory_capacity;  // per device
  std::string bottleneck;
  std::uint64_t instructions = 0;  // executed by the simulator
  std::uint64_t replayed_instructions = 0;
  std::uint64_t events = 0;  // SystemC activations
};

}  // namespace foretell
