#include "hw/spec/shared/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "hw/spec/neuron/neuron_fields.hpp"
#include "hw/spec/shared/checks.hpp"
#include "hw/spec/shared/counted_name.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/device_file.hpp"
#include "hw/spec/shared/kernel_files.hpp"
#include "hw/spec/shared/likeness.hpp"
#include "hw/spec/shared/overrides.hpp"
#include "hw/spec/shared/own_parents.hpp"
#include "hw/spec/shared/parameter_list.hpp"
#include "hw/spec/shared/single_devices.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/names.hpp"
#include "model/base/text.hpp"

namespace foretell {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSystems = "systems";
constexpr const char* kDevices = "devices";
constexpr const char* kCores = "cores";

// In a device file `link` stands beside `hbm`; its effective path is short.
std::string effective_device_path(const std::string& path) {
  return starts_with(path, "link.") ? path : "device." + path;
}

constexpr std::size_t kMaxKeptSystems = 64;

// The files of a system, without overrides.
struct ReadSystem {
  NeuronSystemSpec spec;
  std::string spec_id;
  std::map<std::string, Provenance> provenance;
  std::optional<NeuronDeviceSpec> measured;  // that a device of the user's is taken for
};

// Several of an instance.
void multiply(NeuronSystemSpec& spec, const std::string& id, int count,
              std::map<std::string, Provenance>& provenance) {
  spec.node = std::move(spec.id);
  spec.id = id;
  spec.devices *= count;
  spec.instances = count;
  spec.vcpus *= count;
  spec.host_memory = spec.host_memory * count;
  for (auto& [kind, price] : spec.price_usd_per_hour) price *= count;
  provenance["system.instances"] = provenance["system.devices"];
  FieldList list;
  all_fields(list, spec);
  std::vector<std::string> paths = {"system.devices", "system.instances", "system.vcpus",
                                    "system.host_memory"};
  for (const auto& price : spec.price_usd_per_hour) paths.push_back("system.price." + price.first);
  for (const std::string& path : paths) {
    SourcedValue& value = provenance[path].chosen;
    value.value = list.at(path).text();
    value.why = fmt::format("by the name, {} of {}", count, spec.node);
  }
}

struct KeptSystems : KeptValues<std::shared_ptr<const ReadSystem>, kMaxKeptSystems> {};

}  // namespace

fs::path hw_folder() {
  const char* const stated = std::getenv("FORETELL_HW");
  return stated == nullptr || *stated == '\0' ? data_root() / "hw" : fs::path(stated);
}

Catalog::Catalog(fs::path hw) : hw_(std::move(hw)) {
  for (const fs::path& folder : {hw_ / kSystems, hw_ / kDevices, hw_ / kCores}) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
      throw UserError(
          fmt::format("{}: no such folder; FORETELL_HW names the hardware data", folder.string()));
    }
  }
  bibliography_ = Bibliography::of(hw_);
}

std::string shown_path(const fs::path& path) {
  const std::string root = data_root().string() + "/";
  const std::string text = path.lexically_normal().string();
  return starts_with(text, root) ? text.substr(root.size()) : text;
}

fs::path Catalog::file(std::string_view folder, std::string_view id) const {
  return file_of(hw_ / folder, id);
}

std::vector<std::string> Catalog::systems() const { return ids_in(hw_ / kSystems); }
std::vector<std::string> Catalog::devices() const { return ids_in(hw_ / kDevices); }
std::vector<std::string> Catalog::cores() const { return ids_in(hw_ / kCores); }

std::string Catalog::find_system(std::string_view id) const {
  if (is_file_name(id)) return std::string(id);
  const std::vector<std::string> known = systems();
  std::string name = name_spelt(id, known);
  if (!name.empty()) return name;
  const auto [instance, count] = instances_called(id);
  if (instance.empty()) throw unknown_name("system", id, known);
  if (count == 1) return instance;
  std::map<std::string, Provenance> provenance;
  std::string bytes;
  const NeuronSystemSpec spec = read_spec(instance, provenance, bytes);
  if (spec.instance_count() > 1) {
    throw UserError(fmt::format("system '{}': {} is {} instances already, and the largest there is",
                                id, instance, spec.instance_count()));
  }
  if (spec.network_hop == Seconds(0)) {
    throw UserError(fmt::format(
        "system '{}': the file of {} states no system.network_hop, so there are no several of it",
        id, instance));
  }
  if (count < 1 || count > kMaxInstances) {
    throw UserError(
        fmt::format("system '{}': name 1 to {} instances of {}", id, kMaxInstances, instance));
  }
  return fmt::format("{}-x{}", instance, count);
}

