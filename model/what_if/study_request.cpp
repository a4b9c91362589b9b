#include "model/what_if/study_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "hw/spec/data_folder.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/forecast/device_family.hpp"
#include "model/forecast/request_fields.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

struct WordKey {
  const char* name;
  std::string Request::*member;
};

const std::vector<WordKey>& word_keys() {
  static const std::vector<WordKey> kKeys = {
      {"on", &Request::system},
      {"workload", &Request::workload},
      {"dtype", &Request::dtype},
      {"l2", &Request::l2},
      {"sdk", &Request::sdk},
      {"factors", &Request::factors},
      {"shapes", &Request::shapes},
      {"phase", &Request::phase},
      {"optimizer", &Request::optimizer},
  };
  return kKeys;
}

constexpr const char* kSequenceParallel = "sequence_parallel";
constexpr const char* kInFlight = "in_flight";
constexpr const char* kExact = "exact";
constexpr const char* kSeed = "seed";
constexpr const char* kFileKeys[] = {"on", "workload", "factors"};  // whose values may be files

bool parse_flag(const std::string& key, const std::string& value) {
  const std::string word = to_lower(trim(value));
  if (word == "yes" || word == "true") return true;
  if (word == "no" || word == "false") return false;
  throw UserError(fmt::format("{}: '{}' is not allowed; it must be yes or no", key, value));
}

// Several NAME=VALUE with semicolons between.
struct PairKey {
  const char* name;
  void (*add)(Request&, std::string_view);
};

constexpr PairKey kPairKeys[] = {
    {"dim", add_dimension}, {"branch", add_branch}, {"trips", add_trips}};

bool is_path(const std::string& key) { return key.find('.') != std::string::npos; }

// "input-len" of an option is the key input_len.
std::string key_of(const char* option) { return canonical_key(option); }

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
    std::vector<std::string> keys;
    for (const WordKey& key : word_keys()) keys.emplace_back(key.name);
    for (const CountField& field : count_fields()) keys.push_back(key_of(field.option));
    for (const ChoiceField& field : choice_fields()) keys.push_back(key_of(field.option));
    for (const PairKey& key : kPairKeys) keys.emplace_back(key.name);
    keys.insert(keys.end(), {kSequenceParallel, kInFlight, kExact, kSeed});
    return keys;
  }();
  return kKeys;
}

void set_study_key(Request& request, const std::string& key, const std::string& value) {
  if (is_path(key)) {
    request.set.push_back(key + "=" + value);
    return;
  }
  for (const WordKey& word : word_keys()) {
    if (key == word.name) {
      request.*word.member = std::string(trim(value));
      return;
    }
  }
  for (const CountField& field : count_fields()) {
    if (key_of(field.option) != key) continue;
    set_length(request, field, key, value);
    return;
  }
  for (const ChoiceField& field : choice_fields()) {
    if (key_of(field.option) != key) continue;
    request.*field.member = parse_choice(field, value);
    return;
  }
  for (const PairKey& pair : kPairKeys) {
    if (key != pair.name) continue;
    for (const std::string& text : split(value, ';')) pair.add(request, trim(text));
    return;
  }
  if (key == kSequenceParallel) {
    request.sequence_parallel = parse_flag(key, value);
  } else if (key == kInFlight) {
    request.in_flight = parse_positive(key, value, kMaxInFlight);
  } else if (key == kExact) {
    request.exact = parse_flag(key, value);
  } else if (key == kSeed) {
    request.seed = static_cast<std::uint64_t>(parse_count(key, value, 0, kMaxSeed));
  } else {
    throw UserError(fmt::format("{}; paths of parameters have dots, such as device.hbm.bandwidth",
                                unknown_name("key", key, scenario_keys()).what()));
  }
}

Request study_request(const PointValues& values) {
  Request request;
  for (const auto& [key, value] : values) set_study_key(request, key, value);
  check_request(request);
  return request;
}

std::string request_json(const Request& request) {
  nlohmann::ordered_json json;
  for (const WordKey& key : word_keys()) {
    const std::string& value = request.*key.member;
    if (!value.empty()) json[key.name] = value;
  }
  for (const CountField& field : count_fields()) {
    const auto varies = request.distributions.find(field.option);
    if (varies != request.distributions.end()) {
      json[key_of(field.option)] = varies->second;
    } else if (field.get(request) != 0) {
      json[key_of(field.option)] = field.get(request);
    }
  }
  for (const ChoiceField& field : choice_fields()) {
    const std::string& value = request.*field.member;
    if (!value.empty()) json[key_of(field.option)] = value;
  }
  if (!request.dimensions.empty()) json["dim"] = request.dimensions;
  for (const auto& [name, text] : request.distributions) {
    if (starts_with(name, "dim ")) json["dim"][name.substr(4)] = text;
  }
  if (!request.branches.empty()) json["branch"] = request.branches;
  if (!request.trips.empty()) json["trips"] = request.trips;
  if (request.sequence_parallel) json[kSequenceParallel] = true;
  if (request.in_flight > 0) json[kInFlight] = request.in_flight;
  if (request.exact) json[kExact] = true;
  if (request.seed != 0) json[kSeed] = request.seed;
  if (!request.set.empty()) json["set"] = request.set;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

PointMetrics point_metrics(const RunSummary& summary) {
  constexpr Dimension kTime{1, 0, 0, 0, 0};
  constexpr Dimension kData{0, 1, 0, 0, 0};
  constexpr Dimension kMoney{0, 0, 0, 0, 1};
  PointMetrics metrics;
  const auto put = [&metrics](const char* name, const std::optional<double>& value,
                              Dimension dimension) {
    if (value) metrics[name] = {true, *value, dimension, {}};
  };
  put("latency", summary.latency_s, kTime);
  put("call", summary.call_s, kTime);
  put("throughput", summary.throughput, {});
  put("usd_per_million", summary.cost_usd_per_million, kMoney);
  put("ttft", summary.ttft_s, kTime);
  put("tpot", summary.tpot_s, kTime);
  put("memory_used", summary.memory_used_bytes, kData);
  put("memory_capacity", summary.memory_capacity_bytes, kData);
  return metrics;
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
  for (const StudyMetric& metric : study_metrics()) names.emplace_back(metric.name);
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
  const CatalogPaths paths = default_catalog_paths();
  std::string bytes = folder_bytes(paths.hw) + folder_bytes(paths.factors);
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
