// How busy the processors are with other things than this program.
#pragma once

#include <optional>
#include <string>

namespace foretell {

// Processor time since the machine started, in ticks of the kernel.
struct ProcessorTimes {
  double busy = 0;  // of all processors, time that a hypervisor gave to others included
  double all = 0;
};

// From the first line of /proc/stat. UserError when it is no such line.
ProcessorTimes parse_processor_times(const std::string& stat);

// The share of all processors that others took between two readings, of which this program took
// `own` ticks itself. 0 … 1; the ticks are coarse, so short spans say little.
double foreign_share(const ProcessorTimes& before, const ProcessorTimes& after, double own);

// Watches the share of others while something is measured.
class LoadWatch {
 public:
  LoadWatch();
  // Since the construction.
  double foreign() const;
  double elapsed_ticks() const;

 private:
  ProcessorTimes before_;
  double own_before_;
};

// The clock of the core that calls, by a chain of additions of one cycle each; nothing where the
// instruction set is not known.
std::optional<double> measured_clock_mhz();

// "governor schedutil", or why there is none.
std::string frequency_governor();

// 1-minute load average by processor.
double load_average();

}  // namespace foretell
