#include "calib/measure/harness/measure_run.hpp"

#include <algorithm>
#include <chrono>
#include <ostream>

#include "calib/measurements/samples.hpp"
#include "model/base/errors.hpp"
#include "model/base/progress_line.hpp"

namespace foretell {
namespace {

constexpr const char* kWipe = "\r\x1b[K";

// "gemm bf16": what one check stands for.
std::string kernel_of(const MeasureTask& task) { return task.op + " " + task.dtype; }

class Run {
 public:
  Run(MeasuredMachine& machine, const std::vector<MeasureTask>& checks, RecordLog& log,
      const MeasureRunOptions& options)
      : machine_(machine), checks_(checks), log_(log), options_(options), facts_(machine.facts()) {}

  MeasureRunResult run(const std::vector<MeasureTask>& tasks) {
    const auto start = std::chrono::steady_clock::now();
    double done = 0;
    const int most_rounds = std::max(options_.rounds, options_.most_rounds);
    const double all = static_cast<double>(tasks.size()) * most_rounds;
    for (int round = 1; round <= most_rounds; ++round) {
      for (const MeasureTask& task : tasks) {
        ++done;
        if (round > options_.rounds && has_agreed(task, round - 1)) continue;
        measure(in_round(task, round));
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        show(done / all, elapsed.count());
      }
    }
    if (most_rounds > 1) {
      for (const MeasureTask& task : tasks) {
        if (!has_agreed(task, most_rounds)) ++result_.disagreeing;
      }
    }
    if (options_.terminal && options_.messages != nullptr) *options_.messages << kWipe;
    return result_;
  }

 private:
  MeasureTask in_round(MeasureTask task, int round) const {
    if (std::max(options_.rounds, options_.most_rounds) > 1) {
      task.states["round"] = std::to_string(round);
    }
    return task;
  }

  // Are the two shortest of the rounds so far about equal? What is not measured has nothing to
  // agree on.
  bool has_agreed(const MeasureTask& task, int rounds) const {
    std::vector<double> times;
    for (int round = 1; round <= rounds; ++round) {
      const auto time = log_.latency_us(measurement_key(record_of(in_round(task, round))));
      if (time) times.push_back(*time);
    }
    std::sort(times.begin(), times.end());
    return times.size() < 2 || times[1] <= times[0] * (1 + options_.agreement);
  }

  void show(double share, double seconds) const {
    if (!options_.terminal || options_.messages == nullptr) return;
    *options_.messages << kWipe << progress_line("measuring", share, seconds) << std::flush;
  }

  Measurement record_of(const MeasureTask& task) const {
    Measurement record;
    record.device = facts_.device;
    record.op = task.op;
    record.dtype = task.dtype;
    record.shape = task.shape;
    record.states = task.states;
    record.provenance = {options_.source, facts_.machine, options_.date, facts_.software};
    return record;
  }

  // Runs the checks of a kernel the first time that it is asked for. Shapes that the machine has no
  // kernel for are passed over; Unavailable when that is all of them.
  bool is_right(const MeasureTask& task) {
    const std::string kernel = kernel_of(task);
    if (const auto known = right_.find(kernel); known != right_.end()) return known->second;
    bool any = false;
    bool checked = false;
    std::string missing;
    for (const MeasureTask& check : checks_) {
      if (kernel_of(check) != kernel) continue;
      any = true;
      try {
        const CheckOutcome outcome = machine_.check(check);
        checked = true;
        if (outcome.error <= 1) continue;  // false for NaN, too
        result_.wrong[kernel] = task_text(check) + ": " + outcome.detail;
        break;
      } catch (const Unavailable& reason) {
        missing = reason.what();
      }
    }
    FORETELL_CHECK(any, kernel + " has no check");
    if (!checked) throw Unavailable(missing);
    return right_[kernel] = result_.wrong.count(kernel) == 0;
  }

  void measure(const MeasureTask& task) {
    Measurement record = record_of(task);
    if (log_.has(measurement_key(record))) {
      ++result_.kept;
      return;
    }
    const std::string kernel = kernel_of(task);
    if (const auto gone = unavailable_.find(kernel); gone != unavailable_.end()) {
      ++result_.left_out[gone->second];
      return;
    }
    try {
      if (!is_right(task)) return;
    } catch (const Unavailable& reason) {
      unavailable_[kernel] = kernel + ": " + reason.what();
      ++result_.left_out[unavailable_[kernel]];
      return;
    }
    try {
      time(task, record);
    } catch (const Unavailable& reason) {
      ++result_.left_out[kernel + ": " + reason.what()];
      return;
    }
    log_.append(record);
    ++result_.measured;
    if (record.spread > options_.noisy) ++result_.noisy;
  }

  void time(const MeasureTask& task, Measurement& record) {
    for (int attempt = 1; attempt <= options_.attempts; ++attempt) {
      const TimedTask timed = machine_.time(task);
      const SampleSummary summary = summarise(timed.samples_us);
      if (attempt > 1 && summary.spread >= record.spread) continue;
      record.latency_us = summary.median;
      record.spread = summary.spread;
      record.repeats = summary.repeats;
      record.readings = timed.readings;
      if (summary.spread <= options_.noisy) return;
    }
  }

  MeasuredMachine& machine_;
  const std::vector<MeasureTask>& checks_;
  RecordLog& log_;
  const MeasureRunOptions& options_;
  MachineFacts facts_;
  MeasureRunResult result_;
  std::map<std::string, bool> right_;               // by kernel
  std::map<std::string, std::string> unavailable_;  // by kernel
};

}  // namespace

MeasureRunResult run_measurements(MeasuredMachine& machine, const std::vector<MeasureTask>& checks,
                                  const std::vector<MeasureTask>& tasks, RecordLog& log,
                                  const MeasureRunOptions& options) {
  return Run(machine, checks, log, options).run(tasks);
}

std::string result_text(const MeasureRunResult& result) {
  std::string text = std::to_string(result.measured) + " points measured";
  if (result.kept > 0) text += ", " + std::to_string(result.kept) + " were there already";
  if (result.noisy > 0) text += ", " + std::to_string(result.noisy) + " of them noisy";
  text += "\n";
  if (result.disagreeing > 0) {
    text += std::to_string(result.disagreeing) +
            " points took different times in every round; fits take the shortest\n";
  }
  for (const auto& [reason, count] : result.left_out) {
    text += "left out, " + std::to_string(count) + " points: " + reason + "\n";
  }
  for (const auto& [kernel, why] : result.wrong) {
    text += "not timed, its results are wrong: " + kernel + ": " + why + "\n";
  }
  return text;
}

}  // namespace foretell
