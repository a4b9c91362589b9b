#include "hw/spec/neuron/group_sizes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {

std::vector<int> parse_group_sizes(const std::string& text) {
  std::vector<int> sizes;
  for (const std::string& part : split(text, ',')) {
    const std::int64_t size = to_count(trim(part)).value_or(0);
    const int above = sizes.empty() ? 1 : sizes.back();
    if (size <= above || size > std::numeric_limits<int>::max()) {
      throw UserError(fmt::format(
          "'{}' is no list of ascending whole numbers above 1, such as '2, 4, 8'", text));
    }
    sizes.push_back(static_cast<int>(size));
  }
  return sizes;
}

namespace {

int cores_of_instance(const NeuronSystemSpec& system) {
  return system.devices_of_instance() * system.device.cores;
}

bool fills_devices(const NeuronDeviceSpec& device, int ranks) {
  return ranks <= device.cores || ranks % device.cores == 0;
}

// A degree that is listed, but does not fit the number of cores of a device.
std::string misfit(const NeuronSystemSpec& system, int ranks) {
  const NeuronDeviceSpec& device = system.device;
  const std::vector<int> listed = parse_group_sizes(device.collective.group_sizes);
  const bool is_listed = std::find(listed.begin(), listed.end(), ranks) != listed.end();
  if (!is_listed || fills_devices(device, ranks)) return "";
  return fmt::format(": {} ranks do not fill devices of {} cores", ranks, device.cores);
}

void require_cc_cores(const NeuronSystemSpec& system) {
  const NeuronDeviceSpec& device = system.device;
  const int needed = device.collective.rings * device.cores;
  if (device.cc_cores >= needed) return;
  throw UserError(fmt::format(
      "{}: device.cc_cores: {} {} of {} cores need {}, there are {}; --set device.cc_cores={}",
      system.id, device.collective.rings, device.collective.rings == 1 ? "ring" : "rings",
      device.cores, needed, device.cc_cores, needed));
}

}  // namespace

std::vector<int> allowed_group_sizes(const NeuronSystemSpec& system) {
  std::vector<int> allowed = {1};
  for (const int size : parse_group_sizes(system.device.collective.group_sizes)) {
    if (size > cores_of_instance(system)) continue;
    if (fills_devices(system.device, size)) allowed.push_back(size);
  }
  if (allowed.back() != cores_of_instance(system)) return allowed;
  for (int n = 2; n <= system.instance_count(); ++n)
    allowed.push_back(n * cores_of_instance(system));
  return allowed;
}

void require_group_size(const NeuronSystemSpec& system, int ranks, const std::string& what) {
  if (ranks == 1) return;
  const std::vector<int> allowed = allowed_group_sizes(system);
  if (std::find(allowed.begin(), allowed.end(), ranks) != allowed.end()) {
    require_cc_cores(system);
    return;
  }
  const int own = cores_of_instance(system);
  const bool could = ranks > 1 && ranks <= own && fills_devices(system.device, ranks);
  const bool on_several = system.network_hop > Seconds(0) && ranks > own && ranks % own == 0 &&
                          ranks / own <= kMaxInstances;
  throw UserError(fmt::format(
      "{} {} is not possible on {}{}; possible are {}{}{}", what, ranks, system.id,
      misfit(system, ranks), fmt::join(allowed, ", "),
      on_several ? fmt::format("; {} has as many cores",
                               fmt::format("{}-x{}", system.instance_name(), ranks / own))
                 : "",
      could ? fmt::format("; for a chip that can, --set device.collective.group_sizes='{}'", ranks)
            : ""));
}

}  // namespace foretell
