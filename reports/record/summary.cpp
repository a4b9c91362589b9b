#include "reports/record/summary.hpp"

#include <fmt/format.h>

#include "model/base/text.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

const std::vector<SummaryMetric>& summary_metrics() {
  static const std::vector<SummaryMetric> kMetrics = summary_metric_rows();
  return kMetrics;
}

const SummaryMetric* find_metric(std::string_view name) {
  for (const SummaryMetric& metric : summary_metrics()) {
    if (name == metric.field || name == metric.name) return &metric;
  }
  return nullptr;
}

std::optional<double> value_of(const SummaryMetric& metric, const RunSummary& summary) {
  return std::visit([&summary](auto member) { return std::optional<double>(summary.*member); },
                    metric.member);
}

std::string cell_of(const SummaryMetric& metric, const RunSummary& summary) {
  const std::optional<double> value = value_of(metric, summary);
  return value ? to_text(*value) : "";
}

std::string interval_column(std::string_view column, std::string_view end) {
  constexpr std::string_view kSeconds = "_s";
  const bool ends_in_unit = ends_with(column, kSeconds) && !ends_with(column, "_per_s");
  const std::size_t place = column.size() - (ends_in_unit ? kSeconds.size() : 0);
  return fmt::format("{}_{}{}", column.substr(0, place), end, column.substr(place));
}

bool has_interval(const SummaryMetric& metric) {
  return std::string_view(metric.interval) == metric.field;
}

std::string interval_end(const SummaryMetric& metric, const RunSummary& summary,
                         double Interval::*end) {
  const auto found = summary.interval80.find(metric.field);
  return found == summary.interval80.end() ? "" : to_text(found->second.*end);
}

RunSummary example_summary() {
  RunSummary summary;
  for (const SummaryMetric& metric : summary_metrics())
    std::visit([&](auto member) { summary.*member = 1; }, metric.member);
  return summary;
}

}  // namespace foretell
