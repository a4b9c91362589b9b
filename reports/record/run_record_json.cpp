// JSON of the run record, both ways. Kept apart from run_record.cpp: only these files need the JSON
// library.
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "reports/record/record_fields.hpp"
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

Json scenario_json(const Scenario& scenario) {
  Json out = Json::object();
  for (const RequestField& field : request_fields()) {
    if (!is_stated(field, scenario)) continue;
    std::visit([&](auto member) { out[field.key] = value_json(scenario.*member); }, field.member);
  }
  return out;
}

void read_value(const Reader& in, const char* key, TextMap& map) {
  if (in.has(key)) RecordValue<TextMap>::read(in, key, map);
}
void read_value(const Reader& in, const char* key, SizeMap& map) {
  TextMap sizes;
  read_value(in, key, sizes);
  for (const auto& [name, size] : sizes) map[name] = to_count(size).value_or(0);
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

}  // namespace

template <>
struct RecordFields<Percentiles> {
  using R = Percentiles;
  static constexpr auto kAll = std::make_tuple(
      record_field("p50", &R::p50), record_field("p90", &R::p90), record_field("p99", &R::p99));
};

template <>
struct RecordFields<PaddingRecord> {
  using R = PaddingRecord;
  static constexpr auto kAll = std::make_tuple(
      record_field("buckets", &R::buckets), record_field("dynamic_call_s", &R::dynamic_call_s),
      record_field("buckets_call_s", &R::buckets_call_s), record_field("overhead", &R::overhead),
      record_field("padding_share", &R::padding_share));
};

template <>
struct RecordFields<PartRecord> {
  using R = PartRecord;
  static constexpr auto kAll =
      std::make_tuple(record_field("name", &R::name), record_field("call_s", &R::call_s),
                      record_field("runs", &R::runs));
};

template <>
struct RecordFields<OutcomeRecord> {
  using R = OutcomeRecord;
  static constexpr auto kAll = std::make_tuple(record_field("call_s", &R::call_s),
                                               record_field("probability", &R::probability));
};

template <>
struct RecordFields<MemoryRecord> {
  using R = MemoryRecord;
  static constexpr auto kAll =
      std::make_tuple(record_field("weights_bytes", &R::weights_bytes),
                      record_field("kv_cache_bytes", &R::kv_cache_bytes),
                      record_field("activations_bytes", &R::activations_bytes),
                      record_field("inputs_outputs_bytes", &R::inputs_outputs_bytes),
                      record_field("runtime_bytes", &R::runtime_bytes),
                      record_field("training_bytes", &R::training_bytes, Written::kIfAny));
};

template <>
struct RecordFields<TrainingRecord> {
  using R = TrainingRecord;
  static constexpr auto kAll = std::make_tuple(
      record_field("optimizer", &R::optimizer), record_field("parameters", &R::parameters),
      record_field("forward_flops", &R::forward_flops),
      record_field("backward_flops", &R::backward_flops),
      record_field("update_flops", &R::update_flops),
      record_field("all_reduce_bytes", &R::all_reduce_bytes),
      record_field("saved_activations_bytes", &R::saved_activations_bytes),
      record_field("gradients_bytes", &R::gradients_bytes),
      record_field("optimizer_state_bytes", &R::optimizer_state_bytes),
      record_field("forward_s", &R::forward_s));
};

template <>
struct RecordFields<EnergyPartRecord> {
  using R = EnergyPartRecord;
  static constexpr auto kAll =
      std::make_tuple(record_field("kind", &R::kind), record_field("joules", &R::joules),
                      record_field("calibrated", &R::is_calibrated));
};

template <>
struct RecordFields<EnergyRecord> {
  using R = EnergyRecord;
  static constexpr auto kAll = std::make_tuple(
      record_field("devices", &R::devices), record_field("limit_w", &R::limit_w),
      record_field("clock", &R::clock), record_field("calibrated_share", &R::calibrated_share),
      record_field("interval80", &R::interval80), record_field("parts", &R::parts),
      record_field("joules_by_operator", &R::joules_by_operator));
};

