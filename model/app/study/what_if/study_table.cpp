#include "model/app/study/what_if/study_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "model/app/study/pareto.hpp"
#include "model/app/study/what_if/study_request.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"
#include "reports/record/json_text.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

constexpr std::size_t kShownFailures = 20;  // reasons, in a text

PointValues values_of(const Study& study, const StudyRow& row) {
  PointValues values = study.base;
  const auto json = nlohmann::json::parse(row.point.values, nullptr, false);
  if (!json.is_object()) {
    throw UserError("point " + std::to_string(row.point.number) +
                    " of the stored study is damaged");
  }
  for (const auto& [key, value] : json.items()) values[key] = value.get<std::string>();
  return values;
}

std::string cell(const PointValues& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? "" : found->second;
}

// Numbers whose values do not say their unit, with it.
std::string key_title(const std::string& key) { return key == "rate" ? "rate (requests/s)" : key; }

std::string objective_title(const StudyObjective& objective, const StudyResults& results) {
  if (objective.name != "throughput" || results.front.empty()) return objective.name;
  const auto unit_of = [](const StudyRow& row) -> const std::string& {
    return row.result.record->summary.throughput_unit;
  };
  const std::string& unit = unit_of(results.front.front());
  const bool is_of_all = std::all_of(results.front.begin(), results.front.end(),
                                     [&](const StudyRow& row) { return unit_of(row) == unit; });
  return is_of_all && !unit.empty() ? fmt::format("throughput ({})", unit) : objective.name;
}

std::vector<bool> directions(const Study& study) {
  std::vector<bool> maximise;
  for (const StudyObjective& objective : study.objectives) maximise.push_back(objective.maximise);
  return maximise;
}

std::string counts_line(const StudyResults& results) {
  std::string line = fmt::format("{}: {} of {} points, {} predicted", results.head.name,
                                 count_format(static_cast<double>(results.rows)),
                                 count_format(static_cast<double>(results.head.points)),
                                 count_format(static_cast<double>(results.good)));
  const auto add = [&line](std::uint64_t count, const char* what) {
    if (count > 0) line += fmt::format(", {} {}", count_format(static_cast<double>(count)), what);
  };
  add(results.outside, "of them outside the constraints");
  add(results.skipped, "skipped by constraints");
  add(results.failed, "failed");
  return line;
}

std::string front_title(const StudyResults& results, std::size_t shown) {
  std::vector<std::string> names;
  for (const StudyObjective& objective : results.study.objectives)
    names.push_back((objective.maximise ? "high " : "low ") + objective.name);
  std::string title = fmt::format("Pareto front of {}: {} point{}", join(names, ", "),
                                  results.front.size(), results.front.size() == 1 ? "" : "s");
  if (shown < results.front.size()) title += fmt::format(", the first {} of them", shown);
  return title;
}

// Why points are left out of a front; `who` of them has no value of an objective.
std::string why_unjudged(const StudyResults& results, const std::string& who) {
  std::vector<std::string> names;
  for (const StudyObjective& objective : results.study.objectives) names.push_back(objective.name);
  return fmt::format(
      "{} all of {}; a machine without a price has no cost, a CPU no area, and TTFT and TPOT are "
      "those of generations. State others: objectives: [latency, throughput]",
      who, join(names, ", "));
}

std::string why_none(const StudyResults& results) {
  return results.unjudged == 0 ? "" : ": " + why_unjudged(results, "none has");
}

// Below a front; "": all points were judged.
std::string why_missing(const StudyResults& results) {
  if (results.unjudged == 0) return "";
  const std::string points = count_format(static_cast<double>(results.unjudged)) +
                             (results.unjudged == 1 ? " point has not" : " points have not");
  return "Not judged: " + why_unjudged(results, points) + ".\n";
}

// Messages that differ by numbers, or by the advice after a semicolon, are of one kind.
std::string kind_of_failure(const std::string& message) {
  std::string kind;
  bool in_number = false;
  for (const char c : message.substr(0, message.find(';'))) {
    const bool is_digit = c >= '0' && c <= '9';
    const bool begins = is_digit && (kind.empty() || kind.back() == ' ' || kind.back() == '(');
    if (begins) kind += '#';
    in_number = begins || (in_number && (is_digit || c == '.' || c == ','));
    if (!in_number) kind += c;
  }
  return kind;
}

}  // namespace

