#include "reports/record/serve_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"
#include "reports/record/served_times_json.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {
namespace {

constexpr double kRounding = 1e-9;
constexpr std::string_view kServeStart = R"({"schema":"foretell.serve/)";
constexpr const char* kTimes[] = {"ttft_s", "tpot_s", "itl_s", "e2e_s"};

using StatedText = std::vector<std::pair<std::string, std::string>>;

bool has_promises(const ServeSummary& summary) { return !summary.slo.empty(); }

}  // namespace

// In the order in which it was stated.
template <>
struct RecordValue<StatedText> {
  static RecordJson write(const StatedText& texts, NumberJson /*number*/) {
    RecordJson out = RecordJson::object();
    for (const auto& [name, text] : texts) out[name] = text;
    return out;
  }
  static void read(const RecordReader& in, const char* key, StatedText& texts) {
    const RecordReader inner = in.child(key);
    for (const std::string& name : inner.names()) {
      inner.get(name.c_str(), texts.emplace_back(name, "").second);
    }
  }
};

template <>
struct RecordFields<ServeContext> {
  using R = ServeContext;
  static constexpr auto kAll = std::make_tuple(
      record_field("version", &R::version), record_field("commit", &R::commit),
      record_field("system", &R::system), record_field("workload", &R::workload),
      record_field("dtype", &R::dtype), record_field("kv_dtype", &R::kv_dtype),
      record_field("engine", &R::engine), record_field("scenario", &R::scenario),
      record_field("set", &R::set), record_field("factors", &R::factors),
      record_field("assumed_values", &R::assumed_values), record_field("seed", &R::seed),
      record_field("notes", &R::notes), record_field("likeness", &R::likeness, Written::kIfAny));
};

template <>
struct RecordFields<ServeSummary> {
  using R = ServeSummary;
  static constexpr auto kAll = std::make_tuple(
      record_field("ttft_s", &R::ttft_s), record_field("tpot_s", &R::tpot_s),
      record_field("itl_s", &R::itl_s), record_field("e2e_s", &R::e2e_s),
      record_field("output_tokens_per_s", &R::output_tokens_per_s),
      record_field("requests_per_s", &R::requests_per_s),
      record_field("slo", &R::slo, Written::kAlways, has_promises),
      record_field("goodput_per_s", &R::goodput_per_s, Written::kAlways, has_promises),
      record_field("keeps_slo", &R::keeps_slo, Written::kAlways, has_promises),
      record_field("promises", &R::promises, Written::kAlways, has_promises),
      record_field("batch_mean", &R::batch_mean), record_field("kv_used_share", &R::kv_used_share),
      record_field("preemptions", &R::preemptions), record_field("steps", &R::steps),
      record_field("executed_steps", &R::executed_steps), record_field("requests", &R::requests),
      record_field("interrupted", &R::interrupted), record_field("duration_s", &R::duration_s),
      record_field("cost_usd_per_million", &R::cost_usd_per_million),
      record_field("watts", &R::watts, Written::kIfAny),
      record_field("wall_watts", &R::wall_watts, Written::kIfAny),
      record_field("joules_per_token", &R::joules_per_token, Written::kIfAny),
      record_field("joules_per_request", &R::joules_per_request, Written::kIfAny),
      record_field("busy_energy_share", &R::busy_energy_share, Written::kIfAny),
      record_field("energy_usd_per_million", &R::energy_usd_per_million, Written::kIfAny),
      record_field("usd_per_million_with_energy", &R::usd_per_million_with_energy, Written::kIfAny),
      record_field("binds", &R::binds),
      record_field("time_shares", &R::time_shares, Written::kAlwaysOfLate),
      record_field("memory_bytes", &R::memory_bytes, Written::kAlwaysOfLate),
      record_field("interval80", &R::interval80, Written::kAlwaysOfLate));
};

template <>
struct RecordFields<ServeSecond> {
  using R = ServeSecond;
  static constexpr auto kAll = std::make_tuple(
      record_field("second", &R::second), record_field("running", &R::running),
      record_field("waiting", &R::waiting), record_field("kv_used_share", &R::kv_used_share),
      record_field("output_tokens_per_s", &R::output_tokens_per_s),
      record_field("batch", &R::batch, Written::kAlwaysOfLate));
};