bool Catalog::has_system(std::string_view id) const {
  return !name_spelt(id, systems()).empty() || !instances_called(id).first.empty();
}

std::pair<std::string, std::int64_t> Catalog::instances_called(std::string_view id) const {
  const CountedName counted = counted_name(id);
  if (counted.count < 0) return {};
  return {name_spelt(counted.name, systems()), counted.count};
}

Node Catalog::read_document(const fs::path& path, std::string& bytes) const {
  const std::string text = read_text_file(path, shown_path(path));
  bytes += text;
  return parse_document(text, shown_path(path));
}

NeuronSystemSpec Catalog::read_spec(const std::string& id,
                                    std::map<std::string, Provenance>& provenance,
                                    std::string& bytes) const {
  Problems problems;
  NeuronSystemSpec spec;
  Parts parts{provenance, bytes, problems};
  const Node system = read_document(file(kSystems, id), bytes);
  spec.id = id;
  read_part(
      DeviceFile(system, {}, ""), system, file(kSystems, id), spec, {"id", "device"},
      [](const std::string& path) { return "system." + path; }, parts);
  std::string device_name;
  problems.collect(
      [&] { device_name = reference(system, file(kSystems, id), "device", kDevices); });
  if (!device_name.empty()) read_device(device_name, spec.device, parts);
  problems.throw_if_any();
  return spec;
}

template <class Part, class ToEffective>
void Catalog::read_part(const DeviceFile& values, const Node& root, const fs::path& path,
                        Part& part, const std::vector<std::string>& own_keys,
                        const ToEffective& to_effective, Parts& parts) const {
  parts.problems.collect([&] { check_id(root, path); });
  FieldList list;
  fields(list, part);
  std::map<std::string, Provenance> found;
  values.load(list, own_keys, bibliography_, found, parts.problems);
  parts.bytes += values.bytes_taken(list);
  for (auto& entry : found) parts.provenance[to_effective(entry.first)] = std::move(entry.second);
}

void Catalog::read_device(const std::string& name, NeuronDeviceSpec& device, Parts& parts) const {
  Problems& problems = parts.problems;
  device.id = name_in_file(name);
  const fs::path path = file(kDevices, name);
  const Node root = with_own_parents(read_document(path, parts.bytes), path, parts.bytes);
  Likeness& like = device.like;
  const fs::path measured = project_hw_folder();
  if (!problems.collect([&] { like = stated_likeness(root, ids_in(measured / kDevices)); })) return;
  const DeviceFile values(root, measured / kDevices, like.device);
  problems.collect([&] { device.name = values.name(); });
  read_part(values, root, path, device, {"id", "name", "core", "like"}, effective_device_path,
            parts);
  fs::path core_file;
  problems.collect([&] {
    const bool is_taken = !values.states("core") && !like.device.empty();
    core_file = is_taken ? file_of(measured / kCores, values.text("core"))
                         : file(kCores, reference(root, path, "core", kCores));
    like.is_own = like.is_own || is_file_name(name) || !is_project_hw(hw_) ||
                  (!is_taken && is_file_name(text_of(root, "core")));
  });
  if (core_file.empty()) return;
  device.core.id = core_file.stem().string();
  const Node core = with_own_parents(read_document(core_file, parts.bytes), core_file, parts.bytes);
  std::string core_like;
  if (!problems.collect(
          [&] { core_like = stated_likeness(core, ids_in(measured / kCores), "core").device; }))
    return;
  read_part(
      DeviceFile(core, measured / kCores, core_like), core, core_file, device.core, {"id", "like"},
      [](const std::string& path_of) { return "core." + path_of; }, parts);
}

