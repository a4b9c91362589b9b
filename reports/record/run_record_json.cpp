// JSON of the run record, both ways. Kept apart from run_record.cpp: this is the only place that
// needs the JSON library.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "model/base/errors.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kExactIntegers = 9007199254740992.0;  // 2^53

// Whole numbers without a fraction ("8", not "8.0"), everything else in shortest form.
Json number(double value) {
  if (std::trunc(value) == value && std::abs(value) < kExactIntegers) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

Json optional_number(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
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
  if (scenario.in_flight > 0) out["in_flight"] = number(scenario.in_flight);
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
  return out;
}

Json to_json(const RunContext& context) {
  return Json{{"version", context.version},
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
}

Json to_json(const std::optional<MemoryRecord>& memory) {
  if (!memory) return nullptr;
  Json out{{"weights_bytes", number(memory->weights_bytes)},
           {"kv_cache_bytes", number(memory->kv_cache_bytes)},
           {"activations_bytes", number(memory->activations_bytes)},
           {"inputs_outputs_bytes", number(memory->inputs_outputs_bytes)},
           {"runtime_bytes", number(memory->runtime_bytes)}};
  if (memory->training_bytes > 0) out["training_bytes"] = number(memory->training_bytes);
  return out;
}

Json to_json(const std::map<std::string, double>& numbers) {
  Json out = Json::object();
  for (const auto& [name, value] : numbers) out[name] = number(value);
  return out;
}

Json to_json(const std::vector<PeakRecord>& peaks) {
  Json out = Json::array();
  for (const PeakRecord& peak : peaks) {
    out.push_back({{"name", peak.name}, {"per_s", number(peak.per_s)}, {"source", peak.source}});
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
  return Json{{"kv_len", step.kv_len}, {"tokens", step.tokens}, {"step_s", number(step.step_s)}};
}

Json to_json(const Percentiles& values) {
  return Json{
      {"p50", number(values.p50)}, {"p90", number(values.p90)}, {"p99", number(values.p99)}};
}

Json to_json(const DistributionRecord& distribution) {
  Json out{{"latency_s", to_json(distribution.latency_s)},
           {"call_s", to_json(distribution.call_s)}};
  for (const auto& [name, values] : distribution.others) out[name] = to_json(values);
  for (const PaddingRecord& padding : distribution.padding) {
    out["padding"] = {{"buckets", padding.buckets},
                      {"dynamic_call_s", number(padding.dynamic_call_s)},
                      {"buckets_call_s", number(padding.buckets_call_s)},
                      {"overhead", number(padding.overhead)},
                      {"padding_share", number(padding.padding_share)}};
  }
  for (const PartRecord& part : distribution.parts) {
    out["parts"].push_back(
        {{"name", part.name}, {"call_s", number(part.call_s)}, {"runs", number(part.runs)}});
  }
  for (const OutcomeRecord& outcome : distribution.outcomes) {
    out["outcomes"].push_back(
        {{"call_s", number(outcome.call_s)}, {"probability", number(outcome.probability)}});
  }
  return out;
}

Json to_json(const TrainingRecord& training) {
  return Json{{"optimizer", training.optimizer},
              {"parameters", number(training.parameters)},
              {"forward_flops", number(training.forward_flops)},
              {"backward_flops", number(training.backward_flops)},
              {"update_flops", number(training.update_flops)},
              {"all_reduce_bytes", number(training.all_reduce_bytes)},
              {"saved_activations_bytes", number(training.saved_activations_bytes)},
              {"gradients_bytes", number(training.gradients_bytes)},
              {"optimizer_state_bytes", number(training.optimizer_state_bytes)},
              {"forward_s", number(training.forward_s)}};
}

Json to_json(const RunSummary& summary) {
  Json intervals = Json::object();
  for (const auto& [name, interval] : summary.interval80) {
    intervals[name] = Json::array({number(interval.low), number(interval.high)});
  }
  Json out{{"latency_s", number(summary.latency_s)},
              {"throughput", number(summary.throughput)},
              {"throughput_unit", summary.throughput_unit},
              {"call_s", number(summary.call_s)},
              {"ttft_s", optional_number(summary.ttft_s)},
              {"tpot_s", optional_number(summary.tpot_s)},
              {"interval80", intervals},
              {"cost_usd_per_million", optional_number(summary.cost_usd_per_million)},
              {"costs_usd_per_million", to_json(summary.costs_usd_per_million)},
              {"memory_used_bytes", number(summary.memory_used_bytes)},
              {"memory_capacity_bytes", number(summary.memory_capacity_bytes)},
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
           {"start_s", number(op.start_s)},
           {"duration_s", number(op.duration_s)},
           {"flops", number(op.flops)},
           {"bytes", number(op.bytes)},
           {"critical", op.critical}};
  if (op.kernel.empty()) return out;
  out["kernel"] = op.kernel;
  out["waves"] = number(op.waves);
  out["occupancy"] = number(op.occupancy);
  return out;
}

Json to_json(const ResourceRecord& resource) {
  return Json{{"path", resource.path},
              {"busy", number(resource.busy)},
              {"stalled", number(resource.stalled)},
              {"bytes", number(resource.bytes)}};
}

// One JSON object of the input; remembers where it stands for the messages.
class Reader {
 public:
  Reader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json_.is_object()) fail("expected an object");
  }

  bool has(const char* key) const {
    const auto found = json_.find(key);
    return found != json_.end() && !found->is_null();
  }

  Reader child(const char* key) const { return Reader(field(key), where_ + "." + key); }

  std::vector<Reader> list(const char* key) const {
    const Json& array = field(key);
    if (!array.is_array()) fail(std::string(key) + ": expected a list");
    std::vector<Reader> readers;
    for (std::size_t i = 0; i < array.size(); ++i) {
      readers.emplace_back(array[i], where_ + "." + key + "[" + std::to_string(i) + "]");
    }
    return readers;
  }

  template <class T>
  void get(const char* key, T& value) const {
    convert(field(key), key, value);
  }

  // A field that may be missing or null; `value` keeps its content then.
  template <class T>
  void get_optional(const char* key, T& value) const {
    const auto found = json_.find(key);
    if (found != json_.end() && !found->is_null()) convert(*found, key, value);
  }

  void get_optional(const char* key, std::optional<double>& value) const {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) return;
    double number = 0;
    convert(*found, key, number);
    value = number;
  }

  void numbers(const char* key, std::map<std::string, double>& value) const {
    if (!has(key)) return;
    for (const auto& [name, number] : field(key).items()) convert(number, key, value[name]);
  }

  void texts(const char* key, std::map<std::string, std::string>& value) const {
    if (!has(key)) return;
    for (const auto& [name, text] : field(key).items()) convert(text, key, value[name]);
  }

  void counts(const char* key, std::map<std::string, std::vector<std::int64_t>>& value) const {
    for (const auto& [name, list] : field(key).items()) convert(list, key, value[name]);
  }

  void intervals(const char* key, std::map<std::string, Interval>& value) const {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) return;
    for (const auto& [name, pair] : found->items()) {
      std::vector<double> bounds;
      convert(pair, key, bounds);
      if (bounds.size() != 2) fail(std::string(key) + "." + name + ": expected [low, high]");
      value[name] = Interval{bounds[0], bounds[1]};
    }
  }

 private:
  const Json& field(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) fail(std::string("no field '") + key + "'");
    return *found;
  }

  template <class T>
  void convert(const Json& json, const char* key, T& value) const {
    try {
      value = json.get<T>();
    } catch (const Json::exception&) {
      fail(std::string("field '") + key + "' has the wrong type: " + json.dump());
    }
  }

  // Whole numbers must be whole and fit: the library would cut 2.5 to 2 and wrap 1e30.
  template <class Integer>
  void convert_integer(const Json& json, const char* key, Integer& value) const {
    const bool fits = json.is_number_unsigned()
                          ? json.get<std::uint64_t>() <=
                                static_cast<std::uint64_t>(std::numeric_limits<Integer>::max())
                          : json.is_number_integer() && json.get<std::int64_t>() >= 0;
    if (!fits) {
      fail(std::string("field '") + key + "' must be a whole number, not negative: " + json.dump());
    }
    value = json.get<Integer>();
  }
  void convert(const Json& json, const char* key, int& value) const {
    convert_integer(json, key, value);
  }
  void convert(const Json& json, const char* key, std::int64_t& value) const {
    convert_integer(json, key, value);
  }
  void convert(const Json& json, const char* key, std::uint64_t& value) const {
    convert_integer(json, key, value);
  }

  [[noreturn]] void fail(const std::string& what) const { throw UserError(where_ + ": " + what); }

  const Json& json_;
  std::string where_;
};

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
  return out;
}

