// A small, complete record for tests of everything that reads records.
#pragma once

#include "reports/record/run_record.hpp"

namespace foretell {

inline RunRecord example_record() {
  RunRecord record;
  record.context.version = "1.2.3";
  record.context.commit = "0123abcd";
  record.context.system = "inf2.xlarge";
  record.context.workload = "bert-large-uncased";
  record.context.dtype = "bf16-matmul";
  record.context.scenario.batch = 8;
  record.context.scenario.seq_len = 128;
  record.context.scenario.dp = 2;
  record.context.factors = "none";
  record.context.assumed_values = 3;
  record.machine = MachineRecord{"AWS Inferentia2",
                                 1,
                                 "NeuronCore",
                                 2,
                                 {{"tensor engine, bf16", 9.175e13, "A2:64-74"}},
                                 {{"DMA", 2.72e11, "A2:613"}, {"HBM", 8.2e11, "A2:21"}}};
  record.values.push_back({"device.hbm.latency", "150 ns", "assumed", "PROJECT", "not published"});
  record.summary.latency_s = 0.0169;
  record.summary.throughput = 945.1;
  record.summary.throughput_unit = "inferences/s";
  record.summary.call_s = 0.0169;
  record.summary.interval80["latency_s"] = {0.0152, 0.0187};
  record.summary.cost_usd_per_million = 0.23;
  record.summary.memory_used_bytes = 1.4e9;
  record.summary.memory_capacity_bytes = 3.4e10;
  record.summary.bottleneck = "tensor engine";
  record.operators.push_back(
      {"encoder.0.attention.query", "MatMul", "tensor", 0, 1.1e-5, 4.3e8, 2.1e6, "dma"});
  record.operators.push_back(
      {"encoder.0.softmax", "Softmax", "vector", 1.1e-5, 0.9e-5, 1e6, 0, "vector"});
  record.resources.push_back({"chip0.core0.tensor", 0.41, 0.22, 0});
  record.resources.push_back({"chip0.core0.vector", 0.25, 0.1, 0});
  record.resources.push_back({"chip0.hbm", 0.3, 0, 2.5e6});
  return record;
}

// The same of token generation.
inline RunRecord example_generation() {
  RunRecord record = example_record();
  record.context.scenario.seq_len = 0;
  record.context.scenario.input_len = 100;
  record.context.scenario.output_len = 100;
  record.summary.throughput_unit = "tokens/s";
  record.summary.ttft_s = 0.077;
  record.summary.tpot_s = 0.033;
  record.summary.interval80["ttft_s"] = {0.07, 0.08};
  record.summary.interval80["tpot_s"] = {0.03, 0.035};
  record.summary.costs_usd_per_million = {{"on_demand", 0.23}, {"reserved_1y", 0.138}};
  record.summary.memory = MemoryRecord{1e9, 2e8, 1e8, 4e6, 9.6e7};
  record.generation = {{128, 27, 0.031}, {256, 72, 0.033}};
  return record;
}

}  // namespace foretell
