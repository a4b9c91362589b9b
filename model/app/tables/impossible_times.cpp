#include "model/app/tables/impossible_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "calib/validate/left_out_rows.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"
#include "reports/record/text_file.hpp"

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

void check_kind(const Node& node, const std::string& kind) {
  std::vector<std::string> known;
  for (const TableLayout& layout : table_layouts()) known.push_back(layout.name);
  if (std::find(known.begin(), known.end(), kind) == known.end()) {
    throw UserError(node.where() + ": " + unknown_name("kind of table", kind, known).what());
  }
}

bool has_columns(const std::string& conditions, const CsvRow& header) {
  for (const std::string& condition : split(conditions, ',')) {
    const std::size_t equals = condition.find('=');
    if (equals != std::string::npos && !has_column(header, condition.substr(0, equals))) {
      return false;
    }
  }
  return true;
}

}  // namespace

ImpossibleTimes ImpossibleTimes::parse(const std::string& text, const std::string& shown_as,
                                       const TableLayout& layout, const CsvRow& header) {
  const Node root = parse_document(text, shown_as);
  root.only_keys({"rules"}, "");
  ImpossibleTimes times;
  if (has_column(header, kTimeColumn)) times.time_ = find_column(header, kTimeColumn);
  for (const Node& item : root.required("rules", "").items) {
    item.only_keys({"table", "where", "below_us", "unstated", "why"}, "rules");
    const Node& table = item.required("table", "");
    const std::string& kind = table.as_text("table");
    check_kind(table, kind);
    const std::string& where = item.required("where", "").as_text("where");
    const double below = read_below(item);
    std::string reason = read_reason(item, where, below);
    if (!times.time_ || kind != layout.name || !has_columns(where, header)) continue;
    Rule rule;
    rule.rows.require(where, header);
    rule.below_us = below;
    rule.why = std::move(reason);
    times.rules_.push_back(std::move(rule));
  }
  return times;
}

ImpossibleTimes ImpossibleTimes::load(const TableLayout& layout, const CsvRow& header) {
  const auto path = data_root() / "calib" / "validate" / "impossible_times.yaml";
  return parse(read_text_file(path), path.filename().string(), layout, header);
}

std::optional<std::string> ImpossibleTimes::reason(const CsvRow& row) const {
  if (rules_.empty()) return std::nullopt;
  const std::optional<double> time = read_measurement(kTimeColumn, row[*time_]);
  for (const Rule& rule : rules_) {
    if (time && *time < rule.below_us && rule.rows.accepts(row)) return rule.why;
  }
  return std::nullopt;
}

}  // namespace foretell
