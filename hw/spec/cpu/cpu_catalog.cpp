#include "hw/spec/cpu/cpu_catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "hw/spec/cpu/cpu_fields.hpp"
#include "hw/spec/cpu/cpu_host.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/device_file.hpp"
#include "hw/spec/shared/kernel_files.hpp"
#include "hw/spec/shared/likeness.hpp"
#include "hw/spec/shared/overrides.hpp"
#include "hw/spec/shared/own_parents.hpp"
#include "hw/spec/shared/parameter_list.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/names.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

void check_cpu(const CpuSystemSpec& spec, std::string_view where, Problems& problems) {
  const CpuDeviceSpec& device = spec.device;
  if (device.clock.base > device.clock.all_core) {
    problems.add(where, "device.clock.base", "is above device.clock.all_core");
  }
  if (device.cache.l1 > device.cache.l2) {
    problems.add(where, "device.cache.l1", "is larger than device.cache.l2");
  }
  if (device.flops_per_cycle.empty()) {
    problems.add(where, "device.flops_per_cycle", "names no data type");
  }
  if (spec.cores > spec.sockets * device.cores) {
    problems.add(where, "system.cores",
                 fmt::format("{} cores are more than {} x {} of its sockets have", spec.cores,
                             spec.sockets, device.cores));
  }
  if (spec.cores < spec.sockets) {
    problems.add(where, "system.sockets", "are more than system.cores");
  }
}

fs::path measured_cpus() { return project_hw_folder() / "devices" / "cpu"; }

// Reads the file of a CPU. Mistakes go to `problems`, what is taken from another file to `bytes`.
CpuDeviceSpec read_device(const Node& root, const Bibliography& bibliography,
                          std::map<std::string, Provenance>& provenance, std::string& bytes,
                          Problems& problems) {
  CpuDeviceSpec device;
  problems.collect([&] { device.id = text_of(root, "id"); });
  if (!problems.collect([&] { device.like = stated_likeness(root, ids_in(measured_cpus())); }))
    return device;
  const DeviceFile file(root, measured_cpus(), device.like.device);
  problems.collect([&] { device.name = file.text("name"); });
  problems.collect([&] { device.architecture = file.text("architecture"); });
  FieldList list;
  fields(list, device);
  std::map<std::string, Provenance> found;
  file.load(list, {"id", "name", "architecture", "like"}, bibliography, found, problems);
  for (auto& entry : found) provenance["device." + entry.first] = std::move(entry.second);
  bytes += file.bytes_taken(list);
  return device;
}

// What a CPU of the user's is taken for: the one that it names, what has its id, else the nearest
// of its architecture.
void find_likeness(CpuSystemSpec& spec) {
  const CpuDeviceSpec& device = spec.device;
  const bool is_stated = !device.like.device.empty();
  std::vector<std::string> likely = ids_in(measured_cpus());
  if (is_stated) likely = {device.like.device};
  if (std::find(likely.begin(), likely.end(), device.id) != likely.end()) likely = {device.id};
  const Bibliography bibliography = Bibliography::of(project_hw_folder());
  std::optional<Likeness> nearest;
  for (const std::string& id : likely) {
    CpuSystemSpec other;
    std::map<std::string, Provenance> ignored;
    std::string bytes;
    Problems problems;
    other.device = read_device(load_document(file_of(measured_cpus(), id)), bibliography, ignored,
                               bytes, problems);
    problems.throw_if_any();
    if (!is_stated && other.device.architecture != device.architecture) continue;
    Likeness like = likeness_between(spec, id, other);
    like.is_stated = is_stated;
    if (!nearest || is_nearer(like, *nearest)) nearest = std::move(like);
  }
  if (nearest) spec.device.like = std::move(*nearest);
}

}  // namespace

CpuCatalog::CpuCatalog(std::filesystem::path hw) : hw_(std::move(hw)) {
  bibliography_ = Bibliography::of(hw_);
}

