// GPUs as a family of devices.
#include <algorithm>
#include <optional>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/request/device_family.hpp"
#include "model/app/request/gpu_request.hpp"
#include "model/app/request/intervals.hpp"
#include "model/app/request/machine_facts.hpp"
#include "model/app/request/make_record.hpp"
#include "model/mapping/gpu/product_kernels.hpp"

namespace foretell {
namespace {

std::string type_of(const GpuRequest& resolved) {
  return product_type(resolved.precision.matmul_compute, resolved.precision.weight_storage);
}

std::vector<Parameter> parameters_of(const GpuRequest& resolved, const GpuFactors& factors) {
  std::vector<Parameter> parameters = resolved.system.parameters;
  for (Parameter& factor : factors.parameters(type_of(resolved))) {
    parameters.push_back(std::move(factor));
  }
  return parameters;
}

// What the kernels say, and at least what published networks say: libraries, their versions and
// fusions differ by more than the kernels of one of them.
std::optional<Interval> interval_of(const GpuOutcome& outcome) {
  if (!outcome.interval80) return std::nullopt;
  const Interval networks = default_intervals().choose("gpu", "network", "any").ratio;
  return Interval{std::min(networks.low, outcome.interval80->first),
                  std::max(networks.high, outcome.interval80->second)};
}

EnergyFacts energy_of(const GpuRequest& resolved) {
  const GpuSystemSpec& spec = resolved.system.spec;
  const Request& request = resolved.request;
  EnergyFacts facts;
  facts.energy = load_gpu_energy(spec.device);
  const double ranks = request.tp * std::max(1, request.attention_dp);
  const Watts limit(resolved.power_limit > 0 ? resolved.power_limit : spec.device.power_watts);
  facts.setting = {ranks, ranks * request.pp * request.dp, limit};
  facts.host = load_host_power(spec.id, spec.interconnect);
  facts.devices = spec.devices;
  return facts;
}

class GpuFamily : public DeviceFamily {
 public:
  std::vector<std::string> systems() const override { return GpuCatalog().systems(); }
  bool has_system(std::string_view id) const override { return GpuCatalog().has_system(id); }
  std::string find_system(std::string_view id) const override {
    return GpuCatalog().find_system(id);
  }

  RunRecord predict(const Request& request) const override {
    GpuRequest resolved = resolve_gpu(request);
    const GpuSystemSpec& spec = resolved.system.spec;
    const GpuFactors factors = factors_of(resolved);
    const std::string from = factors.note(type_of(resolved));
    if (!from.empty()) resolved.notes.push_back(from);
    std::vector<std::string> notes;
    const GpuOutcome outcome = simulate_gpu_request(resolved, factors, notes);
    for (std::string& note : notes) resolved.notes.push_back(std::move(note));
    SystemFacts facts{spec.id,
                      spec.device.id,
                      factors.id(),
                      resolved.system.assumed_values,
                      spec.price_usd_per_hour,
                      parameters_of(resolved, factors),
                      gpu_machine(resolved.system, resolved.precision.matmul_compute)};
    facts.interval80 = interval_of(outcome);
    facts.energy = energy_of(resolved);
    return make_record(resolved, facts, outcome.metrics);
  }

  // In a graph a kernel sets the condition and a conditional node of CUDA 12.4 starts the part; in
  // a stream the condition is copied to the host, which launches the part.
  Seconds branch_time(const Request& request) const override {
    const GpuRequest resolved = resolve_gpu(request);
    const GpuDeviceSpec& device = resolved.system.spec.device;
    const bool stream = resolved.launch == LaunchKind::kStream;
    return device.branch_kernels * (stream ? device.stream_floor : device.launch_floor);
  }

  std::int64_t smallest_bucket(const Request& /*request*/) const override {
    return published_smallest_bucket();
  }

  std::vector<Parameter> parameters(const Request& request) const override {
    const GpuRequest resolved = resolve_gpu(request);
    return parameters_of(resolved, factors_of(resolved));
  }

  Prices prices(const Request& request) const override {
    return GpuCatalog().load(request.system).spec.price_usd_per_hour;
  }

  std::vector<ImprovedPart> improved_parts(const Request& request) const override {
    const GpuRequest resolved = resolve_gpu(request);
    const GpuDeviceSpec& device = resolved.system.spec.device;
    const std::string type(to_string(resolved.precision.matmul_compute));
    const bool matrix = device.matrix_rate.count(type) > 0;
    return {{(matrix ? "device.matrix_rate." : "device.vector_rate.") + type,
             (matrix ? "matrix pipe of " : "vector pipe of ") + type, 2},
            {"device.clock.boost", "clock of SMs, pipes and L2", 2},
            {"device.hbm.bandwidth", "memory bandwidth", 2},
            {"device.l2.capacity", "L2 capacity", 2},
            {"factors.sm_feed", "operands into an SM", 2},
            {"factors.launch", "kernel launch", 0.5},
            {"device.nvlink.bandwidth", "NVLink bandwidth", 2}};
  }
};

}  // namespace

const DeviceFamily& gpu_family() {
  static const GpuFamily kFamily;
  return kFamily;
}

}  // namespace foretell
