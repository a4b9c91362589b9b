#include "reports/render/claim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "model/base/text.hpp"
#include "reports/record/ranks.hpp"
#include "reports/render/record_cells.hpp"
#include "reports/render/record_text.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

struct ClaimMetric {
  std::string name;
  bool largest_is_best;
  std::function<std::optional<double>(const RunRecord&)> value;
  std::function<std::string(double)> text;
  std::string interval;  // the field whose interval it shares; "" for none
};

double parts_of(const MachineRecord& machine) {
  return static_cast<double>(machine.devices) * machine.parts;
}

std::optional<double> peak_flops(const RunRecord& record) {
  if (!record.machine || record.machine->compute.empty()) return std::nullopt;
  return record.machine->compute.front().per_s * parts_of(*record.machine);
}

std::optional<double> memory_bytes(const RunRecord& record) {
  if (!record.machine) return std::nullopt;
  return record.summary.memory_capacity_bytes * record.machine->devices;
}

// Operators are those of one part; all parts that run a copy work at this rate.
std::optional<double> reached_flops(const RunRecord& record) {
  if (!record.machine || record.operators.empty()) return std::nullopt;
  double flops = 0;
  for (const OperatorRecord& op : record.operators) flops += op.flops;
  const Scenario& scenario = record.context.scenario;
  const double parts =
      std::max(1, scenario.dp) * std::max(1, scenario.tp) * groups_of_copy(scenario);
  return flops / record.summary.call_s * parts;
}

// Numbers without a unit say what they count.
std::string claim_text(const SummaryMetric& metric, double value) {
  const std::string_view field = metric.field;
  if (field == "throughput") return plain_format(value, 4) + " /s";
  if (field == "cost_usd_per_million") return "USD " + plain_format(value) + " per million";
  return metric_text(metric, value);
}

// Those of every record, and what a machine could do.
const std::vector<ClaimMetric>& metrics() {
  static const std::vector<ClaimMetric> kMetrics = [] {
    std::vector<ClaimMetric> all;
    for (const SummaryMetric& metric : summary_metrics()) {
      all.push_back({metric.field, metric.maximise,
                     [&metric](const RunRecord& r) { return value_of(metric, r.summary); },
                     [&metric](double value) { return claim_text(metric, value); },
                     metric.interval});
    }
    const auto flops_text = [](double value) { return si_format(value, "FLOP/s"); };
    all.push_back({"peak_flops", true, peak_flops, flops_text, ""});
    all.push_back({"reached_flops", true, reached_flops, flops_text, "throughput"});
    all.push_back({"memory_bytes", true, memory_bytes, memory_format, ""});
    return all;
  }();
  return kMetrics;
}

bool matches(const RunRecord& record, const RecordQuery& query) {
  const RunContext& context = record.context;
  const Scenario& scenario = context.scenario;
  const std::map<std::string, std::string> fields = {
      {"system", context.system},
      {"workload", context.workload},
      {"dtype", context.dtype},
      {"batch", std::to_string(scenario.batch)},
      {"seq_len", std::to_string(scenario.seq_len)},
      {"input_len", std::to_string(scenario.input_len)},
      {"output_len", std::to_string(scenario.output_len)},
      {"set", join(context.set, ", ")}};
  return std::all_of(query.begin(), query.end(), [&fields](const auto& wanted) {
    const auto found = fields.find(wanted.first);
    return found != fields.end() && found->second == wanted.second;
  });
}

std::string device_of(const RunRecord& record) {
  return record.machine ? record.machine->device : record.context.system;
}

// Half the width of the 80 % interval of the metric, as a difference of logarithms; 0 without one.
double margin_of(const RunRecord& record, const ClaimMetric& metric) {
  const auto found = record.summary.interval80.find(metric.interval);
  if (found == record.summary.interval80.end() || found->second.low <= 0) return 0;
  return std::log(found->second.high / found->second.low) / 2;
}

struct Found {
  const RunRecord* record = nullptr;
  double value = 0;
};

Found best_of(const std::vector<RunRecord>& records, const RecordQuery& query,
              const ClaimMetric& metric) {
  Found best;
  for (const RunRecord& record : records) {
    if (!matches(record, query)) continue;
    const std::optional<double> value = metric.value(record);
    if (!value) continue;
    const bool better = metric.largest_is_best ? *value > best.value : *value < best.value;
    if (best.record == nullptr || better) best = {&record, *value};
  }
  return best;
}

