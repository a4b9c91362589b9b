// What the commands share with the program around them. Commands return their exit code and throw
// for everything that is wrong; only the application prints errors.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/app/study/sweep/cluster.hpp"

namespace foretell {

// 0: good. Errors become 2 (the user's) and 3 (ours) in Application.
inline constexpr int kSuccess = 0;
inline constexpr int kOutsideTolerance = 1;  // or some rows of a batch failed
inline constexpr int kUserMistake = 2;
inline constexpr int kOurMistake = 3;

struct Session {
  Predictor predict;                 // foretell::predict, or a double in tests
  std::ostream* messages = nullptr;  // standard error
  std::ostream* bars = nullptr;      // a terminal that shows progress bars; null: none
  int result_width = 0;              // columns of the terminal that shows the result; 0: none
  bool quiet = false;                // -q
  bool verbose = false;              // -v
  // Joins the processes that a launcher such as mpirun started; empty when there are none.
  std::function<std::unique_ptr<Cluster>()> cluster;
  std::function<int()> action;  // what the command line asked for, set while parsing

  void say(std::string_view message) const;     // unless -q
  void detail(std::string_view message) const;  // only with -v
  // Every note of a result on a line of its own, only with -v: texts show those of a kind together.
  void list_notes(const std::vector<std::string>& notes) const;
};

}  // namespace foretell
