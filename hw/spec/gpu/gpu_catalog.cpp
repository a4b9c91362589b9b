#include "hw/spec/gpu/gpu_catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include "hw/spec/gpu/gpu_architecture.hpp"
#include "hw/spec/gpu/gpu_fields.hpp"
#include "hw/spec/shared/counted_name.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/device_file.hpp"
#include "hw/spec/shared/follow_override.hpp"
#include "hw/spec/shared/kernel_files.hpp"
#include "hw/spec/shared/likeness.hpp"
#include "hw/spec/shared/overrides.hpp"
#include "hw/spec/shared/own_parents.hpp"
#include "hw/spec/shared/parameter_list.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/names.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"

namespace foretell {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxNamedGpus = 9999;  // GPUs that a name may say
constexpr const char* kDriverNames = "driver_names";
constexpr const char* kFollows = "follows device.sms and device.clock.boost, or device.power_watts";

// The devices of a folder by what drivers print of them; read once in a run.
struct DriverNames {
  struct Name {
    std::string text;
    std::string device;
  };
  std::map<fs::path, std::vector<Name>> by_folder;
};

struct PublishedDevices {
  std::map<std::string, std::optional<GpuDeviceSpec>> by_id;  // nothing: hw/ does not have it
};

std::string read_architecture(const DeviceFile& file) {
  std::string name = file.text("architecture");
  const std::vector<std::string> known = gpu_architectures();
  if (std::find(known.begin(), known.end(), name) != known.end()) return name;
  throw UserError(fmt::format("{}: architecture: {}; a new one is a file in hw/cores/gpu/",
                              file.stating("architecture").where(),
                              unknown_name("architecture", name, known).what()));
}

fs::path measured_gpus() { return project_hw_folder() / "devices" / "gpu"; }

// What a device of the user's may be taken for: what it names, what has its id, else every device.
std::vector<std::string> likely_devices(const GpuDeviceSpec& device) {
  if (!device.like.device.empty()) return {device.like.device};
  std::vector<std::string> known = ids_in(measured_gpus());
  if (std::find(known.begin(), known.end(), device.id) != known.end()) return {device.id};
  return known;
}

void find_likeness(GpuSystemSpec& spec) {
  if (!spec.device.like.is_own) return;
  const bool is_stated = !spec.device.like.device.empty();
  std::optional<Likeness> nearest;
  for (const std::string& id : likely_devices(spec.device)) {
    GpuSystemSpec other;
    try {
      const GpuDeviceSpec* known = find_published_device(id);
      if (known == nullptr) continue;
      other.device = *known;
    } catch (const UserError&) {
      continue;  // of an architecture that the user's data leave out
    }
    if (!is_stated && other.device.architecture != spec.device.architecture) continue;
    Likeness like = likeness_between(spec, id, other);
    like.is_stated = is_stated;
    if (!nearest || is_nearer(like, *nearest)) nearest = std::move(like);
  }
  if (nearest) spec.device.like = std::move(*nearest);
}

// What a file leaves out follows what it states, as with --set.
void follow_parent(const std::string& file, const std::set<std::string>& stated,
                   std::map<std::string, Provenance>& provenance, GpuSystemSpec& spec) {
  const GpuDeviceSpec* parent = find_published_device(spec.device.like.device);
  if (parent == nullptr) return;
  std::set<std::string> given;
  for (const std::string& path : stated) given.insert("device." + path);
  const std::vector<std::string> moved = follow_overrides(*parent, given, spec.device);
  FieldList list;
  all_fields(list, spec);
  for (const std::string& path : moved) {
    const std::string value = list.at(path).text();
    provenance[path] = {{value, file, ValueKind::kOverride, kFollows}, "", {}};
  }
}

void check_gpu(const GpuSystemSpec& spec, std::string_view where, Problems& problems) {
  const GpuDeviceSpec& device = spec.device;
  if (device.clock.base > device.clock.boost) {
    problems.add(where, "device.clock.base", "is above device.clock.boost");
  }
  if (device.sm.shared_memory_per_cta > device.sm.shared_memory) {
    problems.add(where, "device.sm.shared_memory_per_cta", "is more than an SM has");
  }
  if (device.matrix_rate.empty() && device.vector_rate.empty()) {
    problems.add(where, "device.matrix_rate", "names no data type, nor does device.vector_rate");
  }
  if (spec.devices % spec.nodes != 0) {
    problems.add(where, "system.devices",
                 fmt::format("{} GPUs do not divide into {} nodes", spec.devices, spec.nodes));
  }
  if (spec.devices > spec.nodes && spec.interconnect == "none") {
    problems.add(where, "system.interconnect", "several GPUs need one: nvlink or pcie");
  }
  if (spec.interconnect == "nvlink" && !(device.nvlink.bandwidth > BytesPerSecond(0))) {
    problems.add(where, "system.interconnect", device.name + " has no NVLink; use pcie");
  }
}

}  // namespace