StudyResults study_results(const StudyStore& store, const StudyHead& head) {
  StudyResults results;
  results.head = head;
  results.study = stored_study(head.name, head.definition);
  const DefaultValue defaults = ParameterDefaults();
  std::vector<std::vector<double>> objectives;
  std::vector<std::uint64_t> numbers;
  store.read(head, [&](const StudyRow& row) {
    ++results.rows;
    if (!row.result.record) {
      const bool is_skipped = row.point.hash.empty();
      ++(is_skipped ? results.skipped : results.failed);
      if (!is_skipped) ++results.failures[row.result.message];
      return;
    }
    ++results.good;
    if (!row.point.inside) ++results.outside;
    if (!row.point.inside) return;
    const JudgedPoint judged = judge_point(results.study, values_of(results.study, row),
                                           point_metrics(row.result.record->summary), defaults);
    if (judged.objectives.empty()) {
      ++results.unjudged;
      return;
    }
    objectives.push_back(judged.objectives);
    numbers.push_back(row.point.number);
  });
  std::set<std::uint64_t> on_front;
  for (const std::size_t i : distinct_front(objectives, directions(results.study)))
    on_front.insert(numbers[i]);
  std::vector<std::pair<double, StudyRow>> front;
  std::size_t at = 0;
  store.read(head, [&](const StudyRow& row) {
    while (at < numbers.size() && numbers[at] < row.point.number) ++at;
    if (on_front.count(row.point.number) == 0) return;
    front.emplace_back(objectives[at].front(), row);
  });
  const bool maximise = results.study.objectives.front().maximise;
  std::stable_sort(front.begin(), front.end(), [maximise](const auto& a, const auto& b) {
    return maximise ? a.first > b.first : a.first < b.first;
  });
  for (auto& entry : front) results.front.push_back(std::move(entry.second));
  return results;
}

std::vector<double> objectives_of(const Study& study, const StudyRow& row,
                                  const DefaultValue& defaults) {
  std::vector<double> objectives;
  for (const StudyValue& value : objective_values(
           study, values_of(study, row), point_metrics(row.result.record->summary), defaults))
    objectives.push_back(value.number);
  return objectives;
}

std::vector<std::vector<double>> front_objectives(const StudyResults& results) {
  const DefaultValue defaults = ParameterDefaults();
  std::vector<std::vector<double>> points;
  for (const StudyRow& row : results.front)
    points.push_back(objectives_of(results.study, row, defaults));
  return points;
}

Table front_table(const StudyResults& results, std::size_t top) {
  Table table;
  for (const std::string& key : results.head.keys) {
    const bool is_word = key == "on" || key == "workload" || key == "dtype";
    table.columns.push_back({key_title(key), is_word ? Align::kLeft : Align::kRight});
  }
  for (const StudyObjective& objective : results.study.objectives)
    table.columns.push_back({objective_title(objective, results), Align::kRight});
  table.columns.push_back({"bottleneck"});
  const DefaultValue defaults = ParameterDefaults();
  for (const StudyRow& row : results.front) {
    if (table.rows.size() == top) break;
    const PointValues values = values_of(results.study, row);
    const RunSummary& summary = row.result.record->summary;
    std::vector<std::string> cells;
    for (const std::string& key : results.head.keys) cells.push_back(cell(values, key));
    for (const StudyValue& value :
         objective_values(results.study, values, point_metrics(summary), defaults))
      cells.push_back(value_text(value));
    cells.push_back(summary.bottleneck);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<std::string> failure_lines(const std::map<std::string, std::uint64_t>& failures) {
  struct Reason {
    std::string example;
    std::uint64_t points = 0;
    bool is_one = true;
  };
  std::map<std::string, Reason> reasons;
  for (const auto& [message, points] : failures) {
    Reason& reason = reasons[kind_of_failure(message)];
    if (reason.points > 0) reason.is_one = false;
    if (reason.points == 0) reason.example = message;
    reason.points += points;
  }
  std::vector<Reason> sorted;
  for (auto& entry : reasons) sorted.push_back(std::move(entry.second));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.points > b.points; });
  std::vector<std::string> lines;
  for (const Reason& reason : sorted) {
    lines.push_back(fmt::format("{} {}{}: {}", count_format(static_cast<double>(reason.points)),
                                reason.points == 1 ? "point" : "points",
                                reason.is_one ? "" : ", for example", reason.example));
  }
  return lines;
}