std::optional<NeuronDeviceSpec> Catalog::find_likeness(NeuronSystemSpec& spec) {
  if (!spec.device.like.is_own) return std::nullopt;
  const Catalog project(project_hw_folder());
  std::vector<std::string> likely = project.devices();
  const std::string& stated = spec.device.like.device;
  const bool is_named = std::find(likely.begin(), likely.end(), spec.device.id) != likely.end();
  if (!stated.empty() || is_named) likely = {stated.empty() ? spec.device.id : stated};
  std::optional<NeuronDeviceSpec> nearest;
  Likeness nearest_like;
  for (const std::string& id : likely) {
    NeuronSystemSpec other;
    std::map<std::string, Provenance> provenance;
    std::string bytes;
    Problems problems;
    Parts parts{provenance, bytes, problems};
    project.read_device(id, other.device, parts);
    problems.throw_if_any();
    Likeness like = likeness_between(spec, id, other);
    like.is_stated = !stated.empty();
    if (nearest && !is_nearer(like, nearest_like)) continue;
    nearest = std::move(other.device);
    nearest_like = std::move(like);
  }
  if (nearest) spec.device.like = std::move(nearest_like);
  return nearest;
}

std::string Catalog::reference(const Node& root, const fs::path& path, const std::string& key,
                               const std::string& folder) const {
  const std::string id = beside(path, text_of(root, key));
  if (is_file_name(id)) return id;
  const std::vector<std::string> known = ids_in(hw_ / folder);
  if (std::find(known.begin(), known.end(), id) != known.end()) return id;
  throw UserError(
      fmt::format("{}: {}: {}", root.find(key)->where(), key, unknown_name(key, id, known).what()));
}

LoadedSystem Catalog::load(std::string_view system, const std::vector<std::string>& set,
                           FurtherParameters* further) const {
  LoadedSystem loaded;
  const auto read = kept_input<KeptSystems>(fmt::format("{}\n{}", hw_.string(), system), [&] {
    auto made = std::make_shared<ReadSystem>();
    std::string bytes;
    const std::string id = find_system(system);
    const std::vector<std::string> known = systems();
    const bool is_one =
        is_file_name(id) || std::find(known.begin(), known.end(), id) != known.end();
    const auto [instance, count] = is_one ? std::pair(id, std::int64_t{1}) : instances_called(id);
    made->spec = read_spec(instance, made->provenance, bytes);
    if (!is_one) multiply(made->spec, id, static_cast<int>(count), made->provenance);
    made->measured = find_likeness(made->spec);
    const fs::path fusion = neuron_fusion_file(hw_);
    if (fs::exists(fusion)) bytes += read_text_file(fusion);
    made->spec_id = fmt::format("{}@{}", id, content_hash(bytes));
    return std::shared_ptr<const ReadSystem>(std::move(made));
  });
  std::map<std::string, Provenance> provenance = read->provenance;
  loaded.spec = read->spec;
  loaded.spec_id = read->spec_id;

  FieldList list;
  all_fields(list, loaded.spec);
  if (further != nullptr) {
    further->choose(loaded.spec.device);
    further->add_to(list);
  }
  const bool is_taken = read->measured && loaded.spec.device.id == read->measured->id;
  if (is_taken) loaded.spec.device.core.id = read->measured->core.id;
  Problems problems;
  const DividedOverrides divided = divide_overrides(set, problems);
  const NeuronDeviceSpec published = is_taken ? *read->measured : loaded.spec.device;
  const std::set<std::string> overridden =
      apply_overrides(list, divided.every, provenance, problems);
  if (problems.empty()) check_system(loaded.spec, loaded.spec.id, problems);
  problems.throw_if_any();
  std::vector<std::string> moved;
  if (further != nullptr) moved = further->follow(published, loaded.spec.device, overridden);

  loaded.parameters = parameters_of(list, provenance, overridden, [further](Parameter& parameter) {
    if (further != nullptr) further->describe(parameter);
  });
  for (const auto& [path, value] : set_single_devices(divided.single, loaded.spec, problems)) {
    Parameter parameter;
    parameter.path = path;
    parameter.value = value;
    parameter.source = "--set";
    parameter.kind = ValueKind::kOverride;
    parameter.overridden = true;
    loaded.parameters.push_back(std::move(parameter));
  }
  problems.throw_if_any();
  if (is_taken) mark_differing(loaded.spec.device.like, loaded.parameters);
  note_moved(list, moved, "follows the published value that it stands for", loaded.parameters);
  loaded.assumed_values = assumed_values_in(loaded.parameters);
  return loaded;
}

}  // namespace foretell
