#include "model/app/request/control_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/app/request/call_figures.hpp"
#include "model/app/request/record/mixed_record.hpp"
#include "model/app/request/resolve/distribution_text.hpp"
#include "model/app/request/resolve/resolved_workload.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"

namespace foretell {
namespace {

using Kind = ControlStep::Kind;

void collect_names(const std::vector<ControlStep>& steps, Kind kind,
                   std::vector<std::string>& out) {
  for (const ControlStep& step : steps) {
    if (step.kind == kind) out.push_back(step.name);
    collect_names(step.body, kind, out);
    collect_names(step.instead, kind, out);
  }
}

void check_names(const std::vector<ControlStep>& steps, Kind kind, const char* option,
                 const std::map<std::string, std::string>& given) {
  std::vector<std::string> known;
  collect_names(steps, kind, known);
  for (const auto& [name, value] : given) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw unknown_name(option, name, known);
  }
}

class ControlMixture {
 public:
  ControlMixture(const Request& request, Seconds branch, const Predictor& predict_part)
      : request_(request), branch_(branch), predict_part_(predict_part) {}

  RunRecord run(const std::vector<ControlStep>& steps) {
    const Distribution calls = time_of(steps);
    if (!(calls.highest() > 0)) {
      throw UserError(request_.workload +
                      ": no part of it runs with these --trips and --branch: there is nothing to "
                      "time");
    }
    count_runs(steps, 1);
    RunRecord record = records_.at(longest_part());
    record.context.scenario.branches = request_.branches;
    record.context.scenario.trips = request_.trips;
    join_operators(record);
    join_memory(record);
    std::vector<CountedCall> runs;
    for (const std::string& part : order_)
      runs.push_back(counted_call(runs_.at(part), records_.at(like_.at(part)).summary));
    set_calls(calls, runs, record);
    for (const std::string& part : order_) {
      record.summary.distribution->parts.push_back(
          {part, records_.at(like_.at(part)).summary.call_s, runs_.at(part)});
    }
    record.context.notes.push_back(
        "control flow: every part is a program of its own, with its launch in its time" +
        (branch_ > Seconds(0)
             ? fmt::format("; a decision at run time takes {:.3g} us more", branch_.value() * 1e6)
             : std::string()));
    check_record(record);
    return record;
  }

 private:
  Distribution time_of(const std::vector<ControlStep>& steps) {
    Distribution total = Distribution::certain(0);
    for (const ControlStep& step : steps) total = sum(total, time_of(step));
    return total;
  }

  Distribution time_of(const ControlStep& step) {
    if (step.kind == Kind::kRun) return Distribution::certain(record_of(step).summary.call_s);
    const Distribution decision = Distribution::certain(step.is_constant ? 0 : branch_.value());
    if (step.kind == Kind::kLoop)
      return repeated_sum(trips_of(step), sum(decision, time_of(step.body)));
    const double taken = probability_of(step);
    return sum(decision,
               mixture({{taken, time_of(step.body)}, {1 - taken, time_of(step.instead)}}));
  }

  const RunRecord& record_of(const ControlStep& step) {
    order_.push_back(step.name);
    like_[step.name] = step.like;
    const auto found = records_.find(step.like);
    if (found != records_.end()) return found->second;
    Request part = request_;
    part.part = step.like;
    part.trace_file.clear();
    return records_.emplace(step.like, predict_part_(part)).first->second;
  }

  double probability_of(const ControlStep& step) const {
    const auto given = request_.branches.find(step.name);
    if (given != request_.branches.end()) return written_number(given->second);
    if (step.stated) return *step.stated;
    throw UserError(
        fmt::format("{}: how often branch '{}' is taken is not known: give --branch {}=PROBABILITY",
                    request_.workload, step.name, step.name));
  }