std::vector<std::string> CpuCatalog::devices() const { return ids_in(hw_ / "devices" / "cpu"); }

std::vector<std::string> CpuCatalog::systems() const {
  std::vector<std::string> names = ids_in(hw_ / "systems" / "cpu");
  names.emplace_back(kHostSystem);
  std::sort(names.begin(), names.end());
  return names;
}

bool CpuCatalog::has_system(std::string_view id) const {
  if (is_file_name(id)) return is_system_file(id, SystemFileKind::kCpu);
  return !name_spelt(id, systems()).empty();
}

std::string CpuCatalog::find_system(std::string_view id) const {
  if (is_file_name(id)) return std::string(id);
  std::string name = name_spelt(id, systems());
  if (name.empty()) throw unknown_name("system", id, systems());
  return name;
}

LoadedCpuSystem CpuCatalog::load(std::string_view system,
                                 const std::vector<std::string>& set) const {
  const std::string id = find_system(system);
  if (id == kHostSystem) {
    const HostFacts facts = read_host_facts();
    return parse(host_system_yaml(facts), host_device_yaml(facts), "this machine", set);
  }
  const fs::path file = file_of(hw_ / "systems" / "cpu", id);
  const std::string text = read_text_file(file);
  const Node root = parse_document(text, is_file_name(id) ? id : "hw/systems/cpu/" + id + ".yaml");
  check_id(root, file);
  const std::string device = beside(file, text_of(root, "device"));
  const std::vector<std::string> known = devices();
  if (!is_file_name(device) && std::find(known.begin(), known.end(), device) == known.end()) {
    throw unknown_name("cpu", device, known);
  }
  const fs::path device_file = file_of(hw_ / "devices" / "cpu", device);
  LoadedCpuSystem loaded = parse(text, read_text_file(device_file), id, set, device_file);
  loaded.spec.id = id;
  if (!loaded.spec.device.like.is_own && !is_file_name(device) && is_project_hw(hw_)) return loaded;
  CpuSystemSpec as_stated = parse(text, read_text_file(device_file), id, {}, device_file).spec;
  as_stated.device.like.is_own = true;
  find_likeness(as_stated);
  loaded.spec.device.like = as_stated.device.like;
  return loaded;
}

LoadedCpuSystem CpuCatalog::parse(const std::string& system_yaml, const std::string& device_yaml,
                                  const std::string& shown_as, const std::vector<std::string>& set,
                                  const fs::path& device_file) const {
  LoadedCpuSystem loaded;
  Problems problems;
  std::map<std::string, Provenance> provenance;
  const Node system = parse_document(system_yaml, shown_as);
  std::string bytes = system_yaml + device_yaml;
  Node device = parse_document(device_yaml, shown_as + ", its CPU");
  if (!device_file.empty()) device = with_own_parents(std::move(device), device_file, bytes);
  problems.collect([&] { loaded.spec.id = text_of(system, "id"); });
  FieldList of_system;
  fields(of_system, loaded.spec);
  std::map<std::string, Provenance> found;
  load_fields(system, of_system, {"id", "device"}, SourcedReader(bibliography_, found), problems);
  for (auto& entry : found) provenance["system." + entry.first] = std::move(entry.second);
  loaded.spec.device = read_device(device, bibliography_, provenance, bytes, problems);
  problems.throw_if_any();

  loaded.spec_id =
      fmt::format("{}@{}", loaded.spec.id, content_hash(bytes + kernel_files_hash(hw_)));
  FieldList list;
  all_fields(list, loaded.spec);
  const std::set<std::string> overridden = apply_overrides(list, set, provenance, problems);
  if (problems.empty()) check_cpu(loaded.spec, loaded.spec.id, problems);
  problems.throw_if_any();
  loaded.parameters = parameters_of(list, provenance, overridden);
  loaded.assumed_values = assumed_values_in(loaded.parameters);
  return loaded;
}

}  // namespace foretell
