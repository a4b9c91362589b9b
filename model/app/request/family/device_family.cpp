#include "model/app/request/family/device_family.hpp"

#include <filesystem>

#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/own_parents.hpp"
#include "model/app/request/resolve/refuse_option.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/text.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

constexpr std::size_t kMaxKeptSystems = 1000;

struct KeptFamilies : KeptValues<const DeviceFamily*, kMaxKeptSystems> {};

// "'inferentia2' is a device …" for a name of one, else "".
std::string message_of_device(const std::string& name) {
  for (const DeviceFamily* family : device_families()) {
    for (const std::string& device : family->devices()) {
      if (to_lower(device) != to_lower(name)) continue;
      std::vector<std::string> systems;
      for (const std::string& id : family->systems()) {
        Request request;
        request.system = id;
        if (family->sheet(request).facts.device == device) systems.push_back(id);
      }
      return "'" + name +
             "' is a device, and a system is needed; systems that have it: " + join(systems, ", ");
    }
  }
  return "";
}

}  // namespace

std::vector<std::string> all_devices() {
  std::vector<std::string> names;
  for (const DeviceFamily* family : device_families()) {
    for (std::string& name : family->devices()) names.push_back(std::move(name));
  }
  return names;
}

std::unique_ptr<ResolvedDevice> DeviceFamily::resolve(const Request& request) const {
  check_request(request);
  refuse_fields(request, name());
  return make_device(request);
}

RunRecord DeviceFamily::predict(const Request& request) const {
  const std::unique_ptr<ResolvedDevice> device = resolve(request);
  const Metrics metrics = simulate(*device);
  ResolvedWorkload resolved = device->workload();
  for (std::string& note : device->notes()) resolved.notes.push_back(std::move(note));
  return make_record(resolved, device->facts(), metrics);
}

// Devices whose software fixes no lengths take those of the ones that do, so that the cost of
// padding can be compared.
std::int64_t DeviceFamily::smallest_bucket(const Request& /*request*/) const {
  Request published;
  published.system = neuron_family().systems().front();
  return neuron_family().smallest_bucket(published);
}

std::vector<Parameter> DeviceFamily::parameters(const Request& request) const {
  if (request.workload.empty()) return sheet(request).facts.parameters;  // of a program by hand
  return resolve(request)->facts().parameters;
}

Prices DeviceFamily::prices(const Request& request) const {
  Request bare;
  bare.system = request.system;
  for (const std::string& one : request.set) {
    if (starts_with(trim(one), "system.price.")) bare.set.push_back(one);
  }
  return sheet(bare).facts.prices;
}

const DeviceFamily* find_family(const std::string& system) {
  const auto look = [&system]() -> const DeviceFamily* {
    for (const DeviceFamily* family : device_families()) {
      if (family->has_system(system)) return family;
    }
    return nullptr;
  };
  return kept_input<KeptFamilies>(system, look);
}

const DeviceFamily& family_of(const std::string& system) {
  if (const DeviceFamily* family = find_family(system)) return *family;
  std::vector<std::string> names;
  std::vector<std::string> signs;
  for (const DeviceFamily* family : device_families()) {
    for (std::string& name : family->systems()) names.push_back(std::move(name));
    signs.emplace_back(family->recognised_by());
  }
  if (is_file_name(system)) {
    const std::string misspelt = misspelt_kind_key(system);
    if (!misspelt.empty()) throw UserError(misspelt);
    std::string message = system + ": describes no system; " + join(signs, ", ");
    const Node root = load_with_own_parents(system);
    const bool is_like = root.find("like") != nullptr;
    if (is_like) stated_likeness(root, all_devices());  // a wrong name is said first
    if ((is_like || root.find("name") != nullptr) && root.find("device") == nullptr) {
      message +=
          "; other devices are named by the file of a system, like those of hw/systems: "
          "'device: ./" +
          std::filesystem::path(system).filename().string() + "'";
    }
    throw UserError(message);
  }
  if (system.find(',') != std::string::npos) {
    throw UserError("'" + system +
                    "' are several systems, but this takes one; `foretell compare` takes several");
  }
  const std::string device = message_of_device(system);
  if (!device.empty()) throw UserError(device);
  throw unknown_name("system", system, names);
}

void check_names(const Request& request) {
  if (request.system.empty())
    throw UserError("no system; name one with --on, see `foretell list systems`");
  family_of(request.system).find_system(request.system);
  if (request.workload.empty())
    throw UserError("no workload; name one with --workload, see `foretell list workloads`");
  WorkloadLibrary().load(request.workload);
  if (!request.dtype.empty()) find_precision(request.dtype);
}

}  // namespace foretell
