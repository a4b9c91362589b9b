// A request with its names looked up and its defaults filled in: all that the simulation needs.
#pragma once

#include <string>
#include <vector>

#include "hw/spec/catalog.hpp"
#include "model/base/metrics.hpp"
#include "model/cli/prediction.hpp"
#include "model/predict/pipeline.hpp"
#include "reports/record/serving.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

struct ResolvedRequest {
  Request request;      // as asked for, with every default that applies filled in
  LoadedSystem system;  // overrides and factors applied
  ModelConfig model;
  PrecisionPolicy precision;
  Serving serving;
  std::vector<std::string> notes;  // defaults taken and limits that a reader should know
};

// UserError for unknown names (with the nearest), values out of range, and parallelism that does
// not fit the cores of the system.
ResolvedRequest resolve(const Request& request);

// UserError when the system, the workload or the data type of the request has no such name.
void check_names(const Request& request);

// Tokens that are taken when the request does not say: 128, as published tables of encoders do, or
// the longest that the network takes.
std::int64_t default_sequence(const ModelConfig& model);

// The operator graph of one call of one copy, with the data types of the policy.
Graph build_resolved_graph(const ResolvedRequest& resolved);

// The graph that one of `tensor_parallel` cores runs in prefill or decode, of all layers or those
// of a pipeline stage.
Graph build_generation_graph(const ResolvedRequest& resolved, Phase phase, std::int64_t tokens,
                             std::int64_t kv_len, int tensor_parallel,
                             const LayerRange& layers = {});
// Rows of the KV cache that the whole generation needs.
std::int64_t cached_positions(const ResolvedRequest& resolved);
// The context length of the graph that serves so many positions.
std::int64_t compiled_length(const ResolvedRequest& resolved, std::int64_t positions);

// Executes one call of the request in the SystemC model. UserError when it cannot be mapped or
// does not fit the memory.
Metrics simulate(const ResolvedRequest& resolved);

// The record of a request without a prediction: what was asked for, without any default. The names
// have been checked.
RunRecord unpredicted(const Request& request);

// The record of a simulation: serving formulas, cost, interval and context added.
RunRecord make_record(const ResolvedRequest& resolved, const Metrics& metrics);

}  // namespace foretell
