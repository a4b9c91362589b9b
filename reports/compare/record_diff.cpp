#include "reports/compare/record_diff.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  for (const SummaryMetric& metric : summary_metrics()) names.emplace_back(metric.field);
  return names;
}

std::string words_of(const Scenario& scenario) {
  return scenario_words(scenario, ScenarioWords::kAll);
}

// Names the run, to people and as the key that matches the two sides.
std::string describe(const RunContext& context) {
  std::string text = context.workload + " on " + context.system + ", " + context.dtype;
  const std::string scenario = words_of(context.scenario);
  if (!scenario.empty()) text += ", " + scenario;
  if (context.seed != 0) text += ", seed " + std::to_string(context.seed);
  for (const std::string& change : context.set) text += ", " + change;
  return text;
}

using RecordsByRun = std::map<std::string, const RunRecord*>;

RecordsByRun by_run(const std::vector<RunRecord>& records) {
  RecordsByRun result;
  for (const RunRecord& record : records) result[describe(record.context)] = &record;
  return result;
}

double relative_difference(double expected, double actual) {
  if (std::fpclassify(expected) == FP_ZERO) return std::fpclassify(actual) == FP_ZERO ? 0 : 1;
  return actual / expected - 1;
}

void diff_summaries(const std::string& run, const RunSummary& expected, const RunSummary& actual,
                    const Tolerances& tolerances, std::vector<RecordDifference>& differences) {
  for (const SummaryMetric& metric : summary_metrics()) {
    const std::optional<double> before = value_of(metric, expected);
    const std::optional<double> after = value_of(metric, actual);
    if (!before && !metric.is_always_written) continue;  // the earlier version did not know it
    const bool both = before && after;
    const double relative = both ? relative_difference(*before, *after) : 0;
    const bool same = both ? std::abs(relative) <= tolerances.of(metric.field) : !before && !after;
    if (same) continue;
    differences.push_back(
        {run, metric.field, cell_of(metric, expected), cell_of(metric, actual), relative});
  }
  const auto diff_text = [&](const char* name, const std::string& before,
                             const std::string& after) {
    if (before != after) differences.push_back({run, name, before, after, 0});
  };
  diff_text("throughput_unit", expected.throughput_unit, actual.throughput_unit);
  diff_text("bottleneck", expected.bottleneck, actual.bottleneck);
}

using Pair = std::pair<const RunRecord*, const RunRecord*>;

// Pairs records of which there is one of a key on either side, and takes them out of the lists.
template <class Key>
void pair_by(const Key& key, RecordsByRun& before, RecordsByRun& after, std::vector<Pair>& pairs) {
  std::map<std::string, std::pair<std::vector<std::string>, std::vector<std::string>>> groups;
  for (const auto& [run, record] : before) groups[key(record->context)].first.push_back(run);
  for (const auto& [run, record] : after) groups[key(record->context)].second.push_back(run);
  for (const auto& [name, group] : groups) {
    if (group.first.size() != 1 || group.second.size() != 1) continue;
    pairs.emplace_back(before.at(group.first.front()), after.at(group.second.front()));
    before.erase(group.first.front());
    after.erase(group.second.front());
  }
}

// What was asked for differently, and with which factors and program.
void diff_contexts(const std::string& run, const RunContext& before, const RunContext& after,
                   std::vector<RecordDifference>& differences) {
  const auto diff = [&](const char* name, const std::string& left, const std::string& right) {
    if (left != right) differences.push_back({run, name, left, right, 0});
  };
  diff("system", before.system, after.system);
  diff("workload", before.workload, after.workload);
  diff("data type", before.dtype, after.dtype);
  diff("scenario", words_of(before.scenario), words_of(after.scenario));
  diff("set", join(before.set, "; "), join(after.set, "; "));
  diff("factors", before.factors, after.factors);
  diff("commit", before.commit, after.commit);
}

}  // namespace

double Tolerances::of(const std::string& field) const {
  const auto found = fields.find(field);
  return found == fields.end() ? otherwise : found->second;
}

void add_tolerance(std::string_view text, Tolerances& tolerances) {
  const std::size_t equals = text.find('=');
  const bool is_named = equals != std::string_view::npos;
  const LeadingNumber number = leading_number(trim(is_named ? text.substr(equals + 1) : text));
  const double percent = number.value;
  if (!number.is_number || trim(number.rest) != "%" || !std::isfinite(percent) || percent < 0) {
    throw UserError("tolerance '" + std::string(text) +
                    "' is not understood; write 0.1% or latency_s=0.1%");
  }
  constexpr double kPercent = 100;
  if (!is_named) {
    tolerances.otherwise = percent / kPercent;
    return;
  }
  const std::string name(trim(text.substr(0, equals)));
  const std::vector<std::string> names = field_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw unknown_name("field", name, names);
  }
  tolerances.fields[name] = percent / kPercent;
}

std::vector<RecordDifference> diff_records(const std::vector<RunRecord>& expected,
                                           const std::vector<RunRecord>& actual,
                                           const Tolerances& tolerances) {
  RecordsByRun before = by_run(expected);
  RecordsByRun after = by_run(actual);
  std::vector<RecordDifference> differences;
  const auto equal_run = [](const RunContext& context) { return describe(context); };
  const auto compare = [&](const Pair& pair, bool says_context) {
    const std::string run = describe(pair.first->context);
    std::vector<RecordDifference> numbers;
    diff_summaries(run, pair.first->summary, pair.second->summary, tolerances, numbers);
    if (says_context || !numbers.empty())
      diff_contexts(run, pair.first->context, pair.second->context, differences);
    differences.insert(differences.end(), numbers.begin(), numbers.end());
  };
  std::vector<Pair> same;
  pair_by(equal_run, before, after, same);
  for (const Pair& pair : same) compare(pair, false);
  // What is on one side only: the same with another machine, other overrides, or all that is
  // left.
  std::vector<Pair> changed;
  pair_by(
      [](RunContext context) {
        context.set.clear();
        return describe(context);
      },
      before, after, changed);
  pair_by(
      [](RunContext context) {
        context.system.clear();
        context.scenario.dp = context.scenario.cores = 0;
        return describe(context);
      },
      before, after, changed);
  pair_by([](const RunContext&) { return std::string(); }, before, after, changed);
  for (const Pair& pair : changed) compare(pair, true);
  for (const auto& entry : before) differences.push_back({entry.first, "record", "present", "", 0});
  for (const auto& entry : after) differences.push_back({entry.first, "record", "", "present", 0});
  return differences;
}

}  // namespace foretell