RunContext read_context(const Reader& in) {
  RunContext out;
  in.get("version", out.version);
  in.get_optional("commit", out.commit);
  in.get("system", out.system);
  in.get("workload", out.workload);
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

Percentiles read_percentiles(const Reader& in) {
  Percentiles out;
  in.get("p50", out.p50);
  in.get("p90", out.p90);
  in.get("p99", out.p99);
  return out;
}

DistributionRecord read_distribution(const Reader& in) {
  DistributionRecord out;
  out.latency_s = read_percentiles(in.child("latency_s"));
  out.call_s = read_percentiles(in.child("call_s"));
  if (in.has("ttft_s")) out.others["ttft_s"] = read_percentiles(in.child("ttft_s"));
  if (in.has("padding")) {
    const Reader each = in.child("padding");
    PaddingRecord& padding = out.padding.emplace_back();
    each.counts("buckets", padding.buckets);
    each.get("dynamic_call_s", padding.dynamic_call_s);
    each.get("buckets_call_s", padding.buckets_call_s);
    each.get("overhead", padding.overhead);
    each.get("padding_share", padding.padding_share);
  }
  if (in.has("parts")) {
    for (const Reader& each : in.list("parts")) {
      PartRecord& part = out.parts.emplace_back();
      each.get("name", part.name);
      each.get("call_s", part.call_s);
      each.get("runs", part.runs);
    }
  }
  if (in.has("outcomes")) {
    for (const Reader& each : in.list("outcomes")) {
      OutcomeRecord& outcome = out.outcomes.emplace_back();
      each.get("call_s", outcome.call_s);
      each.get("probability", outcome.probability);
    }
  }
  return out;
}

TrainingRecord read_training(const Reader& in) {
  TrainingRecord out;
  in.get("optimizer", out.optimizer);
  in.get("parameters", out.parameters);
  in.get("forward_flops", out.forward_flops);
  in.get("backward_flops", out.backward_flops);
  in.get("update_flops", out.update_flops);
  in.get("all_reduce_bytes", out.all_reduce_bytes);
  in.get("saved_activations_bytes", out.saved_activations_bytes);
  in.get("gradients_bytes", out.gradients_bytes);
  in.get("optimizer_state_bytes", out.optimizer_state_bytes);
  in.get("forward_s", out.forward_s);
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
  } catch (const Json::parse_error& error) {
    throw UserError(std::string(where) + ": not JSON: " + error.what());
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
