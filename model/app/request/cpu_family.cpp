// CPUs as a family of devices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hw/spec/cpu/cpu_catalog.hpp"
#include "hw/spec/cpu/cpu_factors.hpp"
#include "model/app/request/device_family.hpp"
#include "model/app/request/make_record.hpp"
#include "model/app/request/refuse_option.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/mapping/cpu/map_graph.hpp"
#include "model/predict/cpu_call.hpp"
#include "model/predict/generation.hpp"
#include "model/predict/gpu_memory.hpp"
#include "model/predict/memory_use.hpp"

namespace foretell {
namespace {

struct CpuRequest : ResolvedWorkload {
  LoadedCpuSystem system;  // overrides applied
  ChosenCpuFactors factors;
};

// One copy has its part of the cores, of the third-level cache and of the memory channels.
CpuSystemSpec part_of_copy(const CpuRequest& resolved) {
  CpuSystemSpec spec = resolved.system.spec;
  const int copies = resolved.request.dp;
  spec.cores = resolved.request.cores / copies;
  spec.sockets = std::min(spec.sockets, std::max(1, spec.cores));
  const double sockets = static_cast<double>(resolved.system.spec.sockets) / spec.sockets;
  spec.l3_share = std::min(1.0, spec.l3_share * sockets / copies);
  spec.dram_share = std::min(1.0, spec.dram_share * sockets / copies);
  return spec;
}

CpuRequest resolve_cpu(const Request& request) {
  check_request(request);
  refuse_fields(request, "cpu");
  CpuRequest resolved;
  std::vector<std::string> system_set;
  std::vector<std::string> factors_set;
  for (const std::string& assignment : machine_set(request)) {
    (starts_with(trim(assignment), "factors.") ? factors_set : system_set).push_back(assignment);
  }
  resolved.system = CpuCatalog().load(request.system, system_set);
  const CpuSystemSpec& spec = resolved.system.spec;
  const bool has_bf16 = spec.device.flops_per_cycle.count("bf16") > 0;
  resolve_workload(request, has_bf16 ? "bf16" : "fp32", resolved);
  resolved.request.system = spec.id;
  resolved.precision = precision_on_cpu(resolved.precision, spec.device);
  resolved.factors = choose_cpu_factors(spec.device, request.factors, factors_set);
  if (!resolved.factors.note.empty()) resolved.notes.push_back(resolved.factors.note);
  Request& filled = resolved.request;
  filled.tp = filled.pp = 1;
  if (filled.cores > spec.cores) {
    throw UserError(
        fmt::format("cores: {} has {} physical cores, not {}; lower --cores or name a "
                    "larger system",
                    spec.id, spec.cores, filled.cores));
  }
  if (filled.cores == 0) filled.cores = spec.cores;
  if (filled.dp == 0) filled.dp = std::min(spec.sockets, filled.cores);
  if (filled.dp > filled.cores) {
    throw UserError(fmt::format("dp: {} copies need a core each, but {} are used of {}; lower --dp",
                                filled.dp, filled.cores, spec.id));
  }
  resolved.serving = Serving{filled.batch, filled.dp, filled.in_flight};
  return resolved;
}

Graph generation_graph(const CpuRequest& resolved, Phase phase, std::int64_t tokens,
                       std::int64_t kv_len) {
  Binding binding;
  binding.batch = resolved.request.batch;
  binding.seq_len = tokens;
  binding.phase = phase;
  binding.kv_len = kv_len;
  if (resolved.model.family == Family::kEncoderDecoder) {
    binding.encoder_len = resolved.request.input_len;
  }
  Graph graph = build_graph(resolved.model, binding);
  apply_precision(resolved.precision, &graph);
  return graph;
}

MemoryUse check_memory(const CpuRequest& resolved) {
  const Request& request = resolved.request;
  MemoryUse use;
  if (trains(request)) {
    use = memory_of_training(build_training_step(resolved), Bytes(0));
  } else if (request.input_len == 0) {
    use = memory_of_gpu(build_resolved_graph(resolved));
  } else {
    const std::int64_t positions = cached_positions(resolved);
    use = largest(memory_of_gpu(generation_graph(resolved, Phase::kPrefill, request.input_len,
                                                 std::max(request.input_len, positions))),
                  memory_of_gpu(generation_graph(resolved, Phase::kDecode, 1, positions)));
  }
  use = use * request.dp;
  const Bytes capacity = resolved.system.spec.memory;
  if (use.total() <= capacity) return use;
  if (trains(request)) {
    throw UserError(fmt::format("{}: {} has {:.1f} GiB; {}", resolved.model.name,
                                resolved.system.spec.id, capacity.value() / kGiB,
                                training_memory_text(use)));
  }
  throw UserError(fmt::format(
      "{}: {} {} needs {:.1f} GiB, but {} has {:.1f} GiB; lower --batch or --dp, name a larger "
      "system or take a smaller weight type, for example --dtype int8-weights",
      resolved.model.name, request.dp, request.dp == 1 ? "copy" : "copies",
      use.total().value() / kGiB, resolved.system.spec.id, capacity.value() / kGiB));
}

class CpuSimulation {
 public:
  explicit CpuSimulation(const CpuRequest& resolved)
      : resolved_(resolved), system_(part_of_copy(resolved)) {}

