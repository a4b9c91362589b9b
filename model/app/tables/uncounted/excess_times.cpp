#include "model/app/tables/uncounted/excess_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "model/app/tables/row_filter.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "model/config/node_number.hpp"
#include "model/config/node_text.hpp"

namespace foretell {
namespace {

constexpr const char* kTimedColumn = "latency_us";
constexpr double kLeastTimes = 1;
constexpr double kMostTimes = 1e6;

struct ExcessRule {
  std::string table;
  std::string where;
  std::vector<std::string> sizes;
  std::vector<std::string> types;
  double times = 0;
  std::string why;
};

// A row of the table, among others that it is compared with.
struct TimedRow {
  std::size_t line = 0;
  std::vector<double> sizes;
  double time = 0;
};

using TimedGroups = std::map<std::string, std::vector<TimedRow>>;

ExcessRule read_excess_rule(const Node& item) {
  item.only_keys({"table", "where", "sizes", "types", "times", "why"}, "rules");
  ExcessRule rule;
  rule.table = table_of_rule(item);
  rule.where = item.required("where", "").as_text("where");
  rule.sizes = item_texts(item.required("sizes", ""), "sizes");
  rule.types = item_texts(item.required("types", ""), "types");
  rule.times = required_number(item, "times", kLeastTimes, kMostTimes);
  rule.why = item.required("why", "").as_text("why");
  return rule;
}

bool knows_columns(const ExcessRule& rule, const CsvRow& header) {
  std::vector<std::string> columns = rule.sizes;
  columns.emplace_back(kTimedColumn);
  return has_columns_of(rule.where, header) &&
         std::all_of(columns.begin(), columns.end(),
                     [&header](const std::string& name) { return has_column(header, name); });
}

// An empty size is 1, as of tokens in a step. Nothing where a cell has no number above zero, which
// others refuse.
std::optional<TimedRow> timed_row(const CsvRow& row, std::size_t line,
                                  const std::vector<std::size_t>& sizes, std::size_t time) {
  TimedRow timed{line, {}, 0};
  for (const std::size_t column : sizes) {
    const std::string_view cell = trim(row[column]);
    timed.sizes.push_back(cell.empty() ? 1 : to_number(cell).value_or(0));
    if (!(timed.sizes.back() > 0)) return std::nullopt;
  }
  timed.time = to_number(trim(row[time])).value_or(0);
  if (!(timed.time > 0)) return std::nullopt;
  return timed;
}

TimedGroups read_timed_groups(const std::string& path, const ExcessRule& rule) {
  CsvReader table(path, CsvReader::Names::kLowerCase);
  const CsvRow& header = table.header();
  RowFilter filter;
  filter.require(rule.where, header);
  std::vector<std::size_t> sizes;
  for (const std::string& name : rule.sizes) sizes.push_back(find_column(header, name));
  const std::size_t time = find_column(header, kTimedColumn);
  const auto is_same = [&](std::size_t column) {
    return column != time && std::find(sizes.begin(), sizes.end(), column) == sizes.end() &&
           std::find(rule.types.begin(), rule.types.end(), header[column]) == rule.types.end();
  };
  TimedGroups groups;
  CsvRow row;
  std::string problem;
  while (table.next(row, problem)) {
    if (!problem.empty() || !filter.accepts(row)) continue;
    const auto timed = timed_row(row, table.line(), sizes, time);
    if (!timed) continue;
    std::string key;
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (is_same(column)) key += row[column] + '\n';
    }
    groups[key].push_back(*timed);
  }
  return groups;
}

// As many times as long as work lets a row take beside another.
double excess(const TimedRow& row, const TimedRow& other) {
  double work = 1;
  for (std::size_t i = 0; i < row.sizes.size(); ++i) {
    work *= std::max(1.0, row.sizes[i] / other.sizes[i]);
  }
  return row.time / (other.time * work);
}

}  // namespace

UncountedLines parse_excess_times(const std::string& text, const std::string& shown_as,
                                  const std::string& table, const TableLayout& layout,
                                  const CsvRow& header) {
  UncountedLines lines;
  each_rule(text, shown_as, [&](const Node& item) {
    const ExcessRule rule = read_excess_rule(item);
    if (rule.table != layout.name || !knows_columns(rule, header)) return;
    lines.begin(fmt::format(
        "{}: more than {:g} times as long as a row that did as much or more takes for that: {}",
        rule.where, rule.times, rule.why));
    for (const auto& [key, rows] : read_timed_groups(table, rule)) {
      for (const TimedRow& row : rows) {
        const bool exceeds = std::any_of(rows.begin(), rows.end(), [&](const TimedRow& other) {
          return excess(row, other) > rule.times;
        });
        if (exceeds) lines.add(row.line);
      }
    }
  });
  return lines;
}

UncountedLines excess_times(const std::string& table, const TableLayout& layout,
                            const CsvRow& header) {
  const std::string file = "excess_times.yaml";
  return parse_excess_times(rules_file(file), file, table, layout, header);
}

}  // namespace foretell
