// CPUs as a family of devices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calib/fitted/cpu/cpu_factors.hpp"
#include "calib/fitted/shared/common_factors_use.hpp"
#include "hw/spec/cpu/cpu_catalog.hpp"
#include "hw/spec/shared/kernel_files.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/memory_check.hpp"
#include "model/app/request/record/intervals.hpp"
#include "model/base/errors.hpp"
#include "model/mapping/cpu/map_graph.hpp"
#include "model/predict/calls/cpu_call.hpp"
#include "model/predict/calls/gpu_memory.hpp"
#include "model/predict/power/drawn_power.hpp"

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

int product_bits(const PrecisionPolicy& precision) {
  constexpr double kBitsPerByte = 8;
  return static_cast<int>(kBitsPerByte * size_of(precision.matmul_compute).value());
}

// Of a CPU that takes the factors of another one: what its interval is made of.
std::string interval_note(const PrecisionPolicy& precision) {
  std::string note =
      "interval: of published networks of images in fp32, one image a call, on a CPU that was not "
      "measured, either";
  constexpr int kJudgedBits = 32;
  if (product_bits(precision) != kJudgedBits) {
    note += fmt::format("; none was in {}, so it is wider, by a share that is assumed",
                        to_string(precision.matmul_compute));
  }
  return note;
}

// Those of the machine that is sold: what was measured does not change with --set.
ChosenCpuFactors factors_for(const Request& request, const MachineSet& set,
                             const CpuDeviceSpec& device) {
  if (set.system.empty()) return choose_cpu_factors(device, request.factors, set.factors);
  const CpuDeviceSpec sold = CpuCatalog().load(request.system).spec.device;
  return choose_cpu_factors(sold, request.factors, set.factors);
}