GpuCatalog::GpuCatalog(std::filesystem::path hw) : hw_(std::move(hw)) {
  bibliography_ = Bibliography::of(hw_);
}

std::string GpuCatalog::shown(const fs::path& path) const {
  const std::string root = hw_.parent_path().string() + "/";
  const std::string text = path.lexically_normal().string();
  return starts_with(text, root) ? text.substr(root.size()) : text;
}

std::vector<std::string> GpuCatalog::devices() const { return ids_in(hw_ / "devices" / "gpu"); }

std::vector<std::string> GpuCatalog::systems() const {
  std::vector<std::string> names = devices();
  for (std::string& node : ids_in(hw_ / "systems" / "gpu")) names.push_back(std::move(node));
  std::sort(names.begin(), names.end());
  return names;
}

std::string GpuCatalog::device_called(std::string_view name) const {
  auto& by_folder = kept<DriverNames>().by_folder;
  const fs::path folder = hw_ / "devices" / "gpu";
  auto place = by_folder.find(folder);
  if (place == by_folder.end()) {
    std::vector<DriverNames::Name> names;
    for (const std::string& id : devices()) {
      try {
        const Node root = load_document(file_of(folder, id));
        const Node* stated = root.find(kDriverNames);
        if (stated == nullptr) continue;
        for (const Node& text : stated->items) names.push_back({text.as_text(kDriverNames), id});
      } catch (const UserError&) {
        continue;  // said to whoever names it by its id
      }
    }
    place = by_folder.emplace(folder, std::move(names)).first;
  }
  for (const DriverNames::Name& known : place->second) {
    if (is_spelt_like(name, known.text)) return known.device;
  }
  return "";
}

std::string GpuCatalog::meant(const std::vector<std::string>& known, std::string_view id) const {
  for (const std::string& wanted : {std::string(id), std::string(id) + "-sxm"}) {
    std::string name = name_spelt(wanted, known);
    if (!name.empty()) return name;
  }
  return device_called(id);
}

std::string GpuCatalog::find_in(const std::vector<std::string>& known, const char* kind,
                                std::string_view id) const {
  std::string name = meant(known, id);
  if (name.empty()) throw unknown_name(kind, id, known);
  return name;
}

bool GpuCatalog::has_system(std::string_view id) const {
  if (is_file_name(id)) return is_system_file(id, SystemFileKind::kGpu);
  return !meant(systems(), id).empty() || !declared_for(id).file.empty();
}

// "h200-sxm-x4" is four of the GPUs of the largest "h200-sxm-…" that is declared.
GpuCatalog::Counted GpuCatalog::declared_for(std::string_view id) const {
  const CountedName stated = counted_name(id);
  if (stated.count < 0 || stated.count > kMaxNamedGpus) return {};
  Counted counted;
  counted.count = static_cast<int>(stated.count);
  const std::string device = meant(devices(), stated.name);
  if (device.empty()) return nodes_called(stated.name, stated.count);
  counted.name = fmt::format("{}-x{}", device, stated.count);
  for (const std::string& candidate : ids_in(hw_ / "systems" / "gpu")) {
    if (!starts_with(candidate, device + "-x") && !starts_with(candidate, device + "-nvl"))
      continue;
    std::map<std::string, Provenance> provenance;
    std::string bytes;
    const GpuSystemSpec spec = read_spec(candidate, provenance, bytes);
    if (spec.device.id != device || std::max(spec.devices, spec.slots) <= counted.most) continue;
    counted.most = std::max(spec.devices, spec.slots);
    counted.networked = spec.network.bandwidth > BytesPerSecond(0);
    counted.file = candidate;
  }
  if (counted.networked && counted.count > counted.most && counted.count % counted.most == 0)
    counted.nodes = counted.count / counted.most;
  return counted;
}

