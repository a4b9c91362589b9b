// A request to NeuronCores with its names looked up and its defaults filled in: all that the
// simulation needs.
#pragma once

#include <string>
#include <vector>

#include "hw/spec/shared/catalog.hpp"
#include "model/app/request/resolved_workload.hpp"
#include "model/base/metrics.hpp"
#include "model/predict/pipeline.hpp"

namespace foretell {

struct ResolvedRequest : ResolvedWorkload {
  LoadedSystem system;  // overrides and factors applied
};

// UserError for unknown names (with the nearest), values out of range, and parallelism that does
// not fit the cores of the system.
ResolvedRequest resolve(const Request& request);

// The graph that one of `tensor_parallel` cores runs in prefill or decode, of all layers or those
// of a pipeline stage.
Graph build_generation_graph(const ResolvedRequest& resolved, Phase phase, std::int64_t tokens,
                             std::int64_t kv_len, int tensor_parallel,
                             const LayerRange& layers = {});
// The context length of the graph that serves this many positions.
std::int64_t compiled_length(const ResolvedRequest& resolved, std::int64_t positions);

// Executes one call of the request in the SystemC model. UserError when it cannot be mapped or
// does not fit the memory.
Metrics simulate(const ResolvedRequest& resolved);

// The record of a simulation, see make_record.hpp.
RunRecord make_record(const ResolvedRequest& resolved, const Metrics& metrics);

}  // namespace foretell
