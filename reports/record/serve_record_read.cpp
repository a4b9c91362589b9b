#include <nlohmann/json.hpp>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/json_reader.hpp"
#include "reports/record/serve_record.hpp"
#include "reports/record/served_times_json.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {
namespace {

constexpr double kRounding = 1e-9;
constexpr std::string_view kServeStart = R"({"schema":"foretell.serve/)";

ServeStatistic statistic_of(const RecordReader& reader) {
  ServeStatistic one;
  reader.get("mean", one.mean);
  reader.get("p50", one.p50);
  reader.get("p90", one.p90);
  reader.get("p99", one.p99);
  return one;
}

ServeContext context_of(const RecordReader& reader, const RecordJson& scenario) {
  ServeContext context;
  reader.get("version", context.version);
  reader.get("commit", context.commit);
  reader.get("system", context.system);
  reader.get("workload", context.workload);
  reader.get("dtype", context.dtype);
  reader.get("kv_dtype", context.kv_dtype);
  reader.get("engine", context.engine);
  TextMap checked;
  reader.texts("scenario", checked);
  for (const auto& [name, value] : scenario.items())  // in the order of the record
    context.scenario.emplace_back(name, value.get<std::string>());
  reader.get("set", context.set);
  reader.get("factors", context.factors);
  reader.get("assumed_values", context.assumed_values);
  reader.get("seed", context.seed);
  reader.get("notes", context.notes);
  return context;
}

void read_promises(const RecordReader& reader, ServeSummary& summary) {
  reader.get_optional("slo", summary.slo);
  reader.get_optional("goodput_per_s", summary.goodput_per_s);
  if (reader.has("keeps_slo")) {
    bool kept = false;
    reader.get("keeps_slo", kept);
    summary.keeps_slo = kept;
  }
  summary.promises = read_promise_list(reader);
}

void read_energy(const RecordReader& reader, ServeSummary& summary) {
  reader.get_optional("watts", summary.watts);
  reader.get_optional("wall_watts", summary.wall_watts);
  reader.get_optional("joules_per_token", summary.joules_per_token);
  reader.get_optional("joules_per_request", summary.joules_per_request);
  reader.get_optional("busy_energy_share", summary.busy_energy_share);
  reader.get_optional("energy_usd_per_million", summary.energy_usd_per_million);
  reader.get_optional("usd_per_million_with_energy", summary.usd_per_million_with_energy);
}

ServeSummary summary_of(const RecordReader& reader) {
  ServeSummary summary;
  summary.ttft_s = statistic_of(reader.child("ttft_s"));
  summary.tpot_s = statistic_of(reader.child("tpot_s"));
  summary.itl_s = statistic_of(reader.child("itl_s"));
  summary.e2e_s = statistic_of(reader.child("e2e_s"));
  reader.get("output_tokens_per_s", summary.output_tokens_per_s);
  reader.get("requests_per_s", summary.requests_per_s);
  read_promises(reader, summary);
  reader.get("batch_mean", summary.batch_mean);
  reader.get("kv_used_share", summary.kv_used_share);
  reader.get("preemptions", summary.preemptions);
  reader.get("steps", summary.steps);
  reader.get("executed_steps", summary.executed_steps);
  reader.get("requests", summary.requests);
  reader.get("interrupted", summary.interrupted);
  reader.get("duration_s", summary.duration_s);
  reader.get_optional("cost_usd_per_million", summary.cost_usd_per_million);
  read_energy(reader, summary);
  reader.get("binds", summary.binds);
  reader.numbers("time_shares", summary.time_shares);
  reader.numbers("memory_bytes", summary.memory_bytes);
  reader.intervals("interval80", summary.interval80);
  return summary;
}

ServeSecond second_of(const RecordReader& reader) {
  ServeSecond one;
  reader.get("second", one.second);
  reader.get("running", one.running);
  reader.get("waiting", one.waiting);
  reader.get("kv_used_share", one.kv_used_share);
  reader.get("output_tokens_per_s", one.output_tokens_per_s);
  reader.get_optional("batch", one.batch);
  return one;
}

void read_distributions(const RecordReader& reader, ServeRecord& record, const std::string& where) {
  std::vector<double> shares;
  reader.get_optional("shares", shares);
  if (shares.empty()) return;
  if (shares != serve_shares())
    throw UserError(where + ": distributions at other shares than this version writes");
  for (const char* name : {"ttft_s", "tpot_s", "itl_s", "e2e_s"}) {
    if (!reader.has(name)) continue;
    record.distributions[name] = read_rising_times(reader, name, shares.size());
  }
}

void check_numbers(const ServeRecord& record, const std::string& where) {
  const auto check = [&where](bool holds, const std::string& what) {
    if (!holds) throw UserError(where + ": " + what);
  };
  const ServeSummary& summary = record.summary;
  const std::pair<const char*, const ServeStatistic*> all[] = {{"ttft_s", &summary.ttft_s},
                                                               {"tpot_s", &summary.tpot_s},
                                                               {"itl_s", &summary.itl_s},
                                                               {"e2e_s", &summary.e2e_s}};
  for (const auto& [name, one] : all) {
    for (const double value : {one->mean, one->p50, one->p90, one->p99})
      check(value >= 0, std::string("summary.") + name + ": a time is not negative");
  }
  check(summary.output_tokens_per_s >= 0, "summary.output_tokens_per_s: a rate is not negative");
  for (const ServeSecond& one : record.timeline) {
    check(one.second >= 0 && one.running >= 0 && one.waiting >= 0 && one.batch >= 0,
          "timeline: holds a negative number");
    check(one.kv_used_share >= 0 && one.kv_used_share <= 1 + kRounding,
          "timeline.kv_used_share: a share is 0 to 1");
  }
}

}  // namespace

bool is_serve_line(const std::string& line) { return starts_with(line, kServeStart); }

ServeRecord serve_record_from_json(std::string_view text, const std::string& where) {
  const RecordJson json = RecordJson::parse(text, nullptr, false);
  if (json.is_discarded())
    throw UserError(where + ": the result of a service, but not whole; write it again");
  const RecordReader reader(json, where);
  std::string schema;
  reader.get("schema", schema);
  if (schema != kServeSchema) {
    throw UserError(where + ": schema '" + schema + "', but this version reads " + kServeSchema);
  }
  ServeRecord record;
  const RecordReader context = reader.child("context");
  context.child("scenario");
  record.context = context_of(context, json["context"]["scenario"]);
  record.summary = summary_of(reader.child("summary"));
  for (const RecordReader& one : reader.list("timeline")) record.timeline.push_back(second_of(one));
  if (reader.has("distributions")) read_distributions(reader.child("distributions"), record, where);
  check_numbers(record, where);
  return record;
}

std::vector<ServeRecord> read_serve_records(const std::string& path) {
  std::vector<ServeRecord> records;
  InputFile file(path);
  std::string line;
  for (std::size_t number = 1; file.read_line(line); ++number) {
    if (trim(line).empty()) continue;
    records.push_back(serve_record_from_json(line, path + ":" + std::to_string(number)));
  }
  return records;
}

}  // namespace foretell
