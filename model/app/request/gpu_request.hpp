// A request to GPUs with its names looked up and its defaults filled in.
#pragma once

#include <optional>
#include <utility>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/gpu/gpu_factors.hpp"
#include "model/app/request/resolved_workload.hpp"
#include "model/base/metrics.hpp"
#include "model/predict/pipeline.hpp"
#include "model/program/gpu_kernel.hpp"

namespace foretell {

struct GpuRequest : ResolvedWorkload {
  LoadedGpuSystem system;  // overrides applied
  LaunchKind launch = LaunchKind::kGraph;
  int rotated_copies = 1;
  bool sustained_clock = false;
  double clock_share = 1;  // of the boost clock, at most
  double power_limit = 0;  // watts of a board; 0: that of the board
  bool heads_share_keys = true;          // in kernels for tokens, by release
  std::vector<std::string> factors_set;  // overrides of factors, apart from those of the system
};

// The factors of the request, with its overrides.
GpuFactors factors_of(const GpuRequest& resolved);

// UserError for what GPUs do not do, types without a pipe, and parallelism that does not fit the
// GPUs of the system.
GpuRequest resolve_gpu(const Request& request);

// The graph of a forward pass or a training step.
Graph build_gpu_graph(const GpuRequest& resolved);

// The graph that one GPU of a stage runs in prefill or decode.
Graph build_gpu_generation_graph(const GpuRequest& resolved, Phase phase, std::int64_t tokens,
                                 std::int64_t kv_len, int tensor_parallel,
                                 const LayerRange& layers = {});

// Memory that the request needs on each GPU. UserError when it is more than there is, with the
// smallest GPU system that holds it.
MemoryUse check_gpu_memory(const GpuRequest& resolved);

// Of the errors of two kernels of one network: the median of what products that were held out show
// at equal rows, table by table (docs/calibration.md).
inline constexpr double kKernelCorrelation = 0.1;

struct GpuOutcome {
  Metrics metrics;
  // measured / predicted, from those of its kernels; nothing by published facts alone, and where
  // the host launches kernel by kernel, which nobody measured.
  std::optional<std::pair<double, double>> interval80;
};

// Executes one call of the request in the SystemC model. UserError when it cannot be mapped or
// does not fit the memory. Appends to `notes` where factors are from that were not fitted on the
// chip.
GpuOutcome simulate_gpu_request(const GpuRequest& resolved, const GpuFactors& factors,
                                std::vector<std::string>& notes);

}  // namespace foretell
