#include "reports/record/serve_record.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/base/errors.hpp"
#include "reports/record/csv.hpp"
#include "reports/record/served_times_json.hpp"

namespace foretell {
namespace {

using ServeJson = nlohmann::ordered_json;

ServeJson finite(double value) {
  FORETELL_CHECK(std::isfinite(value), "a record of a service holds numbers alone");
  return value;
}

ServeJson statistic_json(const ServeStatistic& one) {
  return {{"mean", finite(one.mean)},
          {"p50", finite(one.p50)},
          {"p90", finite(one.p90)},
          {"p99", finite(one.p99)}};
}

ServeJson optional_json(const std::optional<double>& value) {
  return value ? finite(*value) : ServeJson(nullptr);
}

ServeJson context_json(const ServeContext& context) {
  ServeJson scenario = ServeJson::object();
  for (const auto& [name, value] : context.scenario) scenario[name] = value;
  return {{"version", context.version},
          {"commit", context.commit},
          {"system", context.system},
          {"workload", context.workload},
          {"dtype", context.dtype},
          {"kv_dtype", context.kv_dtype},
          {"engine", context.engine},
          {"scenario", std::move(scenario)},
          {"set", context.set},
          {"factors", context.factors},
          {"assumed_values", context.assumed_values},
          {"seed", context.seed},
          {"notes", context.notes}};
}

ServeJson numbers_json(const std::map<std::string, double>& numbers) {
  ServeJson out = ServeJson::object();
  for (const auto& [name, value] : numbers) out[name] = finite(value);
  return out;
}

// Names as in JSON and CSV.
std::vector<std::pair<const char*, const std::optional<double>*>> energy_of(
    const ServeSummary& summary) {
  return {{"watts", &summary.watts},
          {"wall_watts", &summary.wall_watts},
          {"joules_per_token", &summary.joules_per_token},
          {"joules_per_request", &summary.joules_per_request},
          {"busy_energy_share", &summary.busy_energy_share},
          {"energy_usd_per_million", &summary.energy_usd_per_million},
          {"usd_per_million_with_energy", &summary.usd_per_million_with_energy}};
}

ServeJson summary_json(const ServeSummary& summary) {
  ServeJson out{{"ttft_s", statistic_json(summary.ttft_s)},
                {"tpot_s", statistic_json(summary.tpot_s)},
                {"itl_s", statistic_json(summary.itl_s)},
                {"e2e_s", statistic_json(summary.e2e_s)},
                {"output_tokens_per_s", finite(summary.output_tokens_per_s)},
                {"requests_per_s", finite(summary.requests_per_s)}};
  if (!summary.slo.empty()) {
    out["slo"] = summary.slo;
    out["goodput_per_s"] = optional_json(summary.goodput_per_s);
    out["keeps_slo"] = summary.keeps_slo.value_or(false);
    out["promises"] = to_json(summary.promises);
  }
  out["batch_mean"] = finite(summary.batch_mean);
  out["kv_used_share"] = finite(summary.kv_used_share);
  out["preemptions"] = summary.preemptions;
  out["steps"] = summary.steps;
  out["executed_steps"] = summary.executed_steps;
  out["requests"] = summary.requests;
  out["interrupted"] = summary.interrupted;
  out["duration_s"] = finite(summary.duration_s);
  out["cost_usd_per_million"] = optional_json(summary.cost_usd_per_million);
  for (const auto& [name, value] : energy_of(summary)) {
    if (*value) out[name] = finite(**value);
  }
  out["binds"] = summary.binds;
  out["time_shares"] = numbers_json(summary.time_shares);
  out["memory_bytes"] = numbers_json(summary.memory_bytes);
  ServeJson intervals = ServeJson::object();
  for (const auto& [name, interval] : summary.interval80) {
    intervals[name] = {finite(interval.low), finite(interval.high)};
  }
  out["interval80"] = std::move(intervals);
  return out;
}

ServeJson distributions_json(const ServeRecord& record) {
  ServeJson out = ServeJson::object();
  if (record.distributions.empty()) return out;
  out["shares"] = serve_shares();
  for (const auto& [name, times] : record.distributions) {
    ServeJson list = ServeJson::array();
    for (const double time : times) list.push_back(finite(time));
    out[name] = std::move(list);
  }
  return out;
}

}  // namespace

std::string to_json(const ServeRecord& record) {
  ServeJson timeline = ServeJson::array();
  for (const ServeSecond& one : record.timeline) {
    timeline.push_back({{"second", finite(one.second)},
                        {"running", finite(one.running)},
                        {"waiting", finite(one.waiting)},
                        {"kv_used_share", finite(one.kv_used_share)},
                        {"output_tokens_per_s", finite(one.output_tokens_per_s)},
                        {"batch", finite(one.batch)}});
  }
  const ServeJson out{{"schema", kServeSchema},
                      {"context", context_json(record.context)},
                      {"summary", summary_json(record.summary)},
                      {"timeline", std::move(timeline)},
                      {"distributions", distributions_json(record)}};
  return out.dump();
}

std::string to_json_lines(const std::vector<ServedRecord>& requests) {
  std::string text;
  std::int64_t number = 0;
  for (const ServedRecord& one : requests) {
    ServeJson line{{"request", number++},
                   {"arrival_s", finite(one.arrival_s)},
                   {"input_len", one.input_len},
                   {"output_len", one.output_len},
                   {"start_s", one.start_s < 0 ? ServeJson(nullptr) : finite(one.start_s)},
                   {"ttft_s", one.ttft_s < 0 ? ServeJson(nullptr) : finite(one.ttft_s)},
                   {"e2e_s", one.answered ? finite(one.e2e_s) : ServeJson(nullptr)},
                   {"preemptions", one.preemptions},
                   {"worker", one.worker}};
    text += line.dump() + '\n';
  }
  return text;
}

namespace {

using ServeCells = std::vector<std::pair<std::string, std::string>>;  // column and text

ServeCells cells_of(const ServeRecord& record) {
  ServeCells cells = {{"system", record.context.system},
                      {"workload", record.context.workload},
                      {"dtype", record.context.dtype},
                      {"engine", record.context.engine}};
  const auto add = [&](const std::string& name, double value) {
    cells.emplace_back(name, to_text(value));
  };
  cells.insert(cells.end(), record.context.scenario.begin(), record.context.scenario.end());
  const ServeSummary& summary = record.summary;
  const std::pair<const char*, const ServeStatistic*> all[] = {{"ttft", &summary.ttft_s},
                                                               {"tpot", &summary.tpot_s},
                                                               {"itl", &summary.itl_s},
                                                               {"e2e", &summary.e2e_s}};
  for (const auto& [name, one] : all) {
    add(std::string(name) + "_mean_s", one->mean);
    add(std::string(name) + "_p50_s", one->p50);
    add(std::string(name) + "_p90_s", one->p90);
    add(std::string(name) + "_p99_s", one->p99);
  }
  add("output_tokens_per_s", summary.output_tokens_per_s);
  add("requests_per_s", summary.requests_per_s);
  if (summary.goodput_per_s) add("goodput_per_s", *summary.goodput_per_s);
  add("batch_mean", summary.batch_mean);
  add("kv_used_share", summary.kv_used_share);
  add("preemptions", static_cast<double>(summary.preemptions));
  add("steps", static_cast<double>(summary.steps));
  if (summary.cost_usd_per_million) add("cost_usd_per_million", *summary.cost_usd_per_million);
  for (const auto& [name, value] : energy_of(summary)) {
    if (*value) add(name, **value);
  }
  return cells;
}

// Columns of all: one that the first lacks comes after the one that stands before it.
CsvRow columns_of(const std::vector<ServeCells>& all) {
  CsvRow columns;
  for (const ServeCells& cells : all) {
    std::size_t place = 0;
    for (const auto& cell : cells) {
      const auto found = std::find(columns.begin(), columns.end(), cell.first);
      if (found == columns.end()) {
        columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(place++), cell.first);
      } else {
        place = static_cast<std::size_t>(found - columns.begin()) + 1;
      }
    }
  }
  return columns;
}

}  // namespace

std::vector<CsvRow> serve_rows(const std::vector<ServeRecord>& records) {
  std::vector<ServeCells> all;
  for (const ServeRecord& record : records) all.push_back(cells_of(record));
  std::vector<CsvRow> rows = {columns_of(all)};
  for (const ServeCells& cells : all) {
    const std::map<std::string, std::string> by_name(cells.begin(), cells.end());
    CsvRow row;
    for (const std::string& column : rows.front()) {
      const auto found = by_name.find(column);
      row.push_back(found == by_name.end() ? "" : found->second);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace foretell