std::string name_of(const RunRecord& record) {
  const RunContext& context = record.context;
  std::string name = context.workload + " on " + context.system + ", " + context.dtype;
  const std::string scenario = scenario_text(context.scenario);
  if (!scenario.empty()) name += ", " + scenario;
  for (const std::string& override_text : context.set) name += ", " + override_text;
  return name;
}

std::string needs_text(const Claim& claim, const ClaimMetric& metric, bool is_ratio) {
  const auto text = [&](double limit) {
    return is_ratio ? plain_format(limit) + " times" : metric.text(limit);
  };
  std::vector<std::string> parts;
  if (claim.at_least) parts.push_back("at least " + text(*claim.at_least));
  if (claim.at_most) parts.push_back("at most " + text(*claim.at_most));
  return join(parts, " and ");
}

}  // namespace

const std::vector<std::string>& claim_metrics() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const ClaimMetric& metric : metrics()) names.push_back(metric.name);
    return names;
  }();
  return kNames;
}

const std::vector<std::string>& query_fields() {
  static const std::vector<std::string> kFields = {"system",  "workload",  "dtype",      "batch",
                                                   "seq_len", "input_len", "output_len", "set"};
  return kFields;
}

namespace {

// The other side of the ratio has no prediction: what it would have to be.
Judgement judge_open(const Claim& claim, const ClaimMetric& metric,
                     const std::vector<RunRecord>& records) {
  const Found of = best_of(records, claim.of, metric);
  const std::optional<double>& limit = claim.at_least ? claim.at_least : claim.at_most;
  if (of.record == nullptr || !limit || !(*limit > 0)) return {kCannotBeJudged, "", claim.open};
  Judgement result;
  result.verdict = kCannotBeJudged;
  result.predicted = metric.text(of.value);
  result.why = fmt::format("{}; it would hold if that had at {} {}. {}", claim.open,
                           claim.at_least ? "most" : "least", metric.text(of.value / *limit),
                           name_of(*of.record));
  result.needs = needs_text(claim, metric, true);
  return result;
}

}  // namespace

Judgement judge(const Claim& claim, const std::vector<RunRecord>& records) {
  const auto metric =
      std::find_if(metrics().begin(), metrics().end(),
                   [&claim](const ClaimMetric& m) { return m.name == claim.metric; });
  if (!claim.open.empty()) {
    return metric == metrics().end() ? Judgement{kCannotBeJudged, "", claim.open}
                                     : judge_open(claim, *metric, records);
  }
  if (metric == metrics().end()) return {kCannotBeJudged, "", "no metric " + claim.metric};
  const Found of = best_of(records, claim.of, *metric);
  if (of.record == nullptr)
    return {kCannotBeJudged, "", "no prediction has a " + claim.metric + " for it"};
  double value = of.value;
  double margin = margin_of(*of.record, *metric);
  Judgement result;
  if (claim.against) {
    const Found against = best_of(records, *claim.against, *metric);
    if (against.record == nullptr || against.value == 0) {
      return {kCannotBeJudged, "", "no prediction has a " + claim.metric + " to compare with"};
    }
    value = of.value / against.value;
    // Between one machine and another version or number of it, most of the error is the same; of
    // two machines the errors are their own.
    margin = device_of(*of.record) == device_of(*against.record)
                 ? 0
                 : std::hypot(margin, margin_of(*against.record, *metric));
    result.predicted = plain_format(value) + " times";
    result.why = fmt::format("{}: {}; against {}: {}", name_of(*of.record), metric->text(of.value),
                             name_of(*against.record), metric->text(against.value));
  } else {
    result.predicted = metric->text(value);
    result.why = name_of(*of.record);
  }
  const bool holds =
      (!claim.at_least || value >= *claim.at_least) && (!claim.at_most || value <= *claim.at_most);
  result.verdict = holds ? kSupported : kNotSupported;
  result.needs = needs_text(claim, *metric, claim.against.has_value());
  for (const std::optional<double>& limit : {claim.at_least, claim.at_most}) {
    if (limit && *limit > 0 && value > 0 && std::abs(std::log(*limit / value)) < margin)
      result.close = true;
  }
  return result;
}

}  // namespace foretell
