// The families of devices, one line each.
#include "model/app/request/family/device_family.hpp"

namespace foretell {
namespace {

std::vector<const DeviceFamily*>& families() {
  static std::vector<const DeviceFamily*> all = {
      &neuron_family(),
      &gpu_family(),
      &cpu_family(),
  };
  return all;
}

}  // namespace

const std::vector<const DeviceFamily*>& device_families() { return families(); }

void add_device_family(const DeviceFamily& family) { families().push_back(&family); }

}  // namespace foretell
