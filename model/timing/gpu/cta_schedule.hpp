// How thread blocks fill the SMs of a GPU: each goes, in issue order, to the slot that is free
// first.
//
// Slots that become free together are one group, and equal thread blocks are one run, so a step
// places as many as the two have in common. When one group holds every slot, whole waves of a run
// pass in one step. The result is that of placing thread blocks one at a time, exactly: times are
// whole femtoseconds.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "model/base/units.hpp"
#include "model/program/grid.hpp"

namespace foretell {

class CtaSchedule {
 public:
  // `slots`: SMs x thread blocks per SM, at least 1. Counts are not negative, durations finite.
  // `runs` outlives the schedule.
  CtaSchedule(const std::vector<CtaRun>& runs, std::int64_t slots);

  bool all_issued() const { return run_ == runs_.size(); }
  // Issues the next thread blocks. Requires !all_issued().
  void step();

  std::int64_t makespan() const { return makespan_; }  // of what was issued, in femtoseconds
  // From then on, of what was issued, slots stay free: no thread block waits for them any more.
  std::int64_t drain() const { return drain_; }
  std::int64_t busy() const { return busy_; }  // slots x femtoseconds of work issued
  std::uint64_t steps() const { return steps_; }

 private:
  struct Group {
    std::int64_t time;
    std::int64_t slots;
    bool operator>(const Group& other) const { return time > other.time; }
  };

  void next_run();
  Group pop_earliest();

  const std::vector<CtaRun>& runs_;
  std::int64_t slots_;
  std::size_t run_ = 0;
  std::int64_t left_ = 0;      // of the current run
  std::int64_t duration_ = 0;  // of the current run
  std::priority_queue<Group, std::vector<Group>, std::greater<>> groups_;
  std::int64_t makespan_ = 0;
  std::int64_t busy_ = 0;
  std::int64_t drain_ = 0;
  std::uint64_t steps_ = 0;
};

// The time from the first thread block to the end of the last; zero without any.
Seconds cta_makespan(const std::vector<CtaRun>& runs, std::int64_t slots);

}  // namespace foretell