namespace {

RecordJson distributions_json(const ServeRecord& record) {
  RecordJson out = RecordJson::object();
  if (record.distributions.empty()) return out;
  out["shares"] = serve_shares();
  for (const auto& [name, times] : record.distributions) {
    RecordJson list = RecordJson::array();
    for (const double time : times) list.push_back(plain_number(time));
    out[name] = std::move(list);
  }
  return out;
}

void read_distributions(const RecordReader& reader, ServeRecord& record, const std::string& where) {
  std::vector<double> shares;
  if (reader.has("shares")) reader.get("shares", shares);
  if (shares.empty()) return;
  if (shares != serve_shares())
    throw UserError(where + ": distributions at other shares than this version writes");
  for (const char* name : kTimes) {
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
    for (const NamedStatistic& statistic : kServeStatistics) {
      check(one->*statistic.value >= 0,
            std::string("summary.") + name + ": a time is not negative");
    }
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

std::vector<std::string> serve_statistic_names() {
  std::vector<std::string> names;
  for (const NamedStatistic& one : kServeStatistics) names.emplace_back(one.name);
  return names;
}

double value_of(const ServeStatistic& statistic, const std::string& name) {
  for (const NamedStatistic& one : kServeStatistics) {
    if (name == one.name) return statistic.*one.value;
  }
  throw unknown_name("statistic", name, serve_statistic_names());
}

namespace {

// Names that every kind of record has for energy.
void add_energy(const ServeSummary& summary, RecordJson& out) {
  if (!summary.watts) return;
  const double joules = summary.joules_per_request
                            ? *summary.joules_per_request * static_cast<double>(summary.requests)
                            : *summary.watts * summary.duration_s;
  RecordJson& numbers = out["summary"];
  numbers["energy_j"] = plain_number(joules);
  numbers["watts_mean"] = plain_number(*summary.watts);
  numbers["joules_per_unit"] =
      summary.joules_per_token ? plain_number(*summary.joules_per_token) : RecordJson(nullptr);
  const double busy = summary.busy_energy_share.value_or(0);
  out["energy"] = {{"joules", plain_number(joules)},
                   {"steps_j", plain_number(joules * busy)},
                   {"idle_j", plain_number(joules * (1 - busy))}};
}

}  // namespace

std::string to_json(const ServeRecord& record) {
  RecordJson out{{"schema", kServeSchema},
                 {"context", record_json(record.context, plain_number)},
                 {"summary", record_json(record.summary, plain_number)},
                 {"timeline", record_json(record.timeline, plain_number)},
                 {"distributions", distributions_json(record)}};
  add_energy(record.summary, out);
  return out.dump();
}

std::string to_json_lines(const std::vector<ServedRecord>& requests) {
  std::string text;
  std::int64_t number = 0;
  for (const ServedRecord& one : requests) {
    RecordJson line{{"request", number++},
                    {"arrival_s", plain_number(one.arrival_s)},
                    {"input_len", one.input_len},
                    {"output_len", one.output_len},
                    {"start_s", one.start_s < 0 ? RecordJson(nullptr) : plain_number(one.start_s)},
                    {"ttft_s", one.ttft_s < 0 ? RecordJson(nullptr) : plain_number(one.ttft_s)},
                    {"e2e_s", one.answered ? plain_number(one.e2e_s) : RecordJson(nullptr)},
                    {"preemptions", one.preemptions},
                    {"worker", one.worker}};
    text += line.dump() + '\n';
  }
  return text;
}

namespace {

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

using ServeCells = std::vector<std::pair<std::string, std::string>>;  // column and text

ServeCells cells_of(const ServeRecord& record) {
  ServeCells cells = {{"system", record.context.system},
                      {"workload", record.context.workload},
                      {"dtype", record.context.dtype},
                      {"engine", record.context.engine}};
  ServeCells ends;  // of intervals, after all else
  const auto add_ends = [&](const std::string& name, const std::string& key) {
    const auto found = record.summary.interval80.find(key);
    if (found == record.summary.interval80.end()) return;
    ends.emplace_back(interval_column(name, "lo"), to_text(found->second.low));
    ends.emplace_back(interval_column(name, "hi"), to_text(found->second.high));
  };
  const auto add = [&](const std::string& name, double value) {
    cells.emplace_back(name, to_text(value));
    add_ends(name, name);
  };
  cells.insert(cells.end(), record.context.scenario.begin(), record.context.scenario.end());
  const ServeSummary& summary = record.summary;
  const std::pair<const char*, const ServeStatistic*> all[] = {{"ttft", &summary.ttft_s},
                                                               {"tpot", &summary.tpot_s},
                                                               {"itl", &summary.itl_s},
                                                               {"e2e", &summary.e2e_s}};
  for (const auto& [name, one] : all) {
    for (const NamedStatistic& statistic : kServeStatistics) {
      const std::string column = fmt::format("{}_{}_s", name, statistic.name);
      add(column, one->*statistic.value);
      add_ends(column, fmt::format("{}_s.{}", name, statistic.name));
    }
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
  cells.insert(cells.end(), ends.begin(), ends.end());
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
  const auto take = [&reader](const char* key, auto& value) {
    RecordValue<std::decay_t<decltype(value)>>::read(reader, key, value);
  };
  take("context", record.context);
  take("summary", record.summary);
  take("timeline", record.timeline);
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