  Distribution trips_of(const ControlStep& step) const {
    const auto given = request_.trips.find(step.name);
    if (given != request_.trips.end())
      return parse_distribution("--trips " + step.name, given->second, 0, kMaxTrips);
    if (step.stated) return Distribution::certain(*step.stated);
    throw UserError(
        fmt::format("{}: how often loop '{}' runs is not known: give --trips {}=NUMBER, or a "
                    "distribution such as uniform:1..8",
                    request_.workload, step.name, step.name));
  }

  void count_runs(const std::vector<ControlStep>& steps, double times) {
    for (const ControlStep& step : steps) {
      if (step.kind == Kind::kRun) {
        runs_[step.name] += times;
      } else if (step.kind == Kind::kLoop) {
        count_runs(step.body, times * trips_of(step).mean());
      } else {
        const double taken = probability_of(step);
        count_runs(step.body, times * taken);
        count_runs(step.instead, times * (1 - taken));
      }
    }
  }

  // The part that takes most of the expected time: what bounds it bounds the call.
  std::string longest_part() const {
    if (order_.empty()) {
      throw UserError(request_.workload +
                      ": nothing of it runs on the device: its parts only rename or reshape");
    }
    std::map<std::string, Seconds> expected;
    for (const std::string& part : order_) {
      expected[like_.at(part)] +=
          runs_.at(part) * Seconds(records_.at(like_.at(part)).summary.call_s);
    }
    return std::max_element(expected.begin(), expected.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

  // One run of every different part, one after the other.
  void join_operators(RunRecord& record) const {
    record.operators.clear();
    Seconds start;
    for (const auto& [part, each] : records_) {
      for (OperatorRecord op : each.operators) {
        op.name.insert(0, part + "/");
        op.start_s += start.value();
        record.operators.push_back(std::move(op));
      }
      start += Seconds(each.summary.call_s);
    }
  }

  // Equal parts have weights of their own.
  void join_memory(RunRecord& record) const {
    CallFigures whole = figures_of(record.summary);
    MemoryUse all = whole.memory.value_or(MemoryUse{});
    all.weights = Bytes(0);
    for (const std::string& part : order_) {
      const MemoryUse memory =
          figures_of(records_.at(like_.at(part)).summary).memory.value_or(MemoryUse{});
      all.weights += memory.weights;
      all.activations = std::max(all.activations, memory.activations);
      all.inputs_outputs = std::max(all.inputs_outputs, memory.inputs_outputs);
    }
    if (!set_memory(all, whole)) {
      throw UserError(fmt::format(
          "{}: all parts together need {:.1f} GiB, more than the {:.1f} GiB of a device of {}; "
          "lower --batch, or name a larger system",
          request_.workload, whole.memory_used.value() / kGiB, whole.memory_capacity.value() / kGiB,
          request_.system));
    }
    put_figures(whole, record.summary);
  }

  const Request& request_;
  Seconds branch_;
  const Predictor& predict_part_;
  std::vector<std::string> order_;            // parts, as they come
  std::map<std::string, std::string> like_;   // whose record stands for a part
  std::map<std::string, RunRecord> records_;  // of the different ones
  std::map<std::string, double> runs_;
};

}  // namespace

std::vector<ControlStep> control_flow_of(const Request& request) {
  if (!request.part.empty()) return {};
  ResolvedWorkload resolved;
  resolved.request = request;
  resolved.model = WorkloadLibrary().load(request.workload);
  if (resolved.model.exits.empty() && resolved.model.family != Family::kOnnx) return {};
  return control_flow(resolved.model, binding_of(resolved));
}

RunRecord predict_control_flow(const Request& request, const std::vector<ControlStep>& steps,
                               Seconds branch, const Predictor& predict_part) {
  if (request.phase == "train-step") {
    throw UserError(request.workload +
                    ": a network with control flow is not trained here; leave --phase out");
  }
  check_names(steps, Kind::kBranch, "branch", request.branches);
  check_names(steps, Kind::kLoop, "loop", request.trips);
  return ControlMixture(request, branch, predict_part).run(steps);
}

}  // namespace foretell
