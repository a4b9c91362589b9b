#include "calib/measurements/measurement.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"

namespace foretell {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMaxSize = std::int64_t{1} << 53;  // that a double holds exactly
constexpr const char* kThreads = "threads";

const std::vector<std::string>& own_fields() {
  static const std::vector<std::string> kFields = {"schema",  "device",     "op",
                                                   "dtype",   "latency_us", "spread",
                                                   "repeats", "conditions", "provenance"};
  return kFields;
}

class Reader {
 public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  [[noreturn]] void fail(const std::string& field, const std::string& problem) const {
    throw UserError(where_ + ": " + field + ": " + problem);
  }

  const Json& at(const std::string& field) const {
    const auto found = object_.find(field);
    if (found == object_.end()) fail(field, "is missing");
    return *found;
  }

  std::string text(const std::string& field) const {
    const Json& value = at(field);
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
      fail(field, "expected a text that is not empty");
    }
    return value.get<std::string>();
  }

  std::string name(const std::string& field) const {
    std::string value = text(field);
    const bool good = std::all_of(value.begin(), value.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    });
    if (!good) fail(field, "'" + value + "': expected lower-case letters, digits and _ - .");
    return value;
  }

  double number(const std::string& field) const {
    const Json& value = at(field);
    if (!value.is_number()) fail(field, "expected a number");
    return value.get<double>();
  }

  std::int64_t size(const std::string& field) const {
    const Json& value = at(field);
    const bool whole = value.is_number_integer();
    if (!whole || value.get<double>() < 0 || value.get<double>() > static_cast<double>(kMaxSize)) {
      fail(field, "expected a whole number from 0; got " + value.dump());
    }
    return value.get<std::int64_t>();
  }

  const Json& object() const { return object_; }

 private:
  const Json& object_;
  std::string where_;
};

void read_conditions(const Reader& record, const std::string& where, Measurement& measurement) {
  const Json& conditions = record.at("conditions");
  if (!conditions.is_object()) record.fail("conditions", "expected an object");
  const Reader reader(conditions, where + ": conditions");
  for (const auto& [name, value] : conditions.items()) {
    if (value.is_null()) {
      measurement.readings[name] = std::nullopt;
    } else if (value.is_number()) {
      measurement.readings[name] = value.get<double>();
    } else if (value.is_string()) {
      measurement.states[name] = value.get<std::string>();
    } else {
      reader.fail(name, "expected a text, a number or null");
    }
  }
}

void read_provenance(const Reader& record, const std::string& where, Measurement& measurement) {
  const Json& provenance = record.at("provenance");
  if (!provenance.is_object()) record.fail("provenance", "expected an object");
  const Reader reader(provenance, where + ": provenance");
  measurement.provenance.source = reader.text("source");
  measurement.provenance.machine = reader.text("machine");
  measurement.provenance.date = reader.text("date");
  if (!is_date(measurement.provenance.date)) {
    reader.fail("date", "'" + measurement.provenance.date + "' is no date like 2026-01-31");
  }
  if (provenance.contains("software")) measurement.provenance.software = reader.text("software");
}

}  // namespace

std::string measurement_key(const Measurement& measurement) {
  std::string key = measurement.device + " " + measurement.op + " " + measurement.dtype;
  for (const auto& [name, size] : measurement.shape) key += " " + name + "=" + std::to_string(size);
  for (const auto& [name, state] : measurement.states) key += " " + name + "=" + state;
  const auto threads = measurement.readings.find(kThreads);
  if (threads != measurement.readings.end() && threads->second.has_value()) {
    key += " threads=" + std::to_string(std::llround(*threads->second));
  }
  return key;
}

std::string to_line(const Measurement& measurement) {
  FORETELL_CHECK(std::isfinite(measurement.latency_us) && measurement.latency_us > 0,
                 "a measured time has to be above zero");
  FORETELL_CHECK(std::isfinite(measurement.spread) && measurement.spread >= 0, "a wrong spread");
  Json record;
  record["schema"] = kMeasurementSchema;
  record["device"] = measurement.device;
  record["op"] = measurement.op;
  record["dtype"] = measurement.dtype;
  for (const auto& [name, size] : measurement.shape) record[name] = size;
  record["latency_us"] = measurement.latency_us;
  record["spread"] = measurement.spread;
  record["repeats"] = measurement.repeats;
  Json& conditions = record["conditions"] = Json::object();
  for (const auto& [name, state] : measurement.states) conditions[name] = state;
  for (const auto& [name, reading] : measurement.readings) {
    FORETELL_CHECK(!reading || std::isfinite(*reading), "a reading that is no number");
    if (reading) {
      conditions[name] = *reading;
    } else {
      conditions[name] = nullptr;
    }
  }
  Json& provenance = record["provenance"] = Json::object();
  provenance["source"] = measurement.provenance.source;
  provenance["machine"] = measurement.provenance.machine;
  provenance["date"] = measurement.provenance.date;
  if (!measurement.provenance.software.empty()) {
    provenance["software"] = measurement.provenance.software;
  }
  return record.dump();
}

Measurement parse_measurement(const std::string& line, const std::string& where) {
  const Json record = Json::parse(line, nullptr, false);
  if (!record.is_object()) throw UserError(where + ": is no JSON object");
  const Reader reader(record, where);
  if (const std::string schema = reader.text("schema"); schema != kMeasurementSchema) {
    reader.fail("schema", "'" + schema + "' is not known; expected " + kMeasurementSchema);
  }
  Measurement measurement;
  measurement.device = reader.name("device");
  measurement.op = reader.name("op");
  measurement.dtype = reader.name("dtype");
  for (const auto& item : record.items()) {
    const auto& known = own_fields();
    if (std::find(known.begin(), known.end(), item.key()) != known.end()) continue;
    measurement.shape.emplace_back(item.key(), reader.size(item.key()));
  }
  if (measurement.shape.empty()) throw UserError(where + ": has no shape");
  measurement.latency_us = reader.number("latency_us");
  if (!(measurement.latency_us > 0)) {
    reader.fail("latency_us",
                "a measured time has to be above 0; got " + reader.at("latency_us").dump());
  }
  measurement.spread = reader.number("spread");
  if (!(measurement.spread >= 0)) reader.fail("spread", "has to be 0 or more");
  const std::int64_t repeats = reader.size("repeats");
  if (repeats < 1 || repeats > std::int64_t{1} << 30) reader.fail("repeats", "has to be 1 or more");
  measurement.repeats = static_cast<int>(repeats);
  read_conditions(reader, where, measurement);
  read_provenance(reader, where, measurement);
  return measurement;
}

bool is_date(const std::string& text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const std::int64_t year = to_count(text.substr(0, 4)).value_or(0);
  const std::int64_t month = to_count(text.substr(5, 2)).value_or(0);
  const std::int64_t day = to_count(text.substr(8, 2)).value_or(0);
  if (year < 1970 || month < 1 || month > 12 || day < 1) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

}  // namespace foretell
