// JSON of the run record, both ways. Kept apart from run_record.cpp: only these files need the JSON
// library.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "model/base/errors.hpp"
#include "reports/record/distribution_json.hpp"
#include "reports/record/json_reader.hpp"
#include "reports/record/run_record.hpp"
#include "reports/record/served_times_json.hpp"

namespace foretell {
namespace {

using Json = RecordJson;
using Reader = RecordReader;

Json number_json(int value) { return value; }
Json number_json(std::int64_t value) { return value; }
Json number_json(double value) { return record_number(value); }
Json value_json(const TextMap& map) { return map; }
Json value_json(const SizeMap& map) {
  Json out = Json::object();
  for (const auto& [name, size] : map) out[name] = std::to_string(size);
  return out;
}
template <class T>
Json value_json(const T& value) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    return value;
  } else {
    return number_json(value);
  }
}

Json to_json(const Scenario& scenario) {
  Json out = Json::object();
  for (const RequestField& field : request_fields()) {
    if (!is_stated(field, scenario)) continue;
    std::visit([&](auto member) { out[field.key] = value_json(scenario.*member); }, field.member);
  }
  return out;
}

Json to_json(const RunContext& context) {
  Json out{{"version", context.version},
           {"commit", context.commit},
           {"system", context.system},
           {"workload", context.workload},
           {"dtype", context.dtype},
           {"scenario", to_json(context.scenario)},
           {"set", context.set},
           {"factors", context.factors},
           {"assumed_values", context.assumed_values},
           {"seed", context.seed},
           {"notes", context.notes}};
  if (!context.workload_file.empty()) out["workload_file"] = context.workload_file;
  return out;
}

Json to_json(const std::optional<MemoryRecord>& memory) {
  if (!memory) return nullptr;
  Json out{{"weights_bytes", record_number(memory->weights_bytes)},
           {"kv_cache_bytes", record_number(memory->kv_cache_bytes)},
           {"activations_bytes", record_number(memory->activations_bytes)},
           {"inputs_outputs_bytes", record_number(memory->inputs_outputs_bytes)},
           {"runtime_bytes", record_number(memory->runtime_bytes)}};
  if (memory->training_bytes > 0) out["training_bytes"] = record_number(memory->training_bytes);
  return out;
}

Json to_json(const std::map<std::string, double>& numbers) {
  Json out = Json::object();
  for (const auto& [name, value] : numbers) out[name] = record_number(value);
  return out;
}

Json to_json(const std::vector<PeakRecord>& peaks) {
  Json out = Json::array();
  for (const PeakRecord& peak : peaks) {
    out.push_back(
        {{"name", peak.name}, {"per_s", record_number(peak.per_s)}, {"source", peak.source}});
  }
  return out;
}

Json to_json(const std::optional<MachineRecord>& machine) {
  if (!machine) return nullptr;
  return Json{{"device", machine->device},
              {"devices", machine->devices},
              {"part", machine->part},
              {"parts", machine->parts},
              {"compute", to_json(machine->compute)},
              {"bandwidths", to_json(machine->bandwidths)}};
}

Json to_json(const ValueRecord& value) {
  return Json{{"path", value.path},
              {"value", value.value},
              {"kind", value.kind},
              {"source", value.source},
              {"why", value.why}};
}

Json to_json(const GenerationRecord& step) {
  return Json{
      {"kv_len", step.kv_len}, {"tokens", step.tokens}, {"step_s", record_number(step.step_s)}};
}

Json to_json(const RunSummary& summary) {
  Json intervals = Json::object();
  for (const auto& [name, interval] : summary.interval80) {
    intervals[name] = Json::array({record_number(interval.low), record_number(interval.high)});
  }
  Json out = Json::object();
  for (const SummaryMetric& metric : summary_metrics()) {
    const std::string_view field = metric.field;
    const std::optional<double> value = value_of(metric, summary);
    if (value) {
      out[metric.field] = record_number(*value);
    } else if (metric.is_always_written) {
      out[metric.field] = nullptr;
    }
    if (field == "throughput") out["throughput_unit"] = summary.throughput_unit;
    if (field == "tpot_s") out["interval80"] = intervals;
    if (field == "cost_usd_per_million")
      out["costs_usd_per_million"] = to_json(summary.costs_usd_per_million);
  }
  out["memory"] = to_json(summary.memory);
  out["bottleneck"] = summary.bottleneck;
  if (summary.distribution) out["distribution"] = to_json(*summary.distribution);
  if (summary.training) out["training"] = to_json(*summary.training);
  if (summary.energy) out["energy"] = to_json(*summary.energy);
  if (summary.served) out["served"] = to_json(*summary.served);
  return out;
}

