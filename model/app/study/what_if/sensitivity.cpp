#include "model/app/study/what_if/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "model/app/request/parallel_predict.hpp"
#include "model/app/study/what_if/study_request.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

constexpr double kMaxFactor = 16;
constexpr int kRangeHalvings = 7;   // of the same, for the end of a range: within 3 %
constexpr int kHalvings = 9;        // of the factor's logarithm: within 1 %
constexpr double kNoEffect = 5e-4;  // relative change that counts as none, and shows as 0.0 %
constexpr int kBarWidth = 12;       // of either side

// Fitted times stand for what the machine takes, often in place of a published one; fitted shares
// and rates say how well it is used.
bool is_machine(const std::string& path, const AnyQuantity& value) {
  if (starts_with(path, "factors.")) return value.dimension == dimension_of<Seconds>::value;
  return !starts_with(path, "system.price");
}

// Parameters of the machine with a number above zero.
std::vector<Parameter> numbers_of(const Request& request) {
  std::vector<Parameter> numbers;
  for (Parameter& parameter : family_of(request.system).parameters(request)) {
    const std::optional<AnyQuantity> value = parse_any_quantity(parameter.value);
    if (value && value->value > 0 && is_machine(parameter.path, *value))
      numbers.push_back(std::move(parameter));
  }
  return numbers;
}

std::string times(const std::string& value, double factor) {
  const AnyQuantity quantity = *parse_any_quantity(value);
  return short_quantity(quantity.value * factor, quantity.dimension);
}

// The same for what may be a count, which takes no fractions.
std::string whole_times(const std::string& value, double factor) {
  const AnyQuantity quantity = *parse_any_quantity(value);
  const bool is_count = quantity.dimension == Dimension{} && quantity.value >= 2 &&
                        value.find_first_not_of("0123456789") == std::string::npos;
  if (!is_count) return times(value, factor);
  const double number = quantity.value * factor;
  return short_quantity(factor > 1 ? std::ceil(number - 1e-9) : std::floor(number + 1e-9), {});
}

Request changed(const Request& request, const std::string& path, const std::string& value) {
  Request result = request;
  result.trace_file.clear();
  auto& set = result.set;
  set.erase(std::remove_if(set.begin(), set.end(),
                           [&path](const std::string& assignment) {
                             return trim(assignment.substr(0, assignment.find('='))) == path;
                           }),
            set.end());
  set.push_back(path + "=" + value);
  return result;
}

// Nothing of what is refused.
std::vector<std::optional<PointMetrics>> predict_metrics(const Predictor& predict,
                                                         const std::vector<Request>& requests,
                                                         int jobs, const ShareSink& progress) {
  std::vector<std::optional<PointMetrics>> metrics;
  for (PredictionOutcome& outcome :
       predict_all(predict, requests, jobs, Detail::kSummary, progress)) {
    if (outcome.record) {
      metrics.emplace_back(point_metrics(outcome.record->summary));
    } else {
      metrics.emplace_back();
    }
  }
  return metrics;
}

std::string change_text(double ratio) {
  return std::abs(ratio - 1) < kNoEffect ? "-" : percent_format(ratio - 1, true);
}

// Faster to the left, slower to the right, for the three changes together.
std::string bar(const Sensitivity& row, double widest) {
  const double fastest = std::min({row.latency_less, row.latency_more, row.latency_twice, 1.0});
  const double slowest = std::max({row.latency_less, row.latency_more, row.latency_twice, 1.0});
  const auto cells = [widest](double change) {
    return static_cast<std::size_t>(std::lround(change / widest * kBarWidth));
  };
  const std::size_t left = widest > 0 ? cells(1 - fastest) : 0;
  const std::size_t right = widest > 0 ? cells(slowest - 1) : 0;
  return std::string(kBarWidth - left, ' ') + std::string(left, '#') + '|' +
         std::string(right, '#');
}