  Metrics run() {
    const MemoryUse memory = check_memory(resolved_);
    Metrics metrics = resolved_.request.input_len > 0 ? generation() : forward();
    metrics.memory = memory;
    metrics.memory_capacity = resolved_.system.spec.memory;
    if (trains(resolved_.request))
      note_training(build_training_step(resolved_), resolved_.request, metrics);
    write_timeline();
    return metrics;
  }

  // Of all calls of the run.
  const std::vector<CpuTimePart>& parts() const { return parts_; }

 private:
  CpuCallResult call(const Graph& graph) {
    CpuCall call{graph, resolved_.precision, system_, resolved_.factors.factors};
    call.threads = system_.cores;
    call.exact = resolved_.request.exact;
    call.for_timeline = !resolved_.request.trace_file.empty();
    CpuCallResult result = run_cpu_call(call);
    parts_.insert(parts_.end(), result.parts.begin(), result.parts.end());
    return result;
  }

  // A network that is not cut into stages.
  static PipelinePass whole(Metrics metrics) {
    const Seconds time = metrics.call;
    return {std::move(metrics), time, Bytes(0)};
  }

  Metrics forward() {
    CpuCallResult result = call(build_resolved_graph(resolved_));
    timeline_ = std::move(result.loops);
    return result.metrics;
  }

  Metrics generation() {
    const Request& request = resolved_.request;
    const bool encodes = resolved_.model.family == Family::kEncoderDecoder;
    Generation generation;
    generation.prefill = [&] {
      const std::int64_t kv_len = encodes ? cached_positions(resolved_) : request.input_len;
      CpuCallResult result =
          call(generation_graph(resolved_, Phase::kPrefill, request.input_len, kv_len));
      timeline_ = std::move(result.loops);
      return whole(std::move(result.metrics));
    };
    generation.decode = [&](std::int64_t kv_len) {
      CpuCallResult result = call(generation_graph(resolved_, Phase::kDecode, 1, kv_len));
      step_ = std::move(result.loops);
      return whole(std::move(result.metrics));
    };
    generation.input_len = request.input_len;
    generation.output_len = request.output_len;
    generation.prompt_in_cache = !encodes;
    generation.exact = request.exact;
    return run_generation(generation);
  }

  // Of a generation: the prefill and, after it, the median decode step.
  void write_timeline() const {
    std::vector<KernelCall> calls = {{step_.empty() ? "" : "prefill", timeline_}};
    if (!step_.empty()) calls.push_back({"decode step", step_});
    write_kernel_trace_file(resolved_.request.trace_file,
                            {resolved_.system.spec.device.name, "call"}, calls);
  }

