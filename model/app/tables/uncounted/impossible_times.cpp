#include "model/app/tables/uncounted/impossible_times.hpp"

#include <fmt/format.h>

#include <limits>

#include "model/app/tables/uncounted/uncounted_lines.hpp"
#include "model/base/number_text.hpp"
#include "model/config/node_number.hpp"

namespace foretell {
namespace {

constexpr const char* kTimeColumn = "latency_us";
constexpr double kShortest = 1e-6;  // us
constexpr double kLongest = 1e6;    // a second; no least time is longer

double read_below(const Node& item) {
  if (item.find("unstated") != nullptr) return std::numeric_limits<double>::infinity();
  return required_number(item, "below_us", kShortest, kLongest);
}

std::string read_reason(const Node& item, const std::string& where, double below) {
  const std::string& why = item.required("why", "").as_text("why");
  if (const Node* unstated = item.find("unstated")) {
    return fmt::format("{}: not stated is {}: {}", where, unstated->as_text("unstated"), why);
  }
  return fmt::format("{}: less than {:g} us: {}", where, below, why);
}

}  // namespace

ImpossibleTimes ImpossibleTimes::parse(const std::string& text, const std::string& shown_as,
                                       const TableLayout& layout, const CsvRow& header) {
  ImpossibleTimes times;
  if (has_column(header, kTimeColumn)) times.time_ = find_column(header, kTimeColumn);
  each_rule(text, shown_as, [&](const Node& item) {
    item.only_keys({"table", "where", "below_us", "unstated", "why"}, "rules");
    const std::string kind = table_of_rule(item);
    const std::string& where = item.required("where", "").as_text("where");
    const double below = read_below(item);
    std::string reason = read_reason(item, where, below);
    if (!times.time_ || kind != layout.name || !has_columns_of(where, header)) return;
    Rule rule;
    rule.rows.require(where, header);
    rule.below_us = below;
    rule.why = std::move(reason);
    times.rules_.push_back(std::move(rule));
  });
  return times;
}

ImpossibleTimes ImpossibleTimes::load(const TableLayout& layout, const CsvRow& header) {
  const std::string file = "impossible_times.yaml";
  return parse(rules_file(file), file, layout, header);
}

std::optional<std::string> ImpossibleTimes::reason(const CsvRow& row) const {
  if (rules_.empty()) return std::nullopt;
  const std::optional<double> time = to_number(row[*time_]);
  if (!time || !(*time > 0)) return std::nullopt;
  for (const Rule& rule : rules_) {
    if (*time < rule.below_us && rule.rows.accepts(row)) return rule.why;
  }
  return std::nullopt;
}

}  // namespace foretell
