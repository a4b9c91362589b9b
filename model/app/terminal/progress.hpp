// A progress bar with the time that is left, on a terminal only.
#pragma once

#include <chrono>
#include <string>

#include "model/app/terminal/session.hpp"

namespace foretell {

class Progress {
 public:
  // Shows nothing where the session has no bars, or with -q.
  Progress(const Session& session, std::string label);
  ~Progress();  // wipes the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // What was done before: the time that is left is not judged by it.
  void begin_at(double fraction) { begun_at_ = fraction; }

  // 0…1; cheap, redraws at most ten times a second. `note` follows the bar.
  void update(double fraction, std::string_view note = "");

 private:
  using Clock = std::chrono::steady_clock;

  const Session& session_;
  std::string label_;
  Clock::time_point start_;
  Clock::time_point drawn_;
  double begun_at_ = 0;
  bool visible_ = false;
};

}  // namespace foretell
