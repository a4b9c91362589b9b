#include "calib/validate/accuracy_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace foretell {
namespace {

using Key = std::pair<std::vector<std::string>, std::string>;

std::vector<AccuracyRow> rows_by(const std::vector<Sample>& samples, bool with_group) {
  std::map<Key, std::vector<Comparison>> sets;
  for (const Sample& sample : samples) {
    const auto group = with_group ? sample.group : std::vector<std::string>{};
    sets[{group, sample.quantity}].push_back(sample.comparison);
  }
  std::vector<AccuracyRow> rows;
  for (const auto& [key, comparisons] : sets) {
    rows.push_back({key.first, key.second, accuracy_of(comparisons)});
  }
  return rows;
}

std::vector<Sample> worst_of(std::vector<Sample> samples, std::size_t count) {
  std::stable_sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
    return std::abs(relative_error(a.comparison)) > std::abs(relative_error(b.comparison));
  });
  if (samples.size() > count) samples.resize(count);
  return samples;
}

}  // namespace

AccuracyReport build_report(const std::vector<Sample>& samples,
                            const std::vector<std::string>& group_columns,
                            std::size_t worst_count) {
  AccuracyReport report;
  report.group_columns = group_columns;
  report.overall = rows_by(samples, false);
  if (!group_columns.empty()) report.groups = rows_by(samples, true);
  report.worst = worst_of(samples, worst_count);
  return report;
}

}  // namespace foretell