std::optional<StudyValue> metric_of(const Target& target, const PointMetrics& metrics) {
  const auto found = metrics.find(target.metric);
  if (found == metrics.end()) return std::nullopt;
  return found->second;
}

bool reaches(const Target& target, const StudyValue& value) {
  return target.maximise ? !is_less(value, target.value) : !is_less(target.value, value);
}

// One parameter on its way to the target.
struct MovedParameter {
  Parameter parameter;
  bool grows = true;
  double short_of = 0;                  // logarithm of a factor that does not reach it …
  double enough = 0;                    // … and of one that does
  std::optional<StudyValue> reached{};  // by the latter

  double factor(double logarithm) const { return std::exp2(grows ? logarithm : -logarithm); }
};

using Values = std::vector<std::optional<StudyValue>>;

// The metric of every candidate at its widest, where it has one.
Values widest_values(const Predictor& predict, const Request& request, const Target& target,
                     const std::vector<MovedParameter>& candidates, int jobs) {
  std::vector<Request> requests;
  for (const MovedParameter& candidate : candidates) {
    const Parameter& parameter = candidate.parameter;
    const double factor = candidate.factor(candidate.enough);
    requests.push_back(changed(request, parameter.path, whole_times(parameter.value, factor)));
  }
  Values values;
  for (const auto& metrics : predict_metrics(predict, requests, jobs, {}))
    values.push_back(metrics ? metric_of(target, *metrics) : std::nullopt);
  return values;
}

// A value beyond the range of a parameter is refused: the widest change that is accepted stands in
// its place, so that a parameter counts whose range ends before the largest factor.
void clamp_to_ranges(const Predictor& predict, const Request& request, const Target& target,
                     std::vector<MovedParameter>& candidates, Values& values, int jobs) {
  std::vector<std::size_t> refused;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!values[i]) refused.push_back(i);
  }
  std::vector<double> beyond(candidates.size(), std::log2(kMaxFactor));
  std::vector<double> within(candidates.size(), 0);
  for (int step = 0; step < kRangeHalvings && !refused.empty(); ++step) {
    std::vector<MovedParameter> tried;
    for (const std::size_t i : refused) {
      tried.push_back(candidates[i]);
      tried.back().enough = (within[i] + beyond[i]) / 2;
    }
    const auto found = widest_values(predict, request, target, tried, jobs);
    for (std::size_t t = 0; t < refused.size(); ++t) {
      const std::size_t i = refused[t];
      (found[t] ? within : beyond)[i] = tried[t].enough;
      if (!found[t]) continue;
      candidates[i].enough = tried[t].enough;
      values[i] = found[t];
    }
  }
}

TargetChange change_of(const MovedParameter& candidate, const StudyValue& reached) {
  const double factor = candidate.factor(candidate.enough);
  const std::string& from = candidate.parameter.value;
  return {candidate.parameter.path, from, whole_times(from, factor), factor, reached};
}

// Nearer to the target than the unchanged machine, and nearest of all.
std::vector<TargetChange> nearest_change(const std::vector<MovedParameter>& candidates,
                                         const Values& values, const StudyValue& unchanged,
                                         const Target& target) {
  const double sign = target.maximise ? -1 : 1;  // what is less is nearer
  StudyValue best = scaled(scaled(unchanged, sign), 1 - sign * kNoEffect);
  std::vector<TargetChange> nearest;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!values[i] || !is_less(scaled(*values[i], sign), best)) continue;
    best = scaled(*values[i], sign);
    nearest = {change_of(candidates[i], *values[i])};
    nearest.front().reaches = false;
  }
  return nearest;
}

// Those whose value at `logarithm` reaches the target, with what they reach.
void try_at(const Predictor& predict, const Request& request, const Target& target,
            std::vector<MovedParameter>& candidates,
            const std::function<double(const MovedParameter&)>& at, int jobs,
            const std::function<void(MovedParameter&, std::optional<StudyValue>)>& note) {
  std::vector<Request> requests;
  for (const MovedParameter& candidate : candidates) {
    const Parameter& parameter = candidate.parameter;
    requests.push_back(changed(request, parameter.path,
                               whole_times(parameter.value, candidate.factor(at(candidate)))));
  }
  const auto found = predict_metrics(predict, requests, jobs, {});
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool good = found[i] && reaches(target, *found[i]);
    note(candidates[i], good ? metric_of(target, *found[i]) : std::nullopt);
  }
}

}  // namespace

