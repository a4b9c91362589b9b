#include "reports/render/record_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/text.hpp"
#include "reports/record/csv.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

constexpr const char* kNotApplicable = "-";

// "inferences/s" -> "inferences"
std::string counted_thing(const std::string& unit) {
  const auto slash = unit.rfind("/s");
  return slash == std::string::npos ? unit : unit.substr(0, slash);
}

std::string cost_text(const std::optional<double>& cost) {
  return cost ? plain_format(*cost) : kNotApplicable;
}

std::string time_text(const std::optional<double>& seconds) {
  return seconds ? si_format(*seconds, "s") : kNotApplicable;
}

std::string interval_text(const RunSummary& summary, const std::string& field) {
  const auto found = summary.interval80.find(field);
  if (found == summary.interval80.end()) return kNotApplicable;
  return si_format(found->second.low, "s") + " to " + si_format(found->second.high, "s");
}

std::string latency_line(const RunSummary& summary) {
  std::string text = si_format(summary.latency_s, "s");
  if (summary.interval80.count("latency_s") > 0) {
    text += "   (80 % of measurements within " + interval_text(summary, "latency_s") + ")";
  }
  return text;
}

std::string memory_line(const RunSummary& summary) {
  std::string text = memory_format(summary.memory_used_bytes) + " of " +
                     memory_format(summary.memory_capacity_bytes) + " per device";
  if (summary.memory_capacity_bytes > 0) {
    text += ", " + percent_format(summary.memory_used_bytes / summary.memory_capacity_bytes);
  }
  return text;
}

std::string provenance_line(const RunContext& context) {
  std::string text = "foretell " + context.version;
  if (!context.factors.empty()) text += ", factors: " + context.factors;
  text += ", assumed values: " + std::to_string(context.assumed_values);
  return text;
}

void add_line(std::string& text, const char* label, const std::string& value) {
  text += fmt::format("  {:<16}{}\n", label, value);
}

}  // namespace

std::string scenario_text(const Scenario& scenario) {
  std::vector<std::string> parts;
  const auto add = [&parts](const char* name, std::int64_t value) {
    if (value != 0) parts.push_back(fmt::format("{} {}", name, value));
  };
  add("batch", scenario.batch);
  add("sequence", scenario.seq_len);
  add("input", scenario.input_len);
  add("output", scenario.output_len);
  add("image", scenario.image_size);
  if (scenario.tp > 1) add("tp", scenario.tp);  // one core per copy needs no words
  if (scenario.pp > 1) add("pp", scenario.pp);
  if (scenario.dp != 0) {
    parts.push_back(fmt::format("{} {}", scenario.dp, scenario.dp == 1 ? "copy" : "copies"));
  }
  if (scenario.cores != 0) {
    parts.push_back(fmt::format("{} {}", scenario.cores, scenario.cores == 1 ? "core" : "cores"));
  }
  if (scenario.in_flight > 0) {
    parts.push_back(plain_format(scenario.in_flight) + " requests in flight");
  }
  if (!scenario.sdk.empty()) parts.push_back("SDK " + scenario.sdk);
  return join(parts, ", ");
}

std::string run_text(const RunRecord& record) {
  const RunContext& context = record.context;
  const RunSummary& summary = record.summary;
  std::string text = fmt::format("{} on {}, {}\n", context.workload, context.system, context.dtype);
  const std::string scenario = scenario_text(context.scenario);
  if (!scenario.empty()) text += scenario + "\n";
  for (const std::string& override_text : context.set) text += "with " + override_text + "\n";
  text += "\n";
  add_line(text, "latency", latency_line(summary));
  add_line(text, "throughput", plain_format(summary.throughput, 4) + " " + summary.throughput_unit);
  add_line(text, "call", si_format(summary.call_s, "s"));
  if (summary.ttft_s) add_line(text, "first token", time_text(summary.ttft_s));
  if (summary.tpot_s) add_line(text, "per token", time_text(summary.tpot_s));
  if (summary.cost_usd_per_million) {
    add_line(text, "cost",
             cost_text(summary.cost_usd_per_million) + " USD per million " +
                 counted_thing(summary.throughput_unit) + " (on demand)");
  }
  add_line(text, "memory", memory_line(summary));
  add_line(text, "bottleneck", summary.bottleneck);
  text += "\n" + provenance_line(context) + "\n";
  for (const std::string& note : context.notes) text += "note: " + note + "\n";
  return text;
}

Table comparison_table(const std::vector<RunRecord>& records) {
  Table table;
  table.columns = {{"system"},
                   {"workload"},
                   {"data type"},
                   {"scenario"},
                   {"overrides"},
                   {"latency", Align::kRight},
                   {"80 % interval", Align::kRight},
                   {"throughput", Align::kRight},
                   {"unit"},
                   {"first token", Align::kRight},
                   {"per token", Align::kRight},
                   {"USD per million", Align::kRight},
                   {"bottleneck"}};
  for (const RunRecord& record : records) {
    const RunSummary& summary = record.summary;
    const std::string set = join(record.context.set, "; ");
    table.rows.push_back(
        {record.context.system, record.context.workload, record.context.dtype,
         scenario_text(record.context.scenario), set.empty() ? kNotApplicable : set,
         si_format(summary.latency_s, "s"), interval_text(summary, "latency_s"),
         plain_format(summary.throughput, 4), summary.throughput_unit, time_text(summary.ttft_s),
         time_text(summary.tpot_s), cost_text(summary.cost_usd_per_million), summary.bottleneck});
  }
  return table;
}

namespace {

bool is_empty_column(const Table& table, std::size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(),
                     [column](const auto& row) { return row[column] == kNotApplicable; });
}

struct Comparison {
  std::string shared;  // "workload: x; data type: y"
  Table table;
};

// Moves text columns that say the same in every row into the heading; drops empty columns.
Comparison condense(const Table& table) {
  Comparison result;
  std::vector<std::size_t> dropped;
  std::vector<std::string> shared;
  const std::vector<std::size_t> constant = constant_columns(table);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool same = std::binary_search(constant.begin(), constant.end(), i);
    const bool is_text = table.columns[i].align == Align::kLeft;
    if (is_empty_column(table, i)) {
      dropped.push_back(i);
    } else if (same && is_text && table.columns[i].title != "bottleneck") {
      dropped.push_back(i);
      shared.push_back(table.columns[i].title + ": " + table.rows.front()[i]);
    }
  }
  result.shared = join(shared, "; ");
  result.table = without_columns(table, dropped);
  return result;
}

std::string notes_text(const std::vector<RunRecord>& records) {
  std::vector<std::string> seen;
  for (const RunRecord& record : records) {
    for (const std::string& note : record.context.notes) {
      if (std::find(seen.begin(), seen.end(), note) == seen.end()) seen.push_back(note);
    }
  }
  std::string text;
  for (const std::string& note : seen) text += "note: " + note + "\n";
  return text;
}

}  // namespace

std::string comparison_text(const std::vector<RunRecord>& records, int max_width) {
  const Comparison comparison = condense(comparison_table(records));
  std::string text = comparison.shared.empty() ? "" : comparison.shared + "\n\n";
  text += render_text(comparison.table, max_width);
  const std::string notes = notes_text(records);
  if (!notes.empty()) text += "\n" + notes;
  return text;
}

std::string comparison_markdown(const std::vector<RunRecord>& records) {
  const Comparison comparison = condense(comparison_table(records));
  std::string text = comparison.shared.empty() ? "" : comparison.shared + "\n\n";
  return text + render_markdown(comparison.table);
}

}  // namespace foretell
