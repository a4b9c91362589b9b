#include "calib/validate/accuracy_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "calib/validate/interval_estimate.hpp"

namespace foretell {
namespace {

constexpr std::size_t kDrawnSamples = 3000;

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

// At most kDrawnSamples, evenly chosen.
std::vector<Sample> drawn_of(const std::vector<Sample>& samples) {
  const std::size_t step = (samples.size() + kDrawnSamples - 1) / kDrawnSamples;
  std::vector<Sample> drawn;
  for (std::size_t i = 0; i < samples.size(); i += step) drawn.push_back(samples[i]);
  return drawn;
}

std::vector<std::string> interval_notes(const std::vector<Sample>& samples) {
  std::map<std::string, std::vector<RatioSample>> ratios;
  std::map<std::string, std::set<std::string>> networks;
  for (const Sample& sample : samples) {
    if (sample.network.empty()) continue;
    ratios[sample.quantity].push_back(
        {sample.network, sample.comparison.measured / sample.comparison.predicted});
    networks[sample.quantity].insert(sample.network);
  }
  std::vector<std::string> notes;
  for (const auto& [quantity, of_quantity] : ratios) {
    if (networks[quantity].size() < 2) continue;
    const Interval interval = estimate_interval80(of_quantity);
    notes.push_back(fmt::format(
        "{}: 80 % of these measurements are {:.3f} to {:.3f} times the prediction, every network "
        "counting the same; such an interval made without a network holds {:.1f} % of its rows",
        quantity, interval.low, interval.high, 100 * leave_one_out_coverage(of_quantity)));
  }
  return notes;
}

}  // namespace

std::vector<PartAccuracy> accuracy_by_part(const std::vector<Sample>& samples,
                                           const Repeats& repeats, const std::string& name,
                                           bool closed) {
  struct Class {
    std::map<Part, std::vector<Comparison>> parts;
    std::set<std::string> groups;
  };
  std::map<std::string, Class> classes;
  for (const Sample& sample : samples) {
    Class& one = classes[sample.quantity];
    one.parts[sample.division].push_back(sample.comparison);
    one.groups.insert(sample.divided_by);
  }
  std::vector<PartAccuracy> rows;
  for (auto& [quantity, one] : classes) {
    PartAccuracy row;
    row.name = name + ": " + quantity;
    row.groups = one.groups.size();
    row.closed = closed;
    for (const auto& [part, comparisons] : one.parts) {
      row.rows += comparisons.size();
      std::optional<Accuracy>& of_part = part == Part::kFit     ? row.fit
                                         : part == Part::kJudge ? row.judge
                                                                : row.vault;
      of_part = accuracy_of(comparisons);
    }
    row.noise = repeats.noise(quantity);
    rows.push_back(std::move(row));
  }
  return rows;
}

void AccuracyReport::mark_interrupted(const std::string& note) {
  interrupted = true;
  notes.insert(notes.begin(), note);
}

AccuracyReport build_report(const std::vector<Sample>& samples,
                            const std::vector<std::string>& group_columns,
                            std::size_t worst_count) {
  AccuracyReport report;
  report.group_columns = group_columns;
  report.overall = rows_by(samples, false);
  if (!group_columns.empty()) report.groups = rows_by(samples, true);
  report.samples = drawn_of(samples);
  report.worst = worst_of(samples, worst_count);
  report.notes = interval_notes(samples);
  return report;
}

}  // namespace foretell