double Sensitivity::largest() const {
  double result = 0;
  for (const double ratio : {latency_less, latency_more, latency_twice, throughput_less,
                             throughput_more, throughput_twice})
    result = std::max(result, std::abs(ratio - 1));
  return result;
}

std::vector<Sensitivity> sensitivities(const Predictor& predict, const Request& request,
                                       const PointMetrics& unchanged, int jobs,
                                       const ShareSink& progress) {
  constexpr std::array<double, 3> kFactors = {0.9, 1.1, 2};
  const std::vector<Parameter> parameters = numbers_of(request);
  std::vector<Request> requests;
  for (const Parameter& parameter : parameters) {
    for (const double factor : kFactors)
      requests.push_back(changed(request, parameter.path, times(parameter.value, factor)));
  }
  const auto found = predict_metrics(predict, requests, jobs, progress);
  std::vector<Sensitivity> rows;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Sensitivity row;
    row.path = parameters[i].path;
    row.value = parameters[i].value;
    const std::array<double*, 3> latencies = {&row.latency_less, &row.latency_more,
                                              &row.latency_twice};
    const std::array<double*, 3> throughputs = {&row.throughput_less, &row.throughput_more,
                                                &row.throughput_twice};
    for (std::size_t f = 0; f < kFactors.size(); ++f) {
      const std::optional<PointMetrics>& metrics = found[i * kFactors.size() + f];
      if (!metrics) continue;
      *latencies.at(f) = ratio_of(metrics->at("latency"), unchanged.at("latency"));
      *throughputs.at(f) = ratio_of(metrics->at("throughput"), unchanged.at("throughput"));
    }
    if (row.largest() >= kNoEffect) rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Sensitivity& a, const Sensitivity& b) {
    return a.largest() > b.largest();
  });
  return rows;
}

Table tornado_table(const std::vector<Sensitivity>& rows, std::size_t top) {
  Table table;
  table.columns = {{"parameter"},
                   {"value", Align::kRight},
                   {"latency -10 %", Align::kRight},
                   {"+10 %", Align::kRight},
                   {"x 2", Align::kRight},
                   {"throughput -10 %", Align::kRight},
                   {"+10 %", Align::kRight},
                   {"x 2", Align::kRight},
                   {"latency faster | slower"}};
  double widest = 0;
  for (const Sensitivity& row : rows) {
    for (const double ratio : {row.latency_less, row.latency_more, row.latency_twice})
      widest = std::max(widest, std::abs(ratio - 1));
  }
  for (const Sensitivity& row : rows) {
    if (table.rows.size() == top) break;
    table.rows.push_back({row.path, row.value, change_text(row.latency_less),
                          change_text(row.latency_more), change_text(row.latency_twice),
                          change_text(row.throughput_less), change_text(row.throughput_more),
                          change_text(row.throughput_twice), bar(row, widest)});
  }
  return table;
}

Target parse_target(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw UserError("--target: expected METRIC=VALUE, for example tpot=20ms");
  Target target;
  target.metric = std::string(trim(text.substr(0, equals)));
  std::vector<std::string> names;
  for (const SummaryMetric& known : summary_metrics()) names.emplace_back(known.name);
  const SummaryMetric* metric = find_metric(target.metric);
  if (metric == nullptr || target.metric != metric->name)
    throw unknown_name("target", target.metric, names);
  target.maximise = metric->maximise;
  const Dimension dimension = point_metrics(example_summary()).at(target.metric).dimension;
  try {
    target.value = {true, parse_quantity(text.substr(equals + 1), dimension), dimension, {}};
  } catch (const UserError& error) {
    throw UserError("--target " + target.metric + ": " + error.what());
  }
  if (!(target.value.number > 0)) {
    throw UserError("--target " + target.metric + ": '" +
                    std::string(trim(text.substr(equals + 1))) +
                    "' is not above zero, which no machine reaches");
  }
  return target;
}