Json to_json(const OperatorRecord& op) {
  Json out{{"name", op.name},
           {"op", op.op},
           {"engine", op.engine},
           {"start_s", record_number(op.start_s)},
           {"duration_s", record_number(op.duration_s)},
           {"flops", record_number(op.flops)},
           {"bytes", record_number(op.bytes)},
           {"critical", op.critical}};
  if (op.kernel.empty()) return out;
  out["kernel"] = op.kernel;
  out["waves"] = record_number(op.waves);
  out["occupancy"] = record_number(op.occupancy);
  return out;
}

Json to_json(const ResourceRecord& resource) {
  return Json{{"path", resource.path},
              {"busy", record_number(resource.busy)},
              {"stalled", record_number(resource.stalled)},
              {"bytes", record_number(resource.bytes)}};
}

void read_value(const Reader& in, const char* key, TextMap& map) { in.texts(key, map); }
void read_value(const Reader& in, const char* key, SizeMap& map) {
  TextMap sizes;
  in.texts(key, sizes);
  for (const auto& [name, size] : sizes) map[name] = std::strtoll(size.c_str(), nullptr, 10);
}
template <class T>
void read_value(const Reader& in, const char* key, T& value) {
  in.get_optional(key, value);
}

Scenario read_scenario(const Reader& in) {
  Scenario out;
  for (const RequestField& field : request_fields())
    std::visit([&](auto member) { read_value(in, field.key, out.*member); }, field.member);
  return out;
}

RunContext read_context(const Reader& in) {
  RunContext out;
  in.get("version", out.version);
  in.get_optional("commit", out.commit);
  in.get("system", out.system);
  in.get("workload", out.workload);
  in.get_optional("workload_file", out.workload_file);
  in.get("dtype", out.dtype);
  out.scenario = read_scenario(in.child("scenario"));
  in.get_optional("set", out.set);
  in.get_optional("factors", out.factors);
  in.get_optional("assumed_values", out.assumed_values);
  in.get_optional("seed", out.seed);
  in.get_optional("notes", out.notes);
  return out;
}

MemoryRecord read_memory(const Reader& in) {
  MemoryRecord out;
  in.get("weights_bytes", out.weights_bytes);
  in.get("kv_cache_bytes", out.kv_cache_bytes);
  in.get("activations_bytes", out.activations_bytes);
  in.get("inputs_outputs_bytes", out.inputs_outputs_bytes);
  in.get("runtime_bytes", out.runtime_bytes);
  in.get_optional("training_bytes", out.training_bytes);
  return out;
}

RunSummary read_summary(const Reader& in) {
  RunSummary out;
  for (const SummaryMetric& metric : summary_metrics()) {
    const auto* required = std::get_if<double RunSummary::*>(&metric.member);
    if (required != nullptr) {
      in.get(metric.field, out.**required);
    } else {
      in.get_optional(metric.field,
                      out.*std::get<std::optional<double> RunSummary::*>(metric.member));
    }
  }
  in.get("throughput_unit", out.throughput_unit);
  in.intervals("interval80", out.interval80);
  in.numbers("costs_usd_per_million", out.costs_usd_per_million);
  if (in.has("memory")) out.memory = read_memory(in.child("memory"));
  in.get("bottleneck", out.bottleneck);
  if (in.has("distribution")) out.distribution = read_distribution(in.child("distribution"));
  if (in.has("training")) out.training = read_training(in.child("training"));
  if (in.has("energy")) out.energy = read_energy(in.child("energy"));
  if (in.has("served")) out.served = read_served_times(in.child("served"));
  return out;
}

