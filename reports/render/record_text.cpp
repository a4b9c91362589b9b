#include "reports/render/record_text.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "model/base/text.hpp"
#include "reports/render/folded_notes.hpp"
#include "reports/render/record_cells.hpp"

namespace foretell {

std::string scenario_text(const Scenario& scenario) {
  return scenario_words(scenario, ScenarioWords::kShort);
}

namespace {

std::optional<double> cost_of(const RunSummary& summary, const std::string& price) {
  if (price == kOnDemand) return summary.cost_usd_per_million;
  const auto found = summary.costs_usd_per_million.find(price);
  if (found == summary.costs_usd_per_million.end()) return std::nullopt;
  return found->second;
}

// What a run is, without what came out.
std::vector<std::string> context_cells(const RunContext& context) {
  const std::string set = join(context.set, "; ");
  return {context.system, context.workload, context.dtype, scenario_text(context.scenario),
          set.empty() ? kNotApplicable : set};
}

std::string metric_cell(const SummaryMetric& metric, const RunSummary& summary,
                        const std::string& price) {
  if (metric.member == SummaryMetric::Member(&RunSummary::cost_usd_per_million))
    return cost_cell(cost_of(summary, price));
  const std::optional<double> value = value_of(metric, summary);
  return value ? metric_text(metric, *value) : kNotApplicable;
}

// Calls `add` with title, alignment and cell of everything that is compared.
template <class Add>
void each_result(const RunSummary& summary, const std::string& price, const Add& add) {
  for (const SummaryMetric& metric : summary_metrics()) {
    if ((metric.shown & SummaryMetric::kCompared) == 0) continue;
    const std::string_view field = metric.field;
    std::string title = metric.title;
    if (field == "cost_usd_per_million" && price != kOnDemand) title += ", " + price_words(price);
    add(title, Align::kRight, metric_cell(metric, summary, price));
    if (field == "latency_s")
      add("80 % interval", Align::kRight, interval_cell(summary, metric.field));
    if (field == "throughput") add("unit", Align::kLeft, summary.throughput_unit);
  }
  add("bottleneck", Align::kLeft, summary.bottleneck);
}

}  // namespace

std::vector<ComparedRun> compared(std::vector<RunRecord> records) {
  std::vector<ComparedRun> runs;
  for (RunRecord& record : records) runs.push_back({std::move(record), ""});
  return runs;
}

namespace {
constexpr const char* kWhyNot = "why there is no prediction";
}  // namespace

Table comparison_table(const std::vector<ComparedRun>& runs, const std::string& price) {
  Table table;
  table.columns = {{"system"}, {"workload"}, {"data type"}, {"scenario"}, {"overrides"}};
  each_result({}, price, [&table](const std::string& title, Align align, const std::string&) {
    table.columns.push_back({title, align});
  });
  table.columns.push_back({kWhyNot});
  for (const ComparedRun& run : runs) {
    std::vector<std::string> row = context_cells(run.record.context);
    if (run.problem.empty()) {
      each_result(
          run.record.summary, price,
          [&row](const std::string&, Align, const std::string& cell) { row.push_back(cell); });
      row.emplace_back(kNotApplicable);
    } else {
      row.resize(table.columns.size() - 1, kNotApplicable);
      row.push_back(run.problem);
    }
    table.rows.push_back(std::move(row));
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

// What all cells of the scenario say, "batch 8, sequence 128", and takes it out of them. Nothing
// when some cell would be empty then.
std::string take_shared_scenario(Table& table) {
  const auto column =
      std::find_if(table.columns.begin(), table.columns.end(),
                   [](const TableColumn& known) { return known.title == "scenario"; }) -
      table.columns.begin();
  const auto at = static_cast<std::size_t>(column);
  if (at == table.columns.size() || table.rows.size() < 2) return "";
  const auto parts_of = [at](const std::vector<std::string>& row) {
    std::vector<std::string> parts;
    for (std::string& piece : split(row[at], ',')) {
      const bool is_new = parts.empty() || starts_with(piece, " ");  // "buckets:64,128" is one
      if (is_new) parts.emplace_back(trim(piece));
      if (!is_new) parts.back() += "," + piece;
    }
    return parts;
  };
  std::vector<std::string> shared = parts_of(table.rows.front());
  for (const auto& row : table.rows) {
    const std::vector<std::string> parts = parts_of(row);
    const auto is_missing = [&parts](const std::string& part) {
      return std::find(parts.begin(), parts.end(), part) == parts.end();
    };
    shared.erase(std::remove_if(shared.begin(), shared.end(), is_missing), shared.end());
  }
  std::vector<std::string> rest;
  for (const auto& row : table.rows) {
    std::vector<std::string> own;
    for (const std::string& part : parts_of(row)) {
      if (std::find(shared.begin(), shared.end(), part) == shared.end()) own.push_back(part);
    }
    if (own.empty()) return "";
    rest.push_back(join(own, ", "));
  }
  for (std::size_t i = 0; i < rest.size(); ++i) table.rows[i][at] = rest[i];
  return join(shared, ", ");
}

// Moves text columns that say the same in every row into the heading, and what scenarios have in
// common; drops empty columns.
Comparison condense(Table table) {
  Comparison result;
  std::vector<std::size_t> dropped;
  std::vector<std::string> shared;
  const std::string scenario = take_shared_scenario(table);
  if (!scenario.empty()) shared.push_back("scenario: " + scenario);
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

std::string notes_text(const std::vector<ComparedRun>& runs) {
  std::vector<std::string> seen;
  for (const ComparedRun& run : runs) {
    for (const std::string& note : run.record.context.notes) {
      if (std::find(seen.begin(), seen.end(), note) == seen.end()) seen.push_back(note);
    }
  }
  std::string text;
  for (const std::string& note : folded_notes(seen)) text += "note: " + note + "\n";
  return text;
}

constexpr const char* kBars = "of the most";

// The throughput of each run as a bar, the longest full: for terminals. Nothing to compare with, or
// in another unit: no bars.
void add_bars(const std::vector<ComparedRun>& runs, Table& table) {
  constexpr double kFullBar = 16;
  double most = 0;
  for (const ComparedRun& run : runs) {
    if (run.record.summary.throughput_unit != runs.front().record.summary.throughput_unit) return;
    if (run.problem.empty()) most = std::max(most, run.record.summary.throughput);
  }
  if (runs.size() < 2 || most <= 0) return;
  table.columns.push_back({kBars, Align::kLeft, true});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double share = runs[i].problem.empty() ? runs[i].record.summary.throughput / most : 0;
    table.rows[i].push_back(
        std::string(static_cast<std::size_t>(std::lround(share * kFullBar)), '#'));
  }
}

}  // namespace

std::string comparison_text(const std::vector<ComparedRun>& runs, const std::string& price,
                            int max_width) {
  Comparison comparison = condense(comparison_table(runs, price));
  std::vector<std::string> spared;
  if (max_width > 0) {
    for (TableColumn& column : comparison.table.columns) {
      column.whole =
          column.title != "overrides" && column.title != "workload" && column.title != kWhyNot;
    }
    add_bars(runs, comparison.table);
    comparison.table = spared_until_fits(
        comparison.table, {"80 % interval", "bottleneck", kBars, "scenario"}, max_width, spared);
  }
  std::string text = comparison.shared.empty() ? "" : comparison.shared + "\n\n";
  text += render_text(comparison.table, max_width);
  if (!spared.empty()) text += "\nnote: too narrow for: " + join(spared, ", ") + "\n";
  const std::string notes = notes_text(runs);
  if (!notes.empty()) text += "\n" + notes;
  return text;
}

std::string comparison_markdown(const std::vector<ComparedRun>& runs, const std::string& price) {
  const Comparison comparison = condense(comparison_table(runs, price));
  std::string text = comparison.shared.empty() ? "" : markdown_text(comparison.shared) + "\n\n";
  return text + render_markdown(comparison.table);
}

}  // namespace foretell
