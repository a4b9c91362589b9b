// An accuracy report as text, JSON and CSV.
#include <fmt/format.h>

#include <algorithm>

#include "calib/validate/accuracy_report.hpp"
#include "reports/record/csv.hpp"
#include "reports/record/json_text.hpp"
#include "reports/render/si_format.hpp"
#include "reports/render/table.hpp"

namespace foretell {
namespace {

constexpr const char* kNotApplicable = "-";
constexpr const char* kInterrupted = "INTERRUPTED: of the rows that were done so far";

std::vector<std::string> cells_of(const AccuracyRow& row) {
  const Accuracy& accuracy = row.accuracy;
  return {row.quantity,
          std::to_string(accuracy.n),
          percent_format(accuracy.mape),
          percent_format(accuracy.median),
          percent_format(accuracy.p90),
          percent_format(accuracy.bias, true),
          plain_format(accuracy.ratio10) + " to " + plain_format(accuracy.ratio90),
          accuracy.coverage ? percent_format(*accuracy.coverage) : kNotApplicable};
}

// One line per row; the total has "all" in the first group column.
Table accuracy_table(const AccuracyReport& report) {
  Table table;
  for (const std::string& column : report.group_columns) table.columns.push_back({column});
  for (const char* title : {"measured", "n", "MAPE", "median", "p90", "bias", "measured/predicted",
                            "in 80 % interval"}) {
    table.columns.push_back({title, Align::kRight});
  }
  table.columns[report.group_columns.size()].align = Align::kLeft;
  const auto add = [&table](std::vector<std::string> group, const AccuracyRow& row) {
    const std::vector<std::string> cells = cells_of(row);
    group.insert(group.end(), cells.begin(), cells.end());
    table.rows.push_back(std::move(group));
  };
  for (const AccuracyRow& row : report.groups) add(row.group, row);
  for (const AccuracyRow& row : report.overall) {
    std::vector<std::string> group(report.group_columns.size());
    if (!group.empty()) group.front() = "all";
    add(std::move(group), row);
  }
  return table;
}

std::string share_text(const std::optional<double>& share) {
  return share ? percent_format(*share) : kNotApplicable;
}

std::string mape_text(const std::optional<Accuracy>& accuracy) {
  return accuracy ? percent_format(accuracy->mape) : kNotApplicable;
}

std::string coverage_text(const std::optional<Accuracy>& accuracy) {
  return accuracy ? share_text(accuracy->coverage) : kNotApplicable;
}

// The vault, which nothing was chosen on, comes first; a closed one is said to be one. "-": there
// are no such rows.
Table parts_table(const std::vector<PartAccuracy>& parts) {
  Table table;
  table.columns = {{"class"}, {"rows", Align::kRight}, {"groups", Align::kRight}};
  for (const char* what : {"MAPE", "coverage"}) {
    for (const Part part : {Part::kVault, Part::kJudge, Part::kFit}) {
      table.columns.push_back({fmt::format("{} {}", what, part_name(part)), Align::kRight});
    }
  }
  table.columns.push_back({"noise floor", Align::kRight});
  for (const PartAccuracy& row : parts) {
    std::vector<std::string> cells = {row.name, std::to_string(row.rows),
                                      std::to_string(row.groups)};
    for (const auto& text : {mape_text, coverage_text}) {
      cells.push_back(row.closed ? "closed" : text(row.vault));
      cells.push_back(text(row.judge));
      cells.push_back(text(row.fit));
    }
    cells.push_back(share_text(row.noise));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// All classes, or one table; details of the former are in JSON and CSV.
Table first_table(const AccuracyReport& report) {
  return report.parts.empty() ? accuracy_table(report) : parts_table(report.parts);
}

std::string json_parts(const std::vector<PartAccuracy>& parts) {
  const auto number = [](const std::optional<double>& value) {
    return value ? to_text(*value) : std::string("null");
  };
  const auto part = [&number](const std::optional<Accuracy>& accuracy) {
    if (!accuracy) return std::string("null");
    return fmt::format(R"({{"n":{},"mape":{},"coverage80":{}}})", accuracy->n,
                       to_text(accuracy->mape), number(accuracy->coverage));
  };
  std::string json = "[";
  for (const PartAccuracy& row : parts) {
    json += fmt::format(
        R"({}{{"class":{},"rows":{},"groups":{},"fit":{},"judge":{},"vault":{},"closed":{},"noise":{}}})",
        json.size() > 1 ? "," : "", json_text(row.name), row.rows, row.groups, part(row.fit),
        part(row.judge), part(row.vault), row.closed, number(row.noise));
  }
  return json + "]";
}

Table worst_table(const std::vector<Sample>& worst) {
  Table table;
  const bool has_lines =
      std::any_of(worst.begin(), worst.end(), [](const Sample& sample) { return sample.line > 0; });
  if (has_lines) table.columns = {{"line", Align::kRight}};
  table.columns.insert(table.columns.end(), {{"row"},
                                             {"measured"},
                                             {"value", Align::kRight},
                                             {"predicted", Align::kRight},
                                             {"error", Align::kRight}});
  const bool has_parts = std::any_of(worst.begin(), worst.end(),
                                     [](const Sample& sample) { return !sample.parts.empty(); });
  if (has_parts) table.columns.push_back({"of the prediction"});
  for (const Sample& sample : worst) {
    std::vector<std::string> cells;
    if (has_lines) cells.push_back(sample.line > 0 ? std::to_string(sample.line) : "");
    for (const std::string& cell :
         {sample.row, sample.quantity, plain_format(sample.comparison.measured, 4),
          plain_format(sample.comparison.predicted, 4),
          percent_format(relative_error(sample.comparison), true)}) {
      cells.push_back(cell);
    }
    if (has_parts) cells.push_back(sample.parts);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string json_list(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) json += (json.size() > 1 ? "," : "") + json_text(text);
  return json + "]";
}

std::string json_row(const AccuracyRow& row) {
  const Accuracy& accuracy = row.accuracy;
  return fmt::format(
      R"({{"group":{},"measured":{},"n":{},"mape":{},"median":{},"p90":{},"bias":{},"ratio10":{},"ratio90":{},"coverage80":{}}})",
      json_list(row.group), json_text(row.quantity), accuracy.n, to_text(accuracy.mape),
      to_text(accuracy.median), to_text(accuracy.p90), to_text(accuracy.bias),
      to_text(accuracy.ratio10), to_text(accuracy.ratio90),
      accuracy.coverage ? to_text(*accuracy.coverage) : "null");
}

std::string json_rows(const std::vector<AccuracyRow>& rows) {
  std::string json = "[";
  for (const AccuracyRow& row : rows) json += (json.size() > 1 ? "," : "") + json_row(row);
  return json + "]";
}

std::string json_worst(const std::vector<Sample>& worst) {
  std::string json = "[";
  for (const Sample& sample : worst) {
    json += fmt::format(
        R"({}{{"line":{},"row":{},"measured":{},"value":{},"predicted":{},"error":{},"parts":{}}})",
        json.size() > 1 ? "," : "", sample.line > 0 ? std::to_string(sample.line) : "null",
        json_text(sample.row), json_text(sample.quantity), to_text(sample.comparison.measured),
        to_text(sample.comparison.predicted), to_text(relative_error(sample.comparison)),
        json_text(sample.parts));
  }
  return json + "]";
}

std::string json_samples(const std::vector<Sample>& samples) {
  std::string json = "[";
  for (const Sample& sample : samples) {
    const Comparison& comparison = sample.comparison;
    json += fmt::format(R"({}{{"row":{},"group":{},"measured":{},"value":{},"predicted":{})",
                        json.size() > 1 ? "," : "", json_text(sample.row), json_list(sample.group),
                        json_text(sample.quantity), to_text(comparison.measured),
                        to_text(comparison.predicted));
    if (comparison.interval80) {
      json += fmt::format(R"(,"interval80":[{},{}])", to_text(comparison.interval80->low),
                          to_text(comparison.interval80->high));
    }
    json += "}";
  }
  return json + "]";
}

}  // namespace

std::string accuracy_text(const AccuracyReport& report, int max_width) {
  std::string text = report.interrupted ? std::string(kInterrupted) + "\n\n" : "";
  text += render_text(first_table(report), max_width);
  if (!report.worst.empty()) {
    text += "\nLargest errors\n\n" + render_text(worst_table(report.worst), max_width);
  }
  text += fmt::format("\n{} rows, {} without a prediction", report.rows, report.failed);
  if (report.refused > 0) text += fmt::format("; {} more were refused", report.refused);
  text += "\n";
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  return text;
}

std::string accuracy_markdown(const AccuracyReport& report) {
  std::string text = report.interrupted ? fmt::format("**{}**\n\n", kInterrupted) : "";
  text += render_markdown(first_table(report));
  if (!report.worst.empty()) {
    text += "\nLargest errors:\n\n" + render_markdown(worst_table(report.worst));
  }
  text += fmt::format("\n{} rows, {} without a prediction.\n", report.rows, report.failed);
  for (const std::string& note : report.notes) text += "\nNote: " + markdown_text(note) + "\n";
  return text;
}

std::string accuracy_json(const AccuracyReport& report) {
  return fmt::format(
      R"({{"schema":"foretell.accuracy/1","by":{},{}"rows":{},"failed":{},"refused":{},"overall":{},"parts":{},"groups":{},"worst":{},"samples":{},"notes":{}}})"
      "\n",
      json_list(report.group_columns), report.interrupted ? R"("interrupted":true,)" : "",
      report.rows, report.failed, report.refused, json_rows(report.overall),
      json_parts(report.parts), json_rows(report.groups), json_worst(report.worst),
      json_samples(report.samples), json_list(report.notes));
}

std::vector<CsvRow> accuracy_rows(const AccuracyReport& report) {
  CsvRow header = report.group_columns;
  for (const char* name :
       {"measured", "n", "mape", "median", "p90", "bias", "ratio10", "ratio90", "coverage80"}) {
    header.emplace_back(name);
  }
  std::vector<CsvRow> rows = {header};
  const auto add = [&](const AccuracyRow& row) {
    CsvRow cells = row.group;
    cells.resize(report.group_columns.size());
    const Accuracy& accuracy = row.accuracy;
    cells.insert(
        cells.end(),
        {row.quantity, std::to_string(accuracy.n), to_text(accuracy.mape), to_text(accuracy.median),
         to_text(accuracy.p90), to_text(accuracy.bias), to_text(accuracy.ratio10),
         to_text(accuracy.ratio90), accuracy.coverage ? to_text(*accuracy.coverage) : ""});
    rows.push_back(std::move(cells));
  };
  for (const AccuracyRow& row : report.overall) add(row);
  for (const AccuracyRow& row : report.groups) add(row);
  return rows;
}

}  // namespace foretell