std::vector<PeakRecord> read_peaks(const std::vector<Reader>& list) {
  std::vector<PeakRecord> peaks;
  for (const Reader& in : list) {
    PeakRecord& peak = peaks.emplace_back();
    in.get("name", peak.name);
    in.get("per_s", peak.per_s);
    in.get_optional("source", peak.source);
  }
  return peaks;
}

MachineRecord read_machine(const Reader& in) {
  MachineRecord out;
  in.get("device", out.device);
  in.get_optional("devices", out.devices);
  in.get("part", out.part);
  in.get_optional("parts", out.parts);
  out.compute = read_peaks(in.list("compute"));
  out.bandwidths = read_peaks(in.list("bandwidths"));
  return out;
}

ValueRecord read_parameter(const Reader& in) {
  ValueRecord out;
  in.get("path", out.path);
  in.get("value", out.value);
  in.get("kind", out.kind);
  in.get_optional("source", out.source);
  in.get_optional("why", out.why);
  return out;
}

GenerationRecord read_generation(const Reader& in) {
  GenerationRecord out;
  in.get("kv_len", out.kv_len);
  in.get("tokens", out.tokens);
  in.get("step_s", out.step_s);
  return out;
}

OperatorRecord read_operator(const Reader& in) {
  OperatorRecord out;
  in.get("name", out.name);
  in.get("op", out.op);
  in.get("engine", out.engine);
  in.get("start_s", out.start_s);
  in.get("duration_s", out.duration_s);
  in.get("flops", out.flops);
  in.get("bytes", out.bytes);
  in.get("critical", out.critical);
  in.get_optional("kernel", out.kernel);
  in.get_optional("waves", out.waves);
  in.get_optional("occupancy", out.occupancy);
  return out;
}

ResourceRecord read_resource(const Reader& in) {
  ResourceRecord out;
  in.get("path", out.path);
  in.get("busy", out.busy);
  in.get("stalled", out.stalled);
  in.get("bytes", out.bytes);
  return out;
}

}  // namespace

std::string to_json(const RunRecord& record) {
  check_record(record);
  Json values = Json::array();
  for (const ValueRecord& value : record.values) values.push_back(to_json(value));
  Json generation = Json::array();
  for (const GenerationRecord& step : record.generation) generation.push_back(to_json(step));
  Json operators = Json::array();
  for (const OperatorRecord& op : record.operators) operators.push_back(to_json(op));
  Json resources = Json::array();
  for (const ResourceRecord& resource : record.resources) resources.push_back(to_json(resource));
  const Json out{{"schema", std::string(kRunSchema)},
                 {"context", to_json(record.context)},
                 {"summary", to_json(record.summary)},
                 {"machine", to_json(record.machine)},
                 {"values", values},
                 {"generation", generation},
                 {"operators", operators},
                 {"resources", resources}};
  // Names come from the user's files: bytes that are no UTF-8 are replaced, not refused.
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RunRecord run_record_from_json(std::string_view text, std::string_view where) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {  // no JSON, or a number that no double holds
    const std::string_view what = error.what();
    throw UserError(std::string(where) + ": not JSON as `--format json` writes it: " +
                    std::string(what.substr(what.find("] ") + 2)));
  }
  const Reader in(json, std::string(where));
  std::string schema;
  in.get("schema", schema);
  if (schema != kRunSchema) {
    throw UserError(std::string(where) + ": schema '" + schema +
                    "' is not readable by this version, which reads '" + std::string(kRunSchema) +
                    "'");
  }
  RunRecord record;
  record.context = read_context(in.child("context"));
  record.summary = read_summary(in.child("summary"));
  if (in.has("machine")) record.machine = read_machine(in.child("machine"));
  if (in.has("values")) {
    for (const Reader& value : in.list("values")) record.values.push_back(read_parameter(value));
  }
  if (in.has("generation")) {
    for (const Reader& step : in.list("generation"))
      record.generation.push_back(read_generation(step));
  }
  for (const Reader& op : in.list("operators")) record.operators.push_back(read_operator(op));
  for (const Reader& resource : in.list("resources"))
    record.resources.push_back(read_resource(resource));
  return record;
}

}  // namespace foretell
