// What both phases of a network compute: for tests.
#pragma once

#include "workloads/import/workload.hpp"

namespace foretell {

struct FlopsOfPhases {
  double prompt = 0;  // of 256 tokens
  double token = 0;   // after as many
};

// Of one of two ranks.
inline FlopsOfPhases flops_of_phases(const ModelConfig& config) {
  Binding binding;
  binding.seq_len = 256;
  binding.kv_len = 256;
  binding.phase = Phase::kPrefill;
  binding.tensor_parallel = 2;
  FlopsOfPhases flops;
  flops.prompt = build_graph(config, binding).total_flops().value();
  binding.phase = Phase::kDecode;
  binding.seq_len = 1;
  flops.token = build_graph(config, binding).total_flops().value();
  return flops;
}

}  // namespace foretell