CpuRequest resolve_cpu(const Request& request) {
  CpuRequest resolved;
  const MachineSet set = split_machine_set(request);
  resolved.system = CpuCatalog().load(request.system, set.system);
  const CpuSystemSpec& spec = resolved.system.spec;
  const bool has_bf16 = spec.device.flops_per_cycle.count("bf16") > 0;
  resolve_workload(request, has_bf16 ? "bf16" : "fp32", resolved);
  resolved.request.system = spec.id;
  resolved.precision = precision_on_cpu(resolved.precision, spec.device);
  resolved.factors = factors_for(request, set, spec.device);
  use_measured_clock(resolved.factors, resolved.system);
  const std::string likeness = take_for_measured(resolved.factors, resolved.system);
  if (!likeness.empty()) resolved.notes.push_back(likeness);
  for (const Parameter& parameter : resolved.system.parameters) {
    if (parameter.path == "device.cores" && parameter.overridden)
      resolved.notes.emplace_back("device.cores bounds no time: a call has those of system.cores");
  }
  const ChosenCpuFactors& factors = resolved.factors;
  if (!factors.note.empty()) resolved.notes.push_back(factors.note);
  if (!factors.note.empty() && !factors.intervals.by_class.empty())
    resolved.notes.push_back(interval_note(resolved.precision));
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

EnergyFacts energy_of(const CpuRequest& resolved) {
  const CpuSystemSpec& spec = resolved.system.spec;
  EnergyFacts facts;
  const Request& request = resolved.request;
  facts.energy =
      changed_energy(load_device_energy({spec.device.id, "cpu"}, Watts(0), request.factors),
                     energy_change(spec.device.id, {request.node, request.hbm}));
  facts.devices = spec.sockets;
  const double cores = static_cast<double>(spec.cores) / spec.sockets;
  facts.setting = {1, std::min(facts.devices, std::ceil(resolved.request.cores / cores)), Watts(0)};
  facts.host = load_host_power(spec.id, "cpu");
  return facts;
}

SystemFacts facts_of(const LoadedCpuSystem& system, const ChosenCpuFactors& factors) {
  SystemFacts facts = facts_of(system, factors.id);
  facts.parameters.insert(facts.parameters.end(), factors.parameters.begin(),
                          factors.parameters.end());
  return facts;
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

class CpuDevice final : public ResolvedDevice {
 public:
  explicit CpuDevice(const Request& request)
      : resolved_(resolve_cpu(request)), system_(part_of_copy(resolved_)) {}

  const ResolvedWorkload& workload() const override { return resolved_; }

  SystemFacts facts() const override {
    SystemFacts facts = facts_of(resolved_.system, resolved_.factors);
    facts.assumed_values += assumed_shapes_of_cpu_loops() + assumed_common_factors_of_cpus();
    facts.machine = machine_of(resolved_);
    facts.interval80 = interval();
    facts.energy = energy_of(resolved_);
    return facts;
  }

  Metrics call(const Graph& graph, Phase /*phase*/) override {
    CpuCallResult result = run_cpu_call(call_of(graph));
    parts_.insert(parts_.end(), result.parts.begin(), result.parts.end());
    return std::move(result.metrics);
  }

  ShownCall show(const Graph& graph, Phase /*phase*/) const override {
    CpuCall call = call_of(graph);
    call.for_timeline = true;
    CpuCallResult result = run_cpu_call(call);
    const EnergyFacts energy = energy_of(resolved_);
    // A copy has its share of the sockets.
    const Watts idle =
        idle_power(1, energy.energy.facts) * (energy.setting.devices / resolved_.request.dp);
    set_kernel_power(result.metrics, energy.energy, idle, Watts(0), result.loops);
    ShownCall shown;
    shown.kernels = std::move(result.loops);
    return shown;
  }
  KernelTraceWords words() const override { return {system_.device.name, "call"}; }

  MemoryUse memory_of(const Graph& graph) const override { return memory_of_gpu(graph); }

  MemoryRules memory_rules() const override {
    const Request& request = resolved_.request;
    MemoryRules rules;
    rules.part = fmt::format("{} {} on {}", request.dp, request.dp == 1 ? "copy" : "copies",
                             resolved_.system.spec.id);
    rules.needs_plural = request.dp > 1;
    rules.program_each = false;
    rules.advice =
        "lower --batch or --dp, or name a larger system" + smaller_weights(resolved_.precision);
    if (request.input_len == 0) return rules;
    const std::int64_t positions = cached_positions(resolved_);
    rules.prefill = prefill_pass(*this);
    rules.prefill.kv_len = std::max(request.input_len, positions);
    rules.decode = decode_pass(*this, positions);
    return rules;
  }

  // Every copy lies in the one memory.
  MemoryPlace place() const override {
    MemoryPlace place;
    place.system = resolved_.system.spec.id;
    place.parts = resolved_.request.dp;
    place.capacity = resolved_.system.spec.memory;
    return place;
  }

 private:
  CpuCall call_of(const Graph& graph) const {
    CpuCall call{graph, resolved_.precision, system_, resolved_.factors.factors};
    call.threads = system_.cores;
    call.exact = resolved_.request.exact;
    return call;
  }

  // Measured on the very CPU: what its operators showed, and how their errors go together. On
  // others at least what published networks on CPUs say that were not measured. Nothing by
  // published facts alone.
  std::optional<Interval> interval() const {
    const CpuIntervals& known = resolved_.factors.intervals;
    if (parts_.empty() || known.by_class.empty()) return {};
    const auto [low, high] = chain_interval80(parts_, known);
    if (resolved_.factors.note.empty()) return Interval{low, high};
    const Interval networks = default_intervals()
                                  .choose("cpu", "network", "any", IntervalQuantity::kCall,
                                          {static_cast<double>(product_bits(resolved_.precision))})
                                  .ratio;
    return Interval{std::min(networks.low, low), std::max(networks.high, high)};
  }

  CpuRequest resolved_;
  CpuSystemSpec system_;            // of one copy
  std::vector<CpuTimePart> parts_;  // of all calls
};

class CpuFamily final : public DeviceFamily {
 public:
  std::string_view name() const override { return "cpu"; }
  std::string_view recognised_by() const override { return "a machine with CPUs has 'sockets'"; }
  std::vector<std::string> systems() const override { return CpuCatalog().systems(); }
  std::vector<std::string> devices() const override { return CpuCatalog().devices(); }
  bool has_system(std::string_view id) const override { return CpuCatalog().has_system(id); }
  std::string find_system(std::string_view id) const override {
    return CpuCatalog().find_system(id);
  }

  SystemSheet sheet(const Request& request) const override {
    const MachineSet set = split_machine_set(request);
    LoadedCpuSystem system = CpuCatalog().load(request.system, set.system);
    const CpuSystemSpec& spec = system.spec;
    const ChosenCpuFactors factors = factors_for(request, set, spec.device);
    use_measured_clock(factors, system);
    const std::string likeness = take_for_measured(factors, system);
    SystemSheet sheet;
    sheet.facts = facts_of(system, factors);
    sheet.heading =
        fmt::format("{}: {} cores of {}, factors {}, assumed values: {}", system.spec_id,
                    spec.cores, spec.device.name, factors.id, system.assumed_values);
    if (!likeness.empty()) sheet.heading += "\n" + likeness;
    sheet.name = spec.device.name;
    sheet.devices = spec.sockets;
    sheet.parts = spec.cores;
    sheet.memory = spec.memory;
    sheet.vcpus = spec.vcpus;
    sheet.limits.threads = spec.cores;
    // An instance may have more than its part of a socket's channels for a while.
    const CpuDramSpec& dram = spec.device.dram;
    sheet.stated.memory_rate = spec.sockets * dram.channels * dram.channel_bandwidth;
    sheet.execute = [spec](const Program& program) {
      return foretell::simulate(CpuMachine{spec}, program);
    };
    sheet.device_memory = spec.memory;
    sheet.words = {spec.device.name, "call"};
    return sheet;
  }

  // The program itself decides, in nanoseconds.
  Seconds branch_time(const Request& request) const override {
    return resolve_cpu(request).system.spec.device.branch_time;
  }

  std::vector<ImprovedPart> improved_parts(const Request& request) const override {
    if (request.workload.empty()) return {};  // loops written by hand state their times
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

 private:
  std::unique_ptr<ResolvedDevice> make_device(const Request& request) const override {
    return std::make_unique<CpuDevice>(request);
  }
};

}  // namespace

const DeviceFamily& cpu_family() {
  static const CpuFamily kFamily;
  return kFamily;
}

}  // namespace foretell
