#include "model/app/study/what_if/study_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/serving/request/serve_keys.hpp"
#include "model/app/study/what_if/planned_point.hpp"
#include "model/app/study/what_if/served_point.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "reports/render/record_cells.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileKeys[] = {"on",     "workload", "factors", "trace",
                                     "engine", "decode_on"};  // whose values may be files

// Areas are numbers alone: no parameter has them as a unit.
Dimension unit_dimension(const std::string& unit) {
  const std::optional<AnyQuantity> known = find_unit(unit);
  return known ? known->dimension : Dimension{};
}

bool is_path(const std::string& key) { return key.find('.') != std::string::npos; }

std::string folder_bytes(const fs::path& folder) {
  std::set<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; entry != end;
       entry.increment(error)) {
    if (error) break;
    const std::string extension = entry->path().extension().string();
    if (extension == ".yaml" || extension == ".json") files.insert(entry->path());
  }
  std::string bytes;
  for (const fs::path& file : files) {
    bytes += file.lexically_relative(folder).generic_string() + '\n';
    bytes += read_text_file(file);
  }
  return bytes;
}

// Values of a key, wherever the study states them.
std::set<std::string> values_of(const Study& study, const std::string& key) {
  std::set<std::string> values;
  if (const auto found = study.base.find(key); found != study.base.end())
    values.insert(found->second);
  for (const StudyAxis& axis : study.axes) {
    for (std::size_t k = 0; k < axis.keys.size(); ++k) {
      if (axis.keys[k] != key) continue;
      for (const auto& row : axis.rows) values.insert(row[k]);
    }
  }
  return values;
}

}  // namespace

const std::vector<std::string>& scenario_keys() {
  static const std::vector<std::string> kKeys = [] {
    std::vector<std::string> keys = request_keys();
    for (const ServeKey& one : serve_keys()) {
      if (std::find(keys.begin(), keys.end(), one.key) == keys.end()) keys.emplace_back(one.key);
    }
    keys.emplace_back(kPlanKey);
    return keys;
  }();
  return kKeys;
}

void set_study_key(Request& request, const std::string& key, const std::string& value) {
  if (is_path(key)) {
    request.set.push_back(key + "=" + value);
  } else if (set_key(request, key, value)) {
    return;
  } else if (ServeRequest tried; key == kPlanKey || set_serve_key(tried, key, key, value)) {
    request.service[key] = std::string(trim(value));
  } else {
    throw UserError(fmt::format("{}; paths of parameters have dots, such as device.hbm.bandwidth",
                                unknown_name("key", key, scenario_keys()).what()));
  }
}

Request study_request(const PointValues& values) {
  Request request;
  for (const auto& [key, value] : values) set_study_key(request, key, value);
  if (is_planned(request)) {
    planned_request(request);
  } else if (is_served(request)) {
    served_request(request);
  } else {
    check_request(request);
  }
  return request;
}

void leave_out_unknown_cost(Study& study) {
  const bool states_one =
      std::any_of(study.stated_at.begin(), study.stated_at.end(),
                  [](const auto& stated) { return starts_with(stated.first, "system.price."); });
  if (!study.costs_by_default || states_one) return;
  for (const std::string& system : values_of(study, "on")) {
    const DeviceFamily* family = find_family(system);
    if (family == nullptr) return;  // is refused later
    Request bare;
    bare.system = system;
    if (!family->prices(bare).empty()) return;
  }
  study.objectives.pop_back();
  study.costs_by_default = false;
}

Study stored_study(const std::string& name, const std::string& definition) {
  Study study = parse_study(definition, "stored study '" + name + "'");
  leave_out_unknown_cost(study);
  return study;
}

PointMetrics point_metrics(const RunSummary& summary) {
  PointMetrics metrics;
  for (const SummaryMetric& metric : summary_metrics()) {
    if (const std::optional<double> value = value_of(metric, summary))
      metrics[metric.name] = {true, *value, unit_dimension(metric.unit), {}};
  }
  return metrics;
}

std::string value_text(const StudyValue& value) {
  for (const char* unit : {"s", "B", "W", "J"}) {
    if (value.dimension == unit_dimension(unit)) return quantity_text(value.number, unit);
  }
  return quantity_text(value.number, "");
}

Request parameter_request(const PointValues& values) {
  Request request;
  for (const char* key : {"on", "workload", "factors"}) {
    if (const auto found = values.find(key); found != values.end())
      set_study_key(request, key, found->second);
  }
  return request;
}

StudyValue ParameterDefaults::operator()(const PointValues& values, const std::string& name) {
  const Values& known = of(values);
  if (const auto found = known.find(name); found != known.end())
    return parse_study_value(found->second);
  std::vector<std::string> names;
  for (const auto& [key, value] : values) names.push_back(key);
  for (const auto& [path, value] : known) names.push_back(path);
  for (const SummaryMetric& metric : summary_metrics()) names.emplace_back(metric.name);
  throw unknown_name("name", name, names);
}

const ParameterDefaults::Values& ParameterDefaults::of(const PointValues& values) {
  const Request request = parameter_request(values);
  const auto [found, is_new] = known_.try_emplace(request.system + '\n' + request.factors);
  if (is_new) {
    for (const Parameter& parameter : family_of(request.system).parameters(request))
      found->second[parameter.path] = parameter.value;
  }
  return found->second;
}

std::string data_hash() {
  std::string bytes = folder_bytes(hw_folder()) + folder_bytes(factors_folder());
  if (const char* folder = std::getenv("FORETELL_WORKLOADS")) bytes += folder_bytes(folder);
  return content_hash(bytes);
}

const std::string& NamedFiles::hash(const std::string& value) {
  const auto [found, is_new] = hashes_.try_emplace(value);
  std::error_code error;
  if (is_new && fs::is_regular_file(value, error)) {
    std::string bytes = bytes_of_system_files(value);
    if (bytes.empty()) bytes = read_text_file(value);
    found->second = value + ' ' + content_hash(bytes) + '\n';
  }
  return found->second;
}

std::string NamedFiles::of(const PointValues& values) {
  std::string text;
  for (const char* key : kFileKeys) {
    if (const auto found = values.find(key); found != values.end()) text += hash(found->second);
  }
  return text;
}

std::string NamedFiles::of(const Study& study) {
  std::string text;
  for (const char* key : kFileKeys) {
    for (const std::string& value : values_of(study, key)) text += hash(value);
  }
  return text;
}

}  // namespace foretell
