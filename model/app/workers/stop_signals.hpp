// Ctrl-C and SIGTERM as a wish that long work looks for.
#pragma once

#include <array>
#include <csignal>

namespace foretell {

// While one exists, SIGINT and SIGTERM set a flag. The second one ends the process at once.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static int received();  // the signal; 0: none, or there is none of these

 private:
  static constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace foretell