namespace {

Json distribution_json(const DistributionRecord& distribution) {
  Json out{{"latency_s", record_json(distribution.latency_s)},
           {"call_s", record_json(distribution.call_s)}};
  for (const auto& [name, values] : distribution.others) out[name] = record_json(values);
  for (const PaddingRecord& padding : distribution.padding) out["padding"] = record_json(padding);
  if (!distribution.parts.empty()) out["parts"] = record_json(distribution.parts);
  if (!distribution.outcomes.empty()) out["outcomes"] = record_json(distribution.outcomes);
  return out;
}

DistributionRecord read_distribution(const Reader& in) {
  DistributionRecord out;
  const auto take = [&in](const char* key, auto& value) {
    RecordValue<std::decay_t<decltype(value)>>::read(in, key, value);
  };
  take("latency_s", out.latency_s);
  take("call_s", out.call_s);
  if (in.has("ttft_s")) take("ttft_s", out.others["ttft_s"]);
  if (in.has("padding")) take("padding", out.padding.emplace_back());
  if (in.has("parts")) take("parts", out.parts);
  if (in.has("outcomes")) take("outcomes", out.outcomes);
  return out;
}

Json summary_json(const RunSummary& summary) {
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
    if (field == "tpot_s") out["interval80"] = record_json(summary.interval80);
    if (field == "cost_usd_per_million")
      out["costs_usd_per_million"] = record_json(summary.costs_usd_per_million);
  }
  out["memory"] = record_json(summary.memory);
  out["bottleneck"] = summary.bottleneck;
  if (summary.distribution) out["distribution"] = distribution_json(*summary.distribution);
  if (summary.training) out["training"] = record_json(*summary.training);
  if (summary.energy) out["energy"] = record_json(*summary.energy);
  if (summary.served) out["served"] = to_json(*summary.served);
  return out;
}

RunSummary read_summary(const Reader& in) {
  RunSummary out;
  for (const SummaryMetric& metric : summary_metrics()) {
    if (const auto* required = std::get_if<double RunSummary::*>(&metric.member)) {
      in.get(metric.field, out.**required);
    } else {
      const auto optional = std::get<std::optional<double> RunSummary::*>(metric.member);
      RecordValue<std::optional<double>>::read(in, metric.field, out.*optional);
    }
  }
  const auto take = [&in](const char* key, auto& value) {
    if (in.has(key)) RecordValue<std::decay_t<decltype(value)>>::read(in, key, value);
  };
  in.get("throughput_unit", out.throughput_unit);
  take("interval80", out.interval80);
  take("costs_usd_per_million", out.costs_usd_per_million);
  take("memory", out.memory);
  in.get("bottleneck", out.bottleneck);
  if (in.has("distribution")) out.distribution = read_distribution(in.child("distribution"));
  take("training", out.training);
  take("energy", out.energy);
  if (in.has("served")) out.served = read_served_times(in.child("served"));
  return out;
}

// By kind: operations by their type, bytes by the level that they cross, the clock trees of
// occupied cores, and what devices draw that only wait.
Json energy_json(const EnergyRecord& energy) {
  constexpr const char* kLevels[] = {"sram", "l2", "dram", "link"};
  const auto is_level = [&kLevels](const std::string& kind) {
    return std::any_of(std::begin(kLevels), std::end(kLevels),
                       [&kind](const char* level) { return kind == level; });
  };
  Json operations = Json::object();
  Json bytes = Json::object();
  double clocked = 0;
  double idle = 0;
  double all = 0;
  for (const EnergyPartRecord& part : energy.parts) {
    all += part.joules;
    if (part.kind == "active idle") {
      idle += part.joules;
    } else if (part.kind == "busy") {
      clocked += part.joules;
    } else {
      (is_level(part.kind) ? bytes : operations)[part.kind] = record_number(part.joules);
    }
  }
  return {{"joules", record_number(all)},
          {"operations_j", std::move(operations)},
          {"bytes_j", std::move(bytes)},
          {"static_j", record_number(clocked)},
          {"idle_j", record_number(idle)},
          {"operators_j", record_json(energy.joules_by_operator)},
          {"calibrated_share", record_number(energy.calibrated_share)},
          {"interval80", record_json(energy.interval80)}};
}

// Names that every kind of record has for energy; readers take the fields that they follow from.
void add_energy(const RunRecord& record, Json& out) {
  const RunSummary& summary = record.summary;
  if (!summary.watts || !summary.joules_per_request) return;
  const double batch = std::max<double>(1, static_cast<double>(record.context.scenario.batch));
  const bool makes_tokens = summary.throughput_unit == "tokens/s" && summary.joules_per_token;
  Json& numbers = out["summary"];
  numbers["energy_j"] = record_number(*summary.joules_per_request * batch);
  numbers["watts_mean"] = record_number(*summary.watts);
  numbers["joules_per_unit"] =
      record_number(makes_tokens ? *summary.joules_per_token : *summary.joules_per_request);
  if (summary.energy) out["energy"] = energy_json(*summary.energy);
}

bool has_kernel(const OperatorRecord& op) { return !op.kernel.empty(); }

}  // namespace

template <>
struct RecordValue<Scenario> {
  static Json write(const Scenario& scenario, NumberJson /*number*/) {
    return scenario_json(scenario);
  }
  static void read(const Reader& in, const char* key, Scenario& scenario) {
    scenario = read_scenario(in.child(key));
  }
};

template <>
struct RecordValue<RunSummary> {
  static Json write(const RunSummary& summary, NumberJson /*number*/) {
    return summary_json(summary);
  }
  static void read(const Reader& in, const char* key, RunSummary& summary) {
    summary = read_summary(in.child(key));
  }
};