bool reaches(const Target& target, const PointMetrics& metrics) {
  const std::optional<StudyValue> value = metric_of(target, metrics);
  return value && reaches(target, *value);
}

std::vector<TargetChange> changes_that_reach(const Predictor& predict, const Request& request,
                                             const PointMetrics& unchanged, const Target& target,
                                             int jobs, const ShareSink& progress) {
  if (!metric_of(target, unchanged))
    throw UserError("--target: " + target.metric + " does not apply to this prediction");
  std::vector<TargetChange> changes;
  if (reaches(target, unchanged)) return changes;
  std::vector<MovedParameter> candidates;
  for (const Parameter& parameter : numbers_of(request)) {
    for (const bool grows : {true, false})
      candidates.push_back({parameter, grows, 0, std::log2(kMaxFactor)});
  }
  auto values = widest_values(predict, request, target, candidates, jobs);
  clamp_to_ranges(predict, request, target, candidates, values, jobs);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (values[i] && reaches(target, *values[i])) candidates[i].reached = values[i];
  }
  const bool out_of_reach =
      std::none_of(candidates.begin(), candidates.end(),
                   [](const MovedParameter& c) { return c.reached.has_value(); });
  if (out_of_reach)
    return nearest_change(candidates, values, *metric_of(target, unchanged), target);
  candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                  [](const MovedParameter& c) { return !c.reached; }),
                   candidates.end());
  const auto middle = [](const MovedParameter& c) { return (c.short_of + c.enough) / 2; };
  for (int i = 0; i < kHalvings; ++i) {
    if (progress) progress(static_cast<double>(i + 1) / (kHalvings + 1));
    try_at(predict, request, target, candidates, middle, jobs,
           [&](MovedParameter& candidate, std::optional<StudyValue> value) {
             (value ? candidate.enough : candidate.short_of) = middle(candidate);
             if (value) candidate.reached = value;
           });
  }
  for (const MovedParameter& candidate : candidates)
    changes.push_back(change_of(candidate, *candidate.reached));
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
    return std::abs(std::log2(a.factor)) < std::abs(std::log2(b.factor));
  });
  return changes;
}

std::string target_text(const Target& target, const PointMetrics& unchanged,
                        const std::vector<TargetChange>& changes, int max_width) {
  const std::string wanted =
      fmt::format("{} {} {}", target.metric, target.maximise ? "of at least" : "of at most",
                  value_text(target.value));
  const StudyValue value = *metric_of(target, unchanged);
  if (reaches(target, unchanged))
    return fmt::format("\nTarget: {}: reached as it is, {}\n", wanted, value_text(value));
  if (changes.empty() || !changes.front().reaches) {
    std::string text =
        fmt::format("\nTarget: {}, now {}: no single parameter reaches it within a factor of {}\n",
                    wanted, value_text(value), kMaxFactor);
    for (const TargetChange& change : changes) {
      text += fmt::format("Nearest: {} with {}, {} to {}\n", value_text(change.reached),
                          change.path, change.from, change.to);
    }
    return text;
  }
  Table table;
  table.columns = {{"parameter"},
                   {"from", Align::kRight},
                   {"to", Align::kRight},
                   {"factor", Align::kRight},
                   {target.metric, Align::kRight}};
  for (const TargetChange& change : changes) {
    table.rows.push_back({change.path, change.from, change.to, plain_format(change.factor),
                          value_text(change.reached)});
  }
  return fmt::format("\nTarget: {}, now {}: single changes that reach it, the smallest first\n\n",
                     wanted, value_text(value)) +
         render_text(table, max_width);
}

}  // namespace foretell