// "p5.48xlarge-x2" is two of these nodes.
GpuCatalog::Counted GpuCatalog::nodes_called(std::string_view system, std::int64_t count) const {
  const std::string node = name_spelt(system, ids_in(hw_ / "systems" / "gpu"));
  if (node.empty() || count < 1) return {};
  std::map<std::string, Provenance> provenance;
  std::string bytes;
  const GpuSystemSpec spec = read_spec(node, provenance, bytes);
  Counted counted;
  counted.name = fmt::format("{}-x{}", node, count);
  counted.file = node;
  counted.nodes = static_cast<int>(count);
  counted.count = counted.nodes * spec.devices;
  counted.most = spec.devices;
  counted.networked = spec.network.bandwidth > BytesPerSecond(0);
  return counted;
}

std::string GpuCatalog::find_system(std::string_view id) const {
  if (is_file_name(id)) return std::string(id);
  const std::string known = meant(systems(), id);
  if (!known.empty()) return known;
  const Counted counted = declared_for(id);
  if (counted.file.empty()) return find_in(systems(), "system", id);
  if (counted.count >= 1 && counted.count <= counted.most) return counted.name;
  if (counted.nodes > 1 && !counted.networked) {
    throw UserError(fmt::format(
        "system '{}': the file of {} states no system.network.bandwidth, so there are no several "
        "of it",
        id, counted.file));
  }
  if (counted.nodes > 1 && counted.count <= kMaxNamedGpus) return counted.name;
  if (counted.nodes > 1) {
    throw UserError(fmt::format("system '{}': at most {} of {} may be named, {} GPUs", id,
                                kMaxNamedGpus / counted.most, counted.file,
                                kMaxNamedGpus / counted.most * counted.most));
  }
  throw UserError(fmt::format(
      "system '{}': the links of {} join up to {} GPUs; name 1 to {}{}", id, counted.file,
      counted.most, counted.most,
      counted.networked
          ? fmt::format(", or a multiple of {} up to {} for several nodes", counted.most,
                        kMaxNamedGpus / counted.most * counted.most)
          : "; its file states no system.network.bandwidth, so there are no several nodes"));
}

std::string GpuCatalog::find_device(std::string_view id) const {
  return find_in(devices(), "gpu", id);
}

GpuSystemSpec GpuCatalog::read_spec(const std::string& id,
                                    std::map<std::string, Provenance>& provenance,
                                    std::string& bytes) const {
  Problems problems;
  GpuSystemSpec spec;
  spec.id = id;
  spec.interconnect = "none";
  const auto read = [&](const fs::path& path) {
    const std::string text = read_text_file(path, shown(path));
    bytes += text;
    Node root = parse_document(text, shown(path));
    problems.collect([&] { check_id(root, path); });
    return root;
  };
  std::string device_id = id;
  const std::vector<std::string> known = devices();
  const bool is_device = is_file_name(id) ? is_gpu_device(load_with_own_parents(id))
                                          : std::count(known.begin(), known.end(), id) > 0;
  if (!is_device) {
    const fs::path path = file_of(hw_ / "systems" / "gpu", id);
    const Node node = read(path);
    FieldList list;
    fields(list, spec);
    std::map<std::string, Provenance> found;
    load_fields(node, list, {"id", "device"}, SourcedReader(bibliography_, found), problems);
    for (auto& entry : found) provenance["system." + entry.first] = std::move(entry.second);
    problems.collect([&] {
      device_id = beside(path, text_of(node, "device"));
      if (!is_file_name(device_id)) device_id = find_in(known, "gpu", device_id);
    });
    problems.throw_if_any();
  }
  const fs::path device_file = file_of(hw_ / "devices" / "gpu", device_id);
  const Node device = with_own_parents(read(device_file), device_file, bytes);
  spec.device.id = name_in_file(device_id);
  Likeness& like = spec.device.like;
  problems.collect([&] { like = stated_likeness(device, ids_in(measured_gpus())); });
  problems.throw_if_any();
  like.is_own = like.is_own || is_file_name(device_id) || !is_project_hw(hw_);
  const DeviceFile file(device, measured_gpus(), like.device);
  problems.collect([&] { spec.device.name = file.name(); });
  problems.collect([&] { spec.device.architecture = read_architecture(file); });
  FieldList list;
  fields(list, spec.device);
  std::map<std::string, Provenance> found;
  const std::set<std::string> stated = file.load(
      list, {"id", "name", kDriverNames, "architecture", "like"}, bibliography_, found, problems);
  for (auto& entry : found) provenance["device." + entry.first] = std::move(entry.second);
  bytes += file.bytes_taken(list);
  problems.throw_if_any();
  if (!stated.empty()) follow_parent(device.file, stated, provenance, spec);
  return spec;
}