  const CpuRequest& resolved_;
  CpuSystemSpec system_;
  std::vector<KernelRun> timeline_;
  std::vector<KernelRun> step_;  // the last decode step
  std::vector<CpuTimePart> parts_;
};

std::vector<Parameter> parameters_of_request(const CpuRequest& resolved) {
  std::vector<Parameter> parameters = resolved.system.parameters;
  for (const Parameter& factor : resolved.factors.parameters) parameters.push_back(factor);
  return parameters;
}

std::string source_of(const CpuRequest& resolved, const std::string& path) {
  for (const Parameter& parameter : resolved.system.parameters) {
    if (parameter.path == path) return parameter.source;
  }
  return "";
}

// The rates of what one copy of the network has.
MachineRecord machine_of(const CpuRequest& resolved) {
  const CpuSystemSpec spec = part_of_copy(resolved);
  const std::string type(to_string(resolved.precision.matmul_compute));
  MachineRecord machine;
  machine.device = spec.device.name;
  machine.part = std::to_string(spec.cores) + (spec.cores == 1 ? " core" : " cores");
  machine.compute.push_back({machine.part + ", " + type,
                             core_rate(spec.device, type).value() * spec.cores,
                             source_of(resolved, "device.flops_per_cycle." + type)});
  machine.bandwidths.push_back({"memory channels", dram_bandwidth(spec).value(),
                                source_of(resolved, "device.dram.channel_bandwidth")});
  return machine;
}

// Measured on the very CPU: what its operators showed, and how their errors go together. On others
// there is nothing to go by, and the default of all machines is shown.
std::optional<Interval> interval_of(const CpuRequest& resolved,
                                    const std::vector<CpuTimePart>& parts) {
  const CpuIntervals& known = resolved.factors.intervals;
  if (known.by_class.empty() || !resolved.factors.note.empty()) return {};
  const auto [low, high] = chain_interval80(parts, known);
  return Interval{low, high};
}

class CpuFamily : public DeviceFamily {
 public:
  std::vector<std::string> systems() const override { return CpuCatalog().systems(); }
  bool has_system(std::string_view id) const override { return CpuCatalog().has_system(id); }
  std::string find_system(std::string_view id) const override {
    return CpuCatalog().find_system(id);
  }

  RunRecord predict(const Request& request) const override {
    const CpuRequest resolved = resolve_cpu(request);
    const CpuSystemSpec& spec = resolved.system.spec;
    SystemFacts facts;
    facts.system = spec.id;
    facts.device = spec.device.id;
    facts.factors = resolved.factors.id;
    facts.assumed_values = resolved.system.assumed_values;
    facts.prices = spec.price_usd_per_hour;
    facts.parameters = parameters_of_request(resolved);
    facts.machine = machine_of(resolved);
    CpuSimulation simulation(resolved);
    const Metrics metrics = simulation.run();
    facts.interval80 = interval_of(resolved, simulation.parts());
    EnergyFacts energy;
    energy.energy = load_device_energy({spec.device.id, "cpu"}, 0);
    energy.devices = spec.sockets;
    const double cores = static_cast<double>(spec.cores) / spec.sockets;
    energy.setting = {1, std::min(energy.devices, std::ceil(resolved.request.cores / cores)),
                      Watts(0)};
    energy.host = load_host_power(spec.id, "cpu");
    facts.energy = std::move(energy);
    return make_record(resolved, facts, metrics);
  }

  // The program itself decides, in nanoseconds.
  Seconds branch_time(const Request& request) const override {
    return resolve_cpu(request).system.spec.device.branch_time;
  }

  std::int64_t smallest_bucket(const Request& /*request*/) const override {
    return published_smallest_bucket();
  }

  std::vector<Parameter> parameters(const Request& request) const override {
    return parameters_of_request(resolve_cpu(request));
  }

  Prices prices(const Request& request) const override {
    return CpuCatalog().load(request.system).spec.price_usd_per_hour;
  }

  std::vector<ImprovedPart> improved_parts(const Request& request) const override {
    const CpuRequest resolved = resolve_cpu(request);
    const std::string type(to_string(resolved.precision.matmul_compute));
    return {{"device.flops_per_cycle." + type, "products of " + type + " per cycle", 2},
            {"device.clock.all_core", "clock of the cores", 2},
            {"device.dram.channel_bandwidth", "memory channels", 2},
            {"factors.core_dram", "memory bandwidth of a core", 2},
            {"device.cache.l3", "third-level cache", 2},
            {"device.cache.l3_bandwidth", "third-level cache bandwidth", 2},
            {"factors.call", "calls of primitives", 0.5},
            {"device.fork_join", "fork and join", 0.5}};
  }
};

}  // namespace

const DeviceFamily& cpu_family() {
  static const CpuFamily kFamily;
  return kFamily;
}

}  // namespace foretell
