// The bridge from a resolved request to the model of a GPU.
#include <algorithm>

#include "model/app/request/gpu_request.hpp"
#include "model/base/errors.hpp"
#include "model/predict/generation.hpp"
#include "model/predict/gpu_call.hpp"
#include "model/predict/limited_call.hpp"
#include "model/system/kernel_trace.hpp"

namespace foretell {
namespace {

class Simulation {
 public:
  Simulation(const GpuRequest& resolved, const GpuFactors& factors, std::vector<std::string>& notes)
      : resolved_(resolved), factors_(factors), notes_(notes) {}

  GpuOutcome run() {
    const MemoryUse memory = check_gpu_memory(resolved_);
    Metrics metrics = resolved_.request.input_len > 0 ? generation() : forward();
    metrics.memory = memory;
    if (trains(resolved_.request))
      note_training(build_training_step(resolved_), resolved_.request, metrics);
    write_timeline();
    GpuOutcome outcome{std::move(metrics), std::nullopt};
    if (factors_.id() != "none" && resolved_.launch == LaunchKind::kGraph) {
      outcome.interval80 = chain_interval80(parts_, kKernelCorrelation);
    }
    return outcome;
  }

 private:
  GpuCallResult call(const Graph& graph) {
    GpuCall call{graph, resolved_.precision, resolved_.system.spec, factors_};
    call.launch = resolved_.launch;
    call.sustained_clock = resolved_.sustained_clock;
    call.rotated_copies = resolved_.rotated_copies;
    call.heads_share_keys = resolved_.heads_share_keys;
    call.exact = resolved_.request.exact;
    call.for_timeline = !resolved_.request.trace_file.empty();
    const ClockLimits limits{Watts(resolved_.system.spec.device.power_watts),
                             Watts(resolved_.power_limit), resolved_.clock_share};
    GpuCallResult result = run_within(call, energy_, limits);
    parts_.insert(parts_.end(), result.parts.begin(), result.parts.end());
    for (std::string& note : result.notes) {
      const bool is_known = std::find(notes_.begin(), notes_.end(), note) != notes_.end();
      if (!is_known) notes_.push_back(std::move(note));
    }
    return result;
  }

  Metrics forward() {
    GpuCallResult result = call(build_gpu_graph(resolved_));
    timeline_ = std::move(result.kernels);
    return result.metrics;
  }

  Metrics generation() {
    const Request& request = resolved_.request;
    const bool encodes = resolved_.model.family == Family::kEncoderDecoder;
    Generation generation;
    generation.prefill = [&] {
      const std::int64_t kv_len = encodes ? cached_positions(resolved_) : request.input_len;
      return pass(Phase::kPrefill, request.input_len, kv_len, timeline_);
    };
    generation.decode = [&](std::int64_t kv_len) { return pass(Phase::kDecode, 1, kv_len, step_); };
    generation.stages = request.pp;
    generation.input_len = request.input_len;
    generation.output_len = request.output_len;
    generation.prompt_in_cache = !encodes;
    generation.exact = request.exact;
    return run_generation(generation);
  }

  // Through all stages; `kernels` are those of the last one.
  PipelinePass pass(Phase phase, std::int64_t tokens, std::int64_t kv_len,
                    std::vector<KernelRun>& kernels) {
    const Request& request = resolved_.request;
    Pipeline pipeline;
    pipeline.layers = resolved_.model.layers;
    pipeline.stages = request.pp;
    return run_pipeline(
        pipeline,
        [&](Bytes bytes) { return handover_time(resolved_.system.spec, factors_, bytes); },
        [&](const LayerRange& layers) {
          return build_gpu_generation_graph(resolved_, phase, tokens, kv_len, request.tp, layers);
        },
        [&](const Graph& graph) {
          GpuCallResult result = call(graph);
          kernels = std::move(result.kernels);
          return result.metrics;
        });
  }

  // Of a generation: the prefill and, after it, the median decode step.
  void write_timeline() const {
    std::vector<KernelCall> calls = {{step_.empty() ? "" : "prefill", timeline_}};
    if (!step_.empty()) calls.push_back({"decode step", step_});
    write_kernel_trace_file(resolved_.request.trace_file,
                            {resolved_.system.spec.device.name, "launch"}, calls);
  }

  const GpuRequest& resolved_;
  const GpuFactors& factors_;
  DeviceEnergy energy_ = load_gpu_energy(resolved_.system.spec.device);
  std::vector<std::string>& notes_;
  std::vector<ChainPart> parts_;  // of all calls
  std::vector<KernelRun> timeline_;
  std::vector<KernelRun> step_;  // the last decode step
};

}  // namespace

GpuOutcome simulate_gpu_request(const GpuRequest& resolved, const GpuFactors& factors,
                                std::vector<std::string>& notes) {
  return Simulation(resolved, factors, notes).run();
}

}  // namespace foretell
