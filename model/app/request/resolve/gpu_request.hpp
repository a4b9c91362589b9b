// A request to GPUs with its names looked up and its defaults filled in.
#pragma once

#include <string>
#include <vector>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/request/resolve/resolved_workload.hpp"
#include "model/mapping/shared/fuse.hpp"
#include "model/predict/calls/limited_call.hpp"
#include "model/program/grid.hpp"

namespace foretell {

struct GpuRequest : ResolvedWorkload, GpuCallSettings {
  LoadedGpuSystem system;                // overrides applied
  bool less_power = false;               // than the board that its kernels were measured on
  double clock_share = 1;                // of the boost clock, at most
  Watts power_limit;                     // of a board; 0: that of the board
  double voltage = 1;                    // most that is supplied, of that at the full clock
  Seconds host_call;                     // of its host, for a forward pass beside the kernels
  Seconds host_prompt;                   // … for a prompt
  Seconds host_sample;                   // … for the tokens of a step that it chooses
  int host_values = 0;                   // of these three, how many act; no library publishes them
  std::vector<std::string> factors_set;  // overrides of factors, apart from those of the system
};

// UserError for what is no number of watts above 0.
Watts read_power_limit(const std::string& text);

// The factors of the request, with its overrides.
GpuFactors factors_of(const GpuRequest& resolved);

// Of factors that were fitted on another device or to another type, and of tables of the user's;
// `type`: as product_type() says it.
std::vector<std::string> factor_notes(const GpuFactors& factors, const std::string& type);

// What its boards draw, as they were measured and as they are asked for.
BoardEnergy energy_of_board(const GpuRequest& resolved);

// The limit that its boards keep: what is asked for, else that of the board; 0 for one that was
// changed, but not its process, memory or voltage: it takes the power that it needs.
Watts kept_limit(const GpuRequest& resolved, const BoardEnergy& board);

// A call of `graph` as the request has it made, and what keeps its clock down. References are kept.
GpuCall call_of(const GpuRequest& resolved, const Graph& graph, const GpuFactors& factors);
ClockLimits clock_limits_of(const GpuRequest& resolved);

// UserError for what GPUs do not do, types without a pipe, and parallelism that does not fit the
// GPUs of the system.
GpuRequest resolve_gpu(const Request& request);

// The graph that one GPU of a stage runs in prefill or decode.
Graph build_gpu_generation_graph(const GpuRequest& resolved, Phase phase, std::int64_t tokens,
                                 std::int64_t kv_len, int tensor_parallel);

}  // namespace foretell
