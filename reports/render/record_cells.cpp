#include "reports/render/record_cells.hpp"

#include <algorithm>

#include "reports/render/si_format.hpp"

namespace foretell {

std::string quantity_text(double value, std::string_view unit) {
  if (unit == "s") return si_format(value, unit);
  if (unit == "B") return memory_format(value);
  if (unit == "J" || unit == "W") return si_format(value, unit);
  return plain_format(value, 4) + (unit == "mm2" ? " mm2" : "");
}

std::string metric_text(const SummaryMetric& metric, double value) {
  return quantity_text(value, metric.unit);
}

std::string cost_cell(const std::optional<double>& usd) {
  return usd ? plain_format(*usd) : kNotApplicable;
}

std::string interval_cell(const RunSummary& summary, const std::string& field,
                          std::string_view unit) {
  const auto found = summary.interval80.find(field);
  if (found == summary.interval80.end()) return kNotApplicable;
  return si_format(found->second.low, unit) + " to " + si_format(found->second.high, unit);
}

std::string counted_thing(const std::string& unit) {
  const auto slash = unit.rfind("/s");
  return slash == std::string::npos ? unit : unit.substr(0, slash);
}

std::string price_words(const std::string& option) {
  if (option == "reserved_1y") return "reserved 1 year";
  if (option == "reserved_3y") return "reserved 3 years";
  std::string words = option;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

}  // namespace foretell
