#include "hw/spec/shared/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "hw/spec/neuron/neuron_fields.hpp"
#include "hw/spec/shared/checks.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/follow_override.hpp"
#include "hw/spec/shared/overrides.hpp"
#include "hw/spec/shared/parameter_list.hpp"
#include "hw/spec/shared/single_devices.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/text.hpp"

namespace foretell {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSystems = "systems";
constexpr const char* kDevices = "devices";
constexpr const char* kCores = "cores";

fs::path from_environment(const char* variable, const fs::path& otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? otherwise : fs::path(value);
}

// In a device file `link` stands beside `hbm`; its effective path is short.
std::string effective_device_path(const std::string& path) {
  return starts_with(path, "link.") ? path : "device." + path;
}

void note_published(Parameter& parameter, const Provenance& origin) {
  parameter.value = origin.chosen.value;  // as it was published
  parameter.source = origin.chosen.source;
  parameter.kind = origin.chosen.kind;
  parameter.why = origin.chosen.why;
  parameter.use = origin.use;
  parameter.alternatives = origin.alternatives;
}

void note_fitted(Parameter& parameter, const FactorsFile& factors) {
  parameter.source = factors.id;
  parameter.kind = ValueKind::kNeutral;
  const std::string name = parameter.path.substr(parameter.path.find('.') + 1);
  if (const auto found = factors.provenance.find(name); found != factors.provenance.end()) {
    parameter.kind = ValueKind::kFitted;
    parameter.why = found->second.fitted_on;
    parameter.interval80 = found->second.interval80;
  }
}

std::vector<Parameter> describe_parameters(const FieldList& list,
                                           const std::map<std::string, Provenance>& provenance,
                                           const std::set<std::string>& overridden,
                                           const FactorsFile& factors) {
  std::vector<Parameter> parameters;
  for (const Field& field : list.all()) {
    if (!field.has_value()) continue;
    Parameter parameter;
    parameter.path = field.path;
    parameter.value = field.text();
    parameter.meaning = field.meaning;
    if (overridden.count(field.path) != 0) {
      parameter.overridden = true;
      parameter.source = "--set";
      parameter.kind = ValueKind::kOverride;
    } else if (const auto found = provenance.find(field.path); found != provenance.end()) {
      note_published(parameter, found->second);
    } else {
      note_fitted(parameter, factors);
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

}  // namespace

CatalogPaths default_catalog_paths() {
  const fs::path& root = data_root();
  return {from_environment("FORETELL_HW", root / "hw"),
          from_environment("FORETELL_FACTORS", root / "calib" / "factors")};
}

Catalog::Catalog(CatalogPaths paths) : paths_(std::move(paths)) {
  for (const fs::path& folder :
       {paths_.hw / kSystems, paths_.hw / kDevices, paths_.hw / kCores, paths_.factors}) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
      throw UserError(
          fmt::format("{}: no such folder; FORETELL_HW and FORETELL_FACTORS name the hardware data",
                      folder.string()));
    }
  }
  const fs::path sources = paths_.hw / "sources.yaml";
  bibliography_ = Bibliography::load(load_document(sources, shown(sources)));
}

// Paths inside the project are shown from its root, all others as they are.
std::string Catalog::shown(const fs::path& path) const {
  const std::string root = data_root().string() + "/";
  const std::string text = path.lexically_normal().string();
  return starts_with(text, root) ? text.substr(root.size()) : text;
}

fs::path Catalog::file(std::string_view folder, std::string_view id) const {
  return file_of(paths_.hw / folder, id);
}

std::vector<std::string> Catalog::systems() const { return ids_in(paths_.hw / kSystems); }
std::vector<std::string> Catalog::devices() const { return ids_in(paths_.hw / kDevices); }
std::vector<std::string> Catalog::cores() const { return ids_in(paths_.hw / kCores); }
std::vector<std::string> Catalog::factor_files() const { return ids_in(paths_.factors); }

std::string Catalog::find_system(std::string_view id) const {
  if (is_file_name(id)) return std::string(id);
  const std::vector<std::string> known = systems();
  for (const std::string& candidate : known) {
    if (to_lower(candidate) == to_lower(id)) return candidate;
  }
  throw unknown_name("system", id, known);
}

Node Catalog::read_document(const fs::path& path, std::string& bytes) const {
  const std::string text = read_text_file(path, shown(path));
  bytes += text;
  return parse_document(text, shown(path));
}

NeuronSystemSpec Catalog::read_spec(const std::string& id,
                                    std::map<std::string, Provenance>& provenance,
                                    std::string& bytes) const {
  Problems problems;
  NeuronSystemSpec spec;
  const auto read_part = [&](const Node& root, const fs::path& path, auto& part,
                             const std::vector<std::string>& own_keys, const auto& to_effective) {
    problems.collect([&] { check_id(root, path); });
    FieldList list;
    fields(list, part);
    std::map<std::string, Provenance> found;
    load_fields(root, list, own_keys, SourcedReader(bibliography_, found), problems);
    for (auto& entry : found) provenance[to_effective(entry.first)] = std::move(entry.second);
  };

  const Node system = read_document(file(kSystems, id), bytes);
  spec.id = id;
  read_part(system, file(kSystems, id), spec, {"id", "device"},
            [](const std::string& path) { return "system." + path; });

  std::string device_name;
  problems.collect(
      [&] { device_name = reference(system, file(kSystems, id), "device", kDevices); });
  spec.device.id = name_in_file(device_name);
  std::string core_name;
  if (!device_name.empty()) {
    const fs::path path = file(kDevices, device_name);
    const Node device = read_document(path, bytes);
    problems.collect([&] { spec.device.name = text_of(device, "name"); });
    read_part(device, path, spec.device, {"id", "name", "core"}, effective_device_path);
    problems.collect([&] { core_name = reference(device, path, "core", kCores); });
    spec.device.core.id = name_in_file(core_name);
  }
  if (!core_name.empty()) {
    const Node core = read_document(file(kCores, core_name), bytes);
    read_part(core, file(kCores, core_name), spec.device.core, {"id"},
              [](const std::string& path) { return "core." + path; });
  }
  problems.throw_if_any();
  return spec;
}

std::string Catalog::reference(const Node& root, const fs::path& path, const std::string& key,
                               const std::string& folder) const {
  const std::string id = beside(path, text_of(root, key));
  if (is_file_name(id)) return id;
  const std::vector<std::string> known = ids_in(paths_.hw / folder);
  if (std::find(known.begin(), known.end(), id) != known.end()) return id;
  throw UserError(
      fmt::format("{}: {}: {}", root.find(key)->where(), key, unknown_name(key, id, known).what()));
}

FactorsFile Catalog::read_factors(const std::string& device, const std::string& request) const {
  const fs::path own = file_of(paths_.factors, device);
  std::error_code error;
  FactorsFile none;
  none.id = none.status = "none";
  if (request == "none" || (request.empty() && !fs::exists(own, error))) return none;
  const fs::path path = request.empty() ? own : fs::path(request);
  FactorsFile file = load_factors(path, shown(path));
  if (file.device != device) {
    throw UserError(
        fmt::format("{}: fitted on '{}', but the system has '{}'; choose another file "
                    "or 'none'",
                    shown(path), file.device, device));
  }
  return file;
}

LoadedSystem Catalog::load(std::string_view system, const LoadOptions& options) const {
  LoadedSystem loaded;
  std::map<std::string, Provenance> provenance;
  const std::string id = find_system(system);
  std::string bytes;
  loaded.spec = read_spec(id, provenance, bytes);
  loaded.spec_id = fmt::format("{}@{}", id, content_hash(bytes));

  const FactorsFile file = read_factors(loaded.spec.device.id, options.factors);
  loaded.factors = file.factors;
  loaded.factors_id = file.id;
  loaded.factors_status = file.status;

  FieldList list;
  all_fields(list, loaded.spec, loaded.factors);
  Problems problems;
  const DividedOverrides set = divide_overrides(options.set, problems);
  const NeuronDeviceSpec published = loaded.spec.device;
  const std::set<std::string> overridden = apply_overrides(list, set.every, provenance, problems);
  if (problems.empty()) check_system(loaded.spec, id, problems);
  problems.throw_if_any();
  const std::vector<std::string> moved =
      follow_overrides(published, loaded.spec.device, overridden, loaded.factors);

  loaded.parameters = describe_parameters(list, provenance, overridden, file);
  for (const auto& [path, value] : set_single_devices(set.single, loaded.spec, problems)) {
    Parameter parameter;
    parameter.path = path;
    parameter.value = value;
    parameter.source = "--set";
    parameter.kind = ValueKind::kOverride;
    parameter.overridden = true;
    loaded.parameters.push_back(std::move(parameter));
  }
  problems.throw_if_any();
  note_moved(list, moved, "follows the published value that it stands for", loaded.parameters);
  loaded.assumed_values = static_cast<int>(
      std::count_if(loaded.parameters.begin(), loaded.parameters.end(),
                    [](const Parameter& p) { return p.kind == ValueKind::kAssumed; }));
  return loaded;
}

}  // namespace foretell
