// The CPU that the program runs on, as a machine to measure.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "calib/measure/cpu/cpu_work.hpp"
#include "calib/measure/harness/task.hpp"

namespace foretell {

struct CpuMachineOptions {
  std::string device;  // of the records; "": by the name of the CPU
  int threads = 1;     // all that there are, pinned one to a core
  int repeats = 9;
  double most_foreign = 0.04;  // share of the processors that others may take during a point
  int patience = 20;           // times that a point is measured again under load before giving up
};

class CpuMachine : public MeasuredMachine {
 public:
  explicit CpuMachine(const CpuMachineOptions& options);

  MachineFacts facts() const override;
  CheckOutcome check(const MeasureTask& task) override;
  // UserError when the machine stays under load of others.
  TimedTask time(const MeasureTask& task) override;

 private:
  std::vector<double> samples(const MeasureTask& task, CpuWork& work);
  void sweep_caches();

  CpuMachineOptions options_;
  std::vector<char> sweep_;  // larger than all caches
};

// Physical cores that this process may run on, at least 1.
int usable_threads();

}  // namespace foretell
