#include "model/app/request/record/machine_facts.hpp"

#include <string>
#include <vector>

namespace foretell {
namespace {

constexpr double kFlopsPerMac = 2;

std::string source_of(const std::vector<Parameter>& parameters, const std::string& path) {
  for (const Parameter& parameter : parameters) {
    if (parameter.path == path) return parameter.source;
  }
  return "";
}

double lane_rate(const LaneEngineSpec& engine) { return engine.clock.value() * engine.lanes; }

}  // namespace

MachineRecord neuron_machine(const LoadedSystem& system, DType matmul) {
  const NeuronDeviceSpec& device = system.spec.device;
  const NeuronCoreSpec& core = device.core;
  const auto source = [&system](const char* path) { return source_of(system.parameters, path); };
  MachineRecord machine;
  machine.device = device.name;
  machine.devices = system.spec.devices;
  machine.part = "NeuronCore";
  machine.parts = device.cores;
  const std::string type(to_string(matmul));
  const auto cycles = core.tensor.cycles_per_column.find(type);
  if (cycles != core.tensor.cycles_per_column.end()) {
    machine.compute.push_back({"tensor engine, " + type,
                               core.tensor.clock.value() * core.tensor.rows * core.tensor.columns *
                                   kFlopsPerMac / cycles->second,
                               source("core.tensor.clock")});
  }
  machine.compute.push_back({"vector engine", lane_rate(core.vector), source("core.vector.clock")});
  const DmaSpec& dma = core.dma;
  machine.bandwidths.push_back({std::to_string(dma.engines) + " DMA engines of the core",
                                dma.engine_rate.value() * dma.engines,
                                source("core.dma.engine_rate")});
  machine.bandwidths.push_back({"HBM, shared by " + std::to_string(device.cores) + " cores",
                                device.hbm.bandwidth.value(), source("device.hbm.bandwidth")});
  return machine;
}

MachineRecord gpu_machine(const LoadedGpuSystem& system, DType matmul) {
  const GpuDeviceSpec& device = system.spec.device;
  const auto source = [&system](const std::string& path) {
    return source_of(system.parameters, path);
  };
  MachineRecord machine;
  machine.device = device.name;
  machine.devices = system.spec.devices;
  machine.part = "GPU";
  const auto add = [&](const char* pipe, const std::map<std::string, double>& rates,
                       const std::string& path, const std::string& type) {
    const auto found = rates.find(type);
    if (found == rates.end()) return;
    machine.compute.push_back({pipe + (", " + type), found->second, source(path + type)});
  };
  add("matrix pipe", device.matrix_rate, "device.matrix_rate.", std::string(to_string(matmul)));
  add("vector pipe", device.vector_rate, "device.vector_rate.", "fp32");
  machine.bandwidths.push_back(
      {"device memory", device.hbm.bandwidth.value(), source("device.hbm.bandwidth")});
  return machine;
}

}  // namespace foretell