LoadedGpuSystem GpuCatalog::load(std::string_view system,
                                 const std::vector<std::string>& set) const {
  const std::string id = find_system(system);
  LoadedGpuSystem loaded;
  std::map<std::string, Provenance> provenance;
  std::string bytes;
  const bool is_listed = is_file_name(id) || !meant(systems(), id).empty();
  const Counted counted = is_listed ? Counted() : declared_for(id);
  loaded.spec = read_spec(is_listed ? id : counted.file, provenance, bytes);
  if (!is_listed) {
    loaded.spec.id = id;
    loaded.spec.devices = counted.count;
    if (counted.count == 1) loaded.spec.interconnect = "none";
    provenance["system.devices"].chosen.value = std::to_string(counted.count);
    provenance["system.devices"].chosen.why = "by the name, of " + counted.file;
    if (counted.nodes > 1) {
      loaded.spec.node = counted.file;
      loaded.spec.nodes = counted.nodes;
      FieldList prices;
      all_fields(prices, loaded.spec);
      for (auto& [kind, price] : loaded.spec.price_usd_per_hour) {
        price *= counted.nodes;
        const std::string path = "system.price." + kind;
        provenance[path].chosen.value = prices.at(path).text();
      }
    }
  }
  loaded.spec_id = fmt::format("{}@{}", id, content_hash(bytes + kernel_files_hash(hw_)));
  find_likeness(loaded.spec);
  FieldList list;
  all_fields(list, loaded.spec);
  Problems problems;
  const GpuDeviceSpec published = loaded.spec.device;
  const std::set<std::string> overridden = apply_overrides(list, set, provenance, problems);
  if (problems.empty()) check_gpu(loaded.spec, id, problems);
  problems.throw_if_any();
  const std::vector<std::string> moved =
      follow_overrides(published, overridden, loaded.spec.device);
  loaded.parameters = parameters_of(list, provenance, overridden);
  note_moved(list, moved, kFollows, loaded.parameters);
  loaded.assumed_values = assumed_values_in(loaded.parameters);
  loaded.spec.device.changed = std::any_of(
      loaded.parameters.begin(), loaded.parameters.end(),
      [](const Parameter& one) { return one.overridden && starts_with(one.path, "device."); });
  return loaded;
}

const GpuDeviceSpec* find_published_device(const std::string& id) {
  auto& known = kept<PublishedDevices>().by_id;
  auto place = known.find(id);
  if (place == known.end()) {
    std::optional<GpuDeviceSpec> read;
    const GpuCatalog catalog(project_hw_folder());
    const std::vector<std::string> ids = catalog.devices();
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) read = catalog.load(id).spec.device;
    place = known.emplace(id, std::move(read)).first;
  }
  return place->second ? &*place->second : nullptr;
}

const GpuDeviceSpec& published_device(const GpuDeviceSpec& device) {
  const GpuDeviceSpec* found = find_published_device(device.id);
  return found == nullptr ? device : *found;
}

namespace {

// Of all SMs together, per second.
Hertz sm_cycles(const GpuDeviceSpec& device) { return device.sms * device.clock.boost; }

}  // namespace

std::vector<std::string> nearest_devices(const GpuDeviceSpec& device,
                                         const std::vector<std::string>& fitted) {
  struct Teacher {
    double architecture;
    double memory;
    double clocks;
    std::string id;
    bool operator<(const Teacher& other) const {
      return std::tie(architecture, memory, clocks, id) <
             std::tie(other.architecture, other.memory, other.clocks, other.id);
    }
  };
  std::set<Teacher> teachers;
  for (const std::string& id : fitted) {
    const GpuDeviceSpec* from = id == device.id ? nullptr : find_published_device(id);
    if (from == nullptr) continue;
    teachers.insert({architecture_distance(device.architecture, from->architecture),
                     std::abs(std::log(from->hbm.bandwidth / device.hbm.bandwidth)),
                     std::abs(std::log(sm_cycles(*from) / sm_cycles(device))), id});
  }
  std::vector<std::string> order;
  for (const Teacher& teacher : teachers) order.push_back(teacher.id);
  return order;
}

}  // namespace foretell
