#include "hw/spec/shared/checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hw/spec/neuron/group_sizes.hpp"
#include "hw/spec/neuron/logical_core.hpp"
#include "hw/spec/neuron/tile_sizes.hpp"
#include "model/base/errors.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {

namespace {

struct Topology {
  std::string_view name;
  int min_devices;
  int max_devices;
  int links;  // that each device needs
};

constexpr int kAnyCount = 65536;
constexpr Topology kTopologies[] = {
    {"none", 1, 1, 0},
    {"chain", 2, kAnyCount, 2},
    {"ring", 2, kAnyCount, 2},
    {"torus-4x4", 16, 16, 4},
};

void check_topology(const NeuronSystemSpec& spec, std::string_view where, Problems& problems) {
  for (const Topology& topology : kTopologies) {
    if (topology.name != spec.topology) continue;
    const int devices = spec.devices_of_instance();
    if (devices < topology.min_devices || devices > topology.max_devices) {
      const std::string fitting = topology.min_devices == topology.max_devices
                                      ? std::to_string(topology.min_devices)
                                      : fmt::format("{} or more", topology.min_devices);
      problems.add(where, "system.topology",
                   fmt::format("'{}' links {} devices, system.devices is {}; change one of them",
                               spec.topology, fitting, devices));
    }
    if (spec.device.link.count < topology.links) {
      problems.add(where, "link.count",
                   fmt::format("topology '{}' needs {} links per device, there are {}",
                               spec.topology, topology.links, spec.device.link.count));
    }
    return;
  }
}

void check_instances(const NeuronSystemSpec& spec, std::string_view where, Problems& problems) {
  if (spec.devices % spec.instance_count() != 0) {
    problems.add(where, "system.devices",
                 fmt::format("{} devices do not divide into {} instances", spec.devices,
                             spec.instance_count()));
  }
  const bool networked = spec.network > BytesPerSecond(0) && spec.network_hop > Seconds(0);
  if (spec.instance_count() > 1 && !networked && spec.neighbour_bandwidth == BytesPerSecond(0)) {
    problems.add(where, "system.instances",
                 "several need system.network and system.network_hop, or "
                 "system.neighbour_bandwidth");
  }
}

void check_collectives(const NeuronDeviceSpec& device, std::string_view where, Problems& problems) {
  try {
    parse_group_sizes(device.collective.group_sizes);
  } catch (const UserError& error) {
    problems.add(where, "device.collective.group_sizes", error.what());
  }
}

// What the tensor engine transposes at once has to fit a bank of PSUM, of a logical core where
// cores are joined to one.
void check_tiles(const NeuronDeviceSpec& device, std::string_view where, Problems& problems) {
  const int joined = std::max(1, device.cores_per_logical_core);
  if (device.cores % joined != 0) return;  // said where the cores are joined
  const NeuronCoreSpec core = with_logical_cores(device).core;
  const TileSizes sizes = tile_sizes(core_shape(core));
  if (sizes.bank_columns >= sizes.rows) return;
  const int across = std::max(core.psum.partitions, sizes.rows);
  const Bytes needed = Bytes(4.0) * core.psum.banks * across * sizes.rows / joined;
  problems.add(where, "core.psum.capacity",
               fmt::format("{} in {} banks: a bank does not hold a tile of {} x {} FP32 sums, the "
                           "largest of core.tensor.rows, core.tensor.columns and "
                           "core.sbuf.partitions{}; set {} or more, or fewer core.psum.banks",
                           format_quantity(device.core.psum.capacity), core.psum.banks, sizes.rows,
                           sizes.rows, joined > 1 ? fmt::format(" of {} joined cores", joined) : "",
                           format_quantity(needed)));
}

}  // namespace

void check_system(const NeuronSystemSpec& spec, std::string_view where, Problems& problems) {
  check_instances(spec, where, problems);
  check_topology(spec, where, problems);
  check_collectives(spec.device, where, problems);
  check_tiles(spec.device, where, problems);
  if (spec.device.core.tensor.cycles_per_column.empty()) {
    problems.add(where, "core.tensor.cycles_per_column", "names no data type");
  }
}

}  // namespace foretell
