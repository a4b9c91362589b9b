// JSON of the run record, both ways. Kept apart from run_record.cpp: only these files need the JSON
// library.
#include <nlohmann/json.hpp>

#include "model/base/errors.hpp"
#include "reports/record/distribution_json.hpp"
#include "reports/record/json_reader.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {
namespace {

using Json = RecordJson;
using Reader = RecordReader;

Json optional_number(const std::optional<double>& value) {
  return value ? record_number(*value) : Json(nullptr);
}

Json to_json(const Scenario& scenario) {
  Json out = Json::object();
  const auto put = [&out](const char* name, std::int64_t value) {
    if (value != 0) out[name] = value;
  };
  put("batch", scenario.batch);
  put("seq_len", scenario.seq_len);
  put("input_len", scenario.input_len);
  put("output_len", scenario.output_len);
  put("context", scenario.context);
  put("image_size", scenario.image_size);
  const auto put_text = [&out](const char* name, const std::string& value) {
    if (!value.empty()) out[name] = value;
  };
  put_text("kv", scenario.kv);
  put_text("kv_dtype", scenario.kv_dtype);
  put_text("sampling", scenario.sampling);
  put("tp", scenario.tp);
  if (scenario.sequence_parallel) out["sequence_parallel"] = true;
  put("pp", scenario.pp);
  put("dp", scenario.dp);
  put("cores", scenario.cores);
  if (scenario.in_flight > 0) out["in_flight"] = record_number(scenario.in_flight);
  put_text("sdk", scenario.sdk);
  put_text("l2", scenario.l2);
  put_text("launch", scenario.launch);
  put_text("clock", scenario.clock);
  put_text("shapes", scenario.shapes);
  put_text("phase", scenario.phase);
  put_text("optimizer", scenario.optimizer);
  const auto put_map = [&out](const char* name, const std::map<std::string, std::string>& map) {
    if (!map.empty()) out[name] = map;
  };
  put_map("distributions", scenario.distributions);
  put_map("branches", scenario.branches);
  put_map("trips", scenario.trips);
  put_map("dimensions", scenario.dimensions);
  if (scenario.exact) out["exact"] = true;
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
  Json out{{"latency_s", record_number(summary.latency_s)},
           {"throughput", record_number(summary.throughput)},
           {"throughput_unit", summary.throughput_unit},
           {"call_s", record_number(summary.call_s)},
           {"ttft_s", optional_number(summary.ttft_s)},
           {"tpot_s", optional_number(summary.tpot_s)},
           {"interval80", intervals},
           {"cost_usd_per_million", optional_number(summary.cost_usd_per_million)},
           {"costs_usd_per_million", to_json(summary.costs_usd_per_million)},
           {"memory_used_bytes", record_number(summary.memory_used_bytes)},
           {"memory_capacity_bytes", record_number(summary.memory_capacity_bytes)},
           {"memory", to_json(summary.memory)},
           {"bottleneck", summary.bottleneck}};
  if (summary.distribution) out["distribution"] = to_json(*summary.distribution);
  if (summary.training) out["training"] = to_json(*summary.training);
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

Scenario read_scenario(const Reader& in) {
  Scenario out;
  in.get_optional("batch", out.batch);
  in.get_optional("seq_len", out.seq_len);
  in.get_optional("input_len", out.input_len);
  in.get_optional("output_len", out.output_len);
  in.get_optional("context", out.context);
  in.get_optional("image_size", out.image_size);
  in.get_optional("kv", out.kv);
  in.get_optional("kv_dtype", out.kv_dtype);
  in.get_optional("sampling", out.sampling);
  in.get_optional("tp", out.tp);
  in.get_optional("sequence_parallel", out.sequence_parallel);
  in.get_optional("pp", out.pp);
  in.get_optional("dp", out.dp);
  in.get_optional("cores", out.cores);
  in.get_optional("in_flight", out.in_flight);
  in.get_optional("sdk", out.sdk);
  in.get_optional("l2", out.l2);
  in.get_optional("launch", out.launch);
  in.get_optional("clock", out.clock);
  in.get_optional("shapes", out.shapes);
  in.get_optional("phase", out.phase);
  in.get_optional("optimizer", out.optimizer);
  in.texts("distributions", out.distributions);
  in.texts("branches", out.branches);
  in.texts("trips", out.trips);
  in.texts("dimensions", out.dimensions);
  in.get_optional("exact", out.exact);
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
  in.get("latency_s", out.latency_s);
  in.get("throughput", out.throughput);
  in.get("throughput_unit", out.throughput_unit);
  in.get("call_s", out.call_s);
  in.get_optional("ttft_s", out.ttft_s);
  in.get_optional("tpot_s", out.tpot_s);
  in.intervals("interval80", out.interval80);
  in.get_optional("cost_usd_per_million", out.cost_usd_per_million);
  in.numbers("costs_usd_per_million", out.costs_usd_per_million);
  in.get("memory_used_bytes", out.memory_used_bytes);
  in.get("memory_capacity_bytes", out.memory_capacity_bytes);
  if (in.has("memory")) out.memory = read_memory(in.child("memory"));
  in.get("bottleneck", out.bottleneck);
  if (in.has("distribution")) out.distribution = read_distribution(in.child("distribution"));
  if (in.has("training")) out.training = read_training(in.child("training"));
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

ValueRecord read_value(const Reader& in) {
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
    for (const Reader& value : in.list("values")) record.values.push_back(read_value(value));
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
