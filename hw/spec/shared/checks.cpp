#include "hw/spec/shared/checks.hpp"

#include <fmt/format.h>

#include "hw/spec/neuron/group_sizes.hpp"
#include "model/base/errors.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {

namespace {

constexpr int kTileColumns = 512;  // of the moving operand, as wide as a bank of PSUM

struct Topology {
  std::string_view name;
  int min_devices;
  int max_devices;
  int links;  // that each device needs
};

constexpr int kAnyNumber = 65536;
constexpr Topology kTopologies[] = {
    {"none", 1, 1, 0},
    {"chain", 2, kAnyNumber, 2},
    {"ring", 2, kAnyNumber, 2},
    {"torus-4x4", 16, 16, 4},
};

void check_topology(const NeuronSystemSpec& spec, std::string_view where, Problems& problems) {
  for (const Topology& topology : kTopologies) {
    if (topology.name != spec.topology) continue;
    if (spec.devices < topology.min_devices || spec.devices > topology.max_devices) {
      const std::string fitting = topology.min_devices == topology.max_devices
                                      ? std::to_string(topology.min_devices)
                                      : fmt::format("{} or more", topology.min_devices);
      problems.add(where, "system.topology",
                   fmt::format("'{}' links {} devices, system.devices is {}; change one of them",
                               spec.topology, fitting, spec.devices));
    }
    if (spec.device.link.count < topology.links) {
      problems.add(where, "link.count",
                   fmt::format("topology '{}' needs {} links per device, there are {}",
                               spec.topology, topology.links, spec.device.link.count));
    }
    return;
  }
}

void check_collectives(const NeuronDeviceSpec& device, std::string_view where, Problems& problems) {
  try {
    parse_group_sizes(device.collective.group_sizes);
  } catch (const UserError& error) {
    problems.add(where, "device.collective.group_sizes", error.what());
  }
}

void check_partitions(const NeuronCoreSpec& core, std::string_view where, Problems& problems) {
  const auto same = [&](std::string_view name, int value, std::string_view other, int wanted) {
    if (value == wanted) return;
    problems.add(where, name, fmt::format("{} differs from {}, which is {}", value, other, wanted));
  };
  same("core.sbuf.partitions", core.sbuf.partitions, "core.tensor.rows", core.tensor.rows);
  same("core.psum.partitions", core.psum.partitions, "core.tensor.columns", core.tensor.columns);
}

void check_psum_bank(const NeuronCoreSpec& core, std::string_view where, Problems& problems) {
  const Bytes bank = core.psum.capacity / (1.0 * core.psum.partitions * core.psum.banks);
  const Bytes needed = Bytes(4.0) * core.tensor.max_moving;  // results are FP32
  if (needed <= bank) return;
  problems.add(where, "core.tensor.max_moving",
               fmt::format("{} FP32 results need {} of a PSUM bank per partition, a bank has {} "
                           "(core.psum.capacity / partitions / banks)",
                           core.tensor.max_moving, format_quantity(needed), format_quantity(bank)));
}

}  // namespace

void check_system(const NeuronSystemSpec& spec, std::string_view where, Problems& problems) {
  if (spec.device.core.tensor.max_moving < kTileColumns) {
    problems.add(
        where, "core.tensor.max_moving",
        fmt::format("{}: operators are mapped to tiles of {} columns, not to narrower ones; "
                    "set {} or more",
                    spec.device.core.tensor.max_moving, kTileColumns, kTileColumns));
  }
  check_topology(spec, where, problems);
  check_collectives(spec.device, where, problems);
  check_partitions(spec.device.core, where, problems);
  check_psum_bank(spec.device.core, where, problems);
  if (spec.device.core.tensor.cycles_per_column.empty()) {
    problems.add(where, "core.tensor.cycles_per_column", "names no data type");
  }
}

}  // namespace foretell