template <>
struct RecordFields<RunContext> {
  using R = RunContext;
  static constexpr auto kAll =
      std::make_tuple(record_field("version", &R::version),
                      record_field("commit", &R::commit, Written::kAlwaysOfLate),
                      record_field("system", &R::system), record_field("workload", &R::workload),
                      record_field("dtype", &R::dtype), record_field("scenario", &R::scenario),
                      record_field("set", &R::set, Written::kAlwaysOfLate),
                      record_field("factors", &R::factors, Written::kAlwaysOfLate),
                      record_field("assumed_values", &R::assumed_values, Written::kAlwaysOfLate),
                      record_field("seed", &R::seed, Written::kAlwaysOfLate),
                      record_field("notes", &R::notes, Written::kAlwaysOfLate),
                      record_field("workload_file", &R::workload_file, Written::kIfAny),
                      record_field("unstated", &R::unstated, Written::kIfAny),
                      record_field("differs", &R::differs, Written::kIfAny),
                      record_field("likeness", &R::likeness, Written::kIfAny));
};

template <>
struct RecordFields<PeakRecord> {
  using R = PeakRecord;
  static constexpr auto kAll =
      std::make_tuple(record_field("name", &R::name), record_field("per_s", &R::per_s),
                      record_field("source", &R::source, Written::kAlwaysOfLate));
};

template <>
struct RecordFields<MachineRecord> {
  using R = MachineRecord;
  static constexpr auto kAll = std::make_tuple(
      record_field("device", &R::device),
      record_field("devices", &R::devices, Written::kAlwaysOfLate), record_field("part", &R::part),
      record_field("parts", &R::parts, Written::kAlwaysOfLate),
      record_field("compute", &R::compute), record_field("bandwidths", &R::bandwidths));
};

template <>
struct RecordFields<ValueRecord> {
  using R = ValueRecord;
  static constexpr auto kAll = std::make_tuple(
      record_field("path", &R::path), record_field("value", &R::value),
      record_field("kind", &R::kind), record_field("source", &R::source, Written::kAlwaysOfLate),
      record_field("why", &R::why, Written::kAlwaysOfLate));
};

template <>
struct RecordFields<GenerationRecord> {
  using R = GenerationRecord;
  static constexpr auto kAll =
      std::make_tuple(record_field("kv_len", &R::kv_len), record_field("tokens", &R::tokens),
                      record_field("step_s", &R::step_s));
};

template <>
struct RecordFields<OperatorRecord> {
  using R = OperatorRecord;
  static constexpr auto kAll =
      std::make_tuple(record_field("name", &R::name), record_field("op", &R::op),
                      record_field("engine", &R::engine), record_field("start_s", &R::start_s),
                      record_field("duration_s", &R::duration_s), record_field("flops", &R::flops),
                      record_field("bytes", &R::bytes), record_field("critical", &R::critical),
                      record_field("kernel", &R::kernel, Written::kAlways, has_kernel),
                      record_field("waves", &R::waves, Written::kAlways, has_kernel),
                      record_field("occupancy", &R::occupancy, Written::kAlways, has_kernel));
};

template <>
struct RecordFields<ResourceRecord> {
  using R = ResourceRecord;
  static constexpr auto kAll =
      std::make_tuple(record_field("path", &R::path), record_field("busy", &R::busy),
                      record_field("stalled", &R::stalled), record_field("bytes", &R::bytes));
};

template <>
struct RecordFields<RunRecord> {
  using R = RunRecord;
  static constexpr auto kAll = std::make_tuple(
      record_field("context", &R::context), record_field("summary", &R::summary),
      record_field("machine", &R::machine),
      record_field("values", &R::values, Written::kAlwaysOfLate),
      record_field("generation", &R::generation, Written::kAlwaysOfLate),
      record_field("operators", &R::operators), record_field("resources", &R::resources));
};

std::string to_json(const RunRecord& record) {
  check_record(record);
  Json out{{"schema", std::string(kRunSchema)}};
  out.update(record_json(record));
  add_energy(record, out);
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
                    std::string(what.substr(what.find("] ") + 2)) +
                    (starts_with(text, "{") ? ""
                                            : "; a table is shown by `foretell predict TABLE "
                                              "-o page.html`, or --format md"));
  }
  if (json.is_object() && json.contains("status") && !json.contains("schema")) {
    throw UserError(std::string(where) +
                    ": is a row of a table, not a record; `foretell report FILE -o page.html` "
                    "shows it");
  }
  if (json.is_object() && json.contains("arrival_s") && !json.contains("schema")) {
    throw UserError(std::string(where) +
                    ": is a request of a service, not a record; `foretell serve … --format json` "
                    "writes the record that pages are made of");
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
  RecordValue<RunRecord>::read_members(in, record);
  return record;
}

}  // namespace foretell
