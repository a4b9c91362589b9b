// Works through a list of tasks: checks an operator before it is timed, times, repeats what is
// noisy, writes one record each, and goes on where an earlier run stopped.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "calib/measure/harness/task.hpp"
#include "calib/measurements/record_log.hpp"

namespace foretell {

struct MeasureRunOptions {
  std::string source;   // of the provenance: "foretell calibrate measure --device cuda"
  std::string date;     // of the provenance
  double noisy = 0.05;  // spread above which a point is measured again
  int attempts = 3;     // of a noisy point; the one with the least spread is kept
  std::ostream* messages = nullptr;
  bool terminal = false;  // messages go to a terminal: a progress bar is welcome
  // Times that the whole plan is gone through: what disturbs a machine for seconds shows only in
  // measuring a point again much later. With several, each record has its state "round".
  int rounds = 1;
  int most_rounds = 1;      // of points whose two shortest rounds do not agree
  double agreement = 0.05;  // their ratio - 1 up to which they do
};

struct MeasureRunResult {
  std::size_t measured = 0;
  std::size_t kept = 0;                         // were in the file already
  std::size_t noisy = 0;                        // still so after all attempts
  std::size_t disagreeing = 0;                  // points whose rounds never agreed
  std::map<std::string, std::string> wrong;     // "gemm fp8" and why; none of these was timed
  std::map<std::string, std::size_t> left_out;  // reason and number of tasks
};

// `checks` are small tasks; an operator and type is timed only when all of its checks are right. A
// type without a check is an InternalError.
MeasureRunResult run_measurements(MeasuredMachine& machine, const std::vector<MeasureTask>& checks,
                                  const std::vector<MeasureTask>& tasks, RecordLog& log,
                                  const MeasureRunOptions& options);

// The summary for a person, at the end.
std::string result_text(const MeasureRunResult& result);

}  // namespace foretell
