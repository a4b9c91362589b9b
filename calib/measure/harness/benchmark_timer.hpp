// Repeats of one timed piece of work through Google Benchmark.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace foretell {

struct RepeatOptions {
  int repeats = 15;
  double least_seconds = 2e-3;        // that the work of one repeat takes together
  std::function<void()> before_each;  // repeat, untimed; may be empty
};

// `work` does the work once and returns how long it took, in seconds, by its own clock. Returned is
// the mean over the calls of each repeat, in seconds. What `work` throws comes through.
std::vector<double> repeat_timed(const std::string& name, const std::function<double()>& work,
                                 const RepeatOptions& options);

}  // namespace foretell