std::string study_text(const StudyResults& results, std::size_t top, int max_width) {
  const Table table = front_table(results, top);
  std::string text = counts_line(results) + "\n";
  if (results.good == 0) {
    text += "No point could be predicted.\n";
  } else if (table.rows.empty()) {
    text += "No point is on the Pareto front" + why_none(results) + ".\n";
  } else {
    text += front_title(results, table.rows.size()) + "\n\n" + render_text(table, max_width);
    if (results.good > results.front.size()) text += "\n";
    text += why_missing(results);
    if (results.good > results.front.size())
      text += "Points that are not on the front: --format csv has them all\n";
  }
  const std::vector<std::string> failures = failure_lines(results.failures);
  if (!failures.empty()) text += "\nNot predicted:\n";
  for (std::size_t i = 0; i < std::min(failures.size(), kShownFailures); ++i) {
    text += "  " + failures[i] + "\n";
  }
  if (failures.size() > kShownFailures) {
    text += fmt::format("  … and {} more reasons; --format csv has them all\n",
                        failures.size() - kShownFailures);
  }
  return text;
}

std::string study_markdown(const StudyResults& results) {
  const Table table = front_table(results, results.front.size());
  std::string text = "## " + markdown_text(results.head.name) + "\n\n" +
                     markdown_text(counts_line(results)) + "\n\n";
  if (results.good == 0) {
    text += "No point could be predicted.\n";
  } else if (table.rows.empty()) {
    text += "No point is on the Pareto front" + markdown_text(why_none(results)) + ".\n";
  } else {
    text +=
        markdown_text(front_title(results, table.rows.size())) + "\n\n" + render_markdown(table);
    const std::string missing = why_missing(results);
    if (!missing.empty()) text += "\n" + markdown_text(missing);
  }
  for (const std::string& line : failure_lines(results.failures)) {
    text += "\nNot predicted, " + markdown_text(line) + "\n";
  }
  return text;
}

std::vector<CsvRow> study_rows(const StudyStore& store, const StudyResults& results) {
  std::set<std::uint64_t> on_front;
  for (const StudyRow& row : results.front) on_front.insert(row.point.number);
  CsvRow header = {"study", "number"};
  header.insert(header.end(), results.head.keys.begin(), results.head.keys.end());
  for (const char* name : {"status", "inside", "on_front"}) header.emplace_back(name);
  for (const SummaryMetric& metric : summary_metrics()) header.emplace_back(metric.field);
  for (const char* name : {"throughput_unit", "bottleneck", "message"}) header.emplace_back(name);
  const std::size_t message = header.size() - 1;
  for (const SummaryMetric& metric : summary_metrics()) {
    if (!has_interval(metric)) continue;
    for (const char* end : {"lo", "hi"}) header.push_back(interval_column(metric.field, end));
  }
  std::vector<CsvRow> rows = {header};
  store.read(results.head, [&](const StudyRow& row) {
    const PointValues values = values_of(results.study, row);
    CsvRow cells = {results.head.name, std::to_string(row.point.number)};
    for (const std::string& key : results.head.keys) cells.push_back(cell(values, key));
    cells.push_back(row.result.status);
    cells.emplace_back(row.point.inside ? "yes" : "no");
    cells.emplace_back(on_front.count(row.point.number) != 0 ? "yes" : "no");
    if (row.result.record) {
      const RunSummary& summary = row.result.record->summary;
      for (const SummaryMetric& metric : summary_metrics())
        cells.push_back(cell_of(metric, summary));
      cells.push_back(summary.throughput_unit);
      cells.push_back(summary.bottleneck);
    } else {
      cells.resize(message);
    }
    cells.push_back(row.point.hash.empty() ? row.point.skipped_by : row.result.message);
    for (const SummaryMetric& metric : summary_metrics()) {
      if (!row.result.record) break;
      if (!has_interval(metric)) continue;
      for (const auto end : {&Interval::low, &Interval::high})
        cells.push_back(interval_end(metric, row.result.record->summary, end));
    }
    cells.resize(header.size());
    rows.push_back(std::move(cells));
  });
  return rows;
}

std::string study_json_lines(const StudyStore& store, const StudyResults& results) {
  std::string text;
  store.read(results.head, [&](const StudyRow& row) {
    text += fmt::format(
        R"({{"study":{},"number":{},"values":{},"status":{},"message":{},"inside":{},"record":{}}})",
        json_text(results.head.name), row.point.number, row.point.values,
        json_text(row.result.status),
        json_text(row.point.hash.empty() ? row.point.skipped_by : row.result.message),
        row.point.inside, row.result.record ? to_json(*row.result.record) : "null");
    text += '\n';
  });
  return text;
}

}  // namespace foretell
