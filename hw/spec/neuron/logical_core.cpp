#include "hw/spec/neuron/logical_core.hpp"

#include <fmt/format.h>

#include <utility>

#include "model/base/errors.hpp"

namespace foretell {

NeuronDeviceSpec with_logical_cores(NeuronDeviceSpec device) {
  const int joined = device.cores_per_logical_core;
  if (joined <= 1) return device;
  if (device.cores % joined != 0) {
    throw UserError(fmt::format(
        "device.cores_per_logical_core: {} cores of {} are no whole number of logical cores of {} "
        "each; --set device.cores_per_logical_core=1 uses physical cores",
        device.cores, device.id, joined));
  }
  device.cores /= joined;
  device.host.runtime_memory = device.host.runtime_memory * joined;
  NeuronCoreSpec& core = device.core;
  core.tensor.columns *= joined;
  for (LaneEngineSpec* engine : {&core.vector, &core.scalar, &core.gpsimd}) engine->lanes *= joined;
  core.sbuf.capacity = core.sbuf.capacity * joined;
  core.sbuf.partitions *= joined;
  core.psum.capacity = core.psum.capacity * joined;
  core.psum.partitions *= joined;
  core.dma.engines *= joined;
  return device;
}

NeuronSystemSpec with_logical_cores(NeuronSystemSpec system) {
  system.device = with_logical_cores(std::move(system.device));
  for (auto& [index, device] : system.different) device = with_logical_cores(std::move(device));
  return system;
}

}  // namespace foretell
