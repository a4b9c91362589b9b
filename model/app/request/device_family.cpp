#include "model/app/request/device_family.hpp"

#include <array>

#include "hw/spec/shared/data_folder.hpp"
#include "model/base/errors.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

const DeviceFamily& family_of(const std::string& system) {
  const std::array<const DeviceFamily*, 3> families = {&neuron_family(), &gpu_family(),
                                                       &cpu_family()};
  std::vector<std::string> names;
  for (const DeviceFamily* family : families) {
    if (family->has_system(system)) return *family;
    for (std::string& name : family->systems()) names.push_back(std::move(name));
  }
  if (is_file_name(system)) {
    const std::string misspelt = misspelt_kind_key(system);
    if (!misspelt.empty()) throw UserError(misspelt);
    throw UserError(system +
                    ": describes no system; one of NeuronCores has a 'topology', a node of GPUs "
                    "an 'interconnect', a GPU has 'sms', a machine with CPUs has 'sockets'");
  }
  throw unknown_name("system", system, names);
}

void check_names(const Request& request) {
  family_of(request.system);
  WorkloadLibrary().load(request.workload);
  if (!request.dtype.empty()) find_precision(request.dtype);
}

}  // namespace foretell
